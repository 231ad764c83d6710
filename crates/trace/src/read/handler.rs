//! Parses the extension handler's log: `time=… operation=enable … event=…` per line.

use super::RawSpan;
use super::timestamp::{self, Stamp};
use crate::model::timeline::{SpanKind, SpanSource};

/// Returns the span from the first to the last line of the handler's last `enable`.
pub(crate) fn read(text: &str) -> Vec<RawSpan> {
    let mut last: Option<(Stamp, Stamp, bool)> = None;
    for line in text.lines().filter(|line| field(line, "operation") == Some("enable")) {
        let when = field(line, "time").or_else(|| field(line, "ts"));
        let Some(at) = when.and_then(timestamp::read) else { continue };
        let failed = line.contains("failed to execute command");
        last = match last {
            Some((start, _, before)) if field(line, "event") != Some("start") => {
                Some((start, at, before || failed))
            }
            _ => Some((at, at, failed)),
        };
    }
    let name = "extension handler: enable";
    let one = |(start, end, failed)| RawSpan {
        end: Some(end),
        failed,
        ..RawSpan::new(name, SpanKind::Beside, start, SpanSource::Handler)
    };
    last.into_iter().map(one).collect()
}

/// Returns the value of `name=value` in a line, without quotes.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    line.split(' ')
        .find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
        .map(|value| value.trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_enable_counts() {
        let spans = read(
            "time=2026-11-15T02:00:00Z operation=install seq=0 event=start\n\
             time=2026-11-15T02:00:01Z version=v2.1.17 operation=enable seq=0 event=start\n\
             time=2026-11-15T02:00:05Z version=v2.1.17 operation=enable seq=0 event=\"failed to execute command\"\n\
             time=2026-11-15T02:00:06Z version=v2.1.17 operation=enable seq=0 event=\"status\"\n",
        );
        assert_eq!(spans.len(), 1);
        assert!(spans[0].failed);
        assert_eq!(spans[0].start, timestamp::read("2026-11-15T02:00:01Z").unwrap());
        assert_eq!(spans[0].end, timestamp::read("2026-11-15T02:00:06Z"));
        let spans = read(
            "time=2026-11-15T02:00:01Z operation=enable event=start\n\
             time=2026-11-15T02:00:05Z operation=enable event=\"failed to execute command\"\n\
             time=2026-11-15T02:10:01Z operation=enable event=start\n\
             time=2026-11-15T02:10:05Z operation=enable event=end\n",
        );
        assert_eq!(spans.len(), 1);
        assert!(!spans[0].failed);
        assert_eq!(spans[0].start, timestamp::read("2026-11-15T02:10:01Z").unwrap());
    }
}

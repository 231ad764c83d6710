//! Parses cloud-init's log: `… - handlers.py[DEBUG]: start: init-local: …` and `finish: init-local: SUCCESS: …`.

use super::timestamp;
use super::{MAX_SPANS, RawSpan};
use crate::escape::tidy;
use crate::model::timeline::{SpanKind, SpanSource};

/// Returns cloud-init's stages without their parts (`init-local/search-Azure`).
pub(crate) fn read(text: &str) -> Vec<RawSpan> {
    let mut spans: Vec<RawSpan> = Vec::new();
    for line in text.lines() {
        let Some((when, said)) = line.split_once(" - ") else { continue };
        let Some((_, said)) = said.split_once("]: ") else { continue };
        let Some((word, rest)) = said.split_once(": ") else { continue };
        let Some((stage, rest)) = rest.split_once(": ") else { continue };
        if !matches!(word, "start" | "finish") || stage.contains(['/', ' ']) {
            continue;
        }
        let Some(at) = timestamp::read(when) else { continue };
        let name = format!("cloud-init {}", tidy(stage, 40));
        if word == "start" && spans.len() < MAX_SPANS {
            spans.push(RawSpan::new(name, SpanKind::Boot, at, SpanSource::CloudInit));
        } else if let Some(open) =
            spans.iter_mut().rev().find(|one| one.name == name && one.end.is_none())
        {
            open.end = Some(at);
            open.failed = rest.starts_with("FAIL");
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_read_without_their_parts() {
        let spans = read(
            "2026-11-15 02:00:02,100 - handlers.py[DEBUG]: start: init-local: searching for local datasources\n\
             2026-11-15 02:00:02,200 - handlers.py[DEBUG]: start: init-local/search-Azure: searching\n\
             2026-11-15 02:00:03,900 - handlers.py[DEBUG]: finish: init-local: SUCCESS: searching for local datasources\n\
             2026-11-15 02:00:06,000 - handlers.py[DEBUG]: start: init-network: searching\n\
             2026-11-15 02:00:07,000 - handlers.py[DEBUG]: finish: init-network: FAIL: searching\n",
        );
        let seen: Vec<_> = spans.iter().map(|one| (one.name.as_str(), one.failed)).collect();
        assert_eq!(seen, [("cloud-init init-local", false), ("cloud-init init-network", true)]);
        assert!(spans.iter().all(|one| one.end.is_some()));
    }

    #[test]
    fn finish_ends_the_open_stage_of_its_name() {
        let line = |second: u32, said: &str| {
            format!("2026-11-15 02:00:{second:02},000 - handlers.py[DEBUG]: {said}\n")
        };
        let log = [
            line(1, "start: init: x"),
            line(2, "finish: init: SUCCESS: x"),
            line(3, "start: init: x"),
            line(4, "start: modules: x"),
            line(5, "finish: init: FAIL: x"),
            line(6, "finish: init: SUCCESS: x"),
        ];
        let spans = read(&log.concat());
        let at = |second: u32| timestamp::read(&format!("2026-11-15 02:00:{second:02}"));
        let seen: Vec<_> = spans.iter().map(|one| (&*one.name, one.end, one.failed)).collect();
        let expected = [
            ("cloud-init init", at(2), false),
            ("cloud-init init", at(5), true),
            ("cloud-init modules", None, false),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn number_of_stages_is_limited() {
        let start = "2026-11-15 02:00:02,100 - handlers.py[DEBUG]: start: init: x\n";
        assert_eq!(read(&start.repeat(MAX_SPANS + 1)).len(), MAX_SPANS);
    }
}

//! Seconds that each suite took in the last full run on this machine.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use crate::step::{Failed, root, write};

const FILE: &str = "target/test-durations.txt";

pub(super) type Durations = BTreeMap<String, f64>;

/// Empty on a new host.
pub(super) fn load() -> Durations {
    parse(&fs::read_to_string(root().join(FILE)).unwrap_or_default())
}

pub(super) fn store(durations: &Durations) -> Result<(), Failed> {
    write(&root().join(FILE), &text(durations))
}

fn parse(text: &str) -> Durations {
    let line = |line: &str| {
        let (seconds, name) = line.split_once(' ')?;
        let seconds: f64 = seconds.parse().ok()?;
        seconds.is_finite().then(|| (name.to_owned(), seconds))
    };
    text.lines().filter_map(line).collect()
}

fn text(durations: &Durations) -> String {
    let mut text = String::new();
    for (name, seconds) in durations {
        let _ = writeln!(text, "{seconds:.1} {name}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Durations, parse, text};

    #[test]
    fn durations_are_read_back_and_broken_lines_ignored() {
        let durations = Durations::from([("agent/it".into(), 12.5), ("doc-tests".into(), 3.0)]);
        assert_eq!(parse(&text(&durations)), durations);
        assert_eq!(parse("NaN agent/it\nsoon arm/it\n\n7\n"), Durations::new());
    }
}

//! Results of the mutants of a crate.

use std::fmt::Write as _;
use std::path::Path;

use crate::step::Failed;

/// Mutants of one crate by result.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct MutantOutcome {
    pub(super) name: &'static str,
    pub(super) caught: usize,
    pub(super) survived: Vec<String>,
    pub(super) unviable: usize,
    pub(super) timeout: usize,
}

impl MutantOutcome {
    /// Reads the lists that cargo-mutants writes.
    pub(super) fn read(name: &'static str, folder: &Path) -> Result<Self, Failed> {
        let list = |file: &str| -> Result<Vec<String>, Failed> {
            let text = std::fs::read_to_string(folder.join(file))
                .map_err(|error| Failed(format!("cannot read {file} of {name}: {error}")))?;
            Ok(text.lines().map(str::to_owned).collect())
        };
        Ok(Self {
            name,
            caught: list("caught.txt")?.len(),
            survived: list("missed.txt")?,
            unviable: list("unviable.txt")?.len(),
            timeout: list("timeout.txt")?.len(),
        })
    }
}

/// Formats a row per crate and, for several, their sum.
pub(super) fn table(outcomes: &[MutantOutcome]) -> String {
    let mut text = format!(
        "{:<12} {:>8} {:>8} {:>9} {:>9} {:>8}\n",
        "CRATE", "MUTANTS", "CAUGHT", "SURVIVED", "UNVIABLE", "TIMEOUT"
    );
    let mut sum = [0; 4];
    for outcome in outcomes {
        let counts = [outcome.caught, outcome.survived.len(), outcome.unviable, outcome.timeout];
        line(&mut text, outcome.name, counts);
        for (sum, count) in sum.iter_mut().zip(counts) {
            *sum += count;
        }
    }
    if outcomes.len() > 1 {
        line(&mut text, "all", sum);
    }
    text
}

fn line(text: &mut String, name: &str, counts: [usize; 4]) {
    let [caught, survived, unviable, timeout] = counts;
    let all: usize = counts.iter().sum();
    let _ =
        writeln!(text, "{name:<12} {all:>8} {caught:>8} {survived:>9} {unviable:>9} {timeout:>8}");
}

#[cfg(test)]
mod tests {
    use super::{MutantOutcome, table};

    #[test]
    fn table_has_a_row_per_crate_and_a_sum() {
        let arm = MutantOutcome {
            name: "arm",
            caught: 40,
            survived: vec!["x".to_owned()],
            unviable: 3,
            timeout: 1,
        };
        let trace = MutantOutcome { name: "trace", caught: 45, ..MutantOutcome::default() };
        let text = table(&[arm, trace]);
        let rows: Vec<Vec<&str>> =
            text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[1], ["arm", "45", "40", "1", "3", "1"]);
        assert_eq!(rows[2], ["trace", "45", "45", "0", "0", "0"]);
        assert_eq!(rows[3], ["all", "90", "85", "1", "3", "1"]);
    }
}

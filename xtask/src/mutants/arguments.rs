//! Arguments of the chore.

use super::crates;
use crate::step::Failed;

/// Arguments of the chore.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Arguments<'a> {
    pub(super) crates: Vec<&'a str>,
    /// The number of mutants per crate and the seed that chooses them; without it all mutants.
    pub(super) sample: Option<(usize, u64)>,
    /// Includes tests that are skipped otherwise because they take longer.
    pub(super) is_full: bool,
    pub(super) rest: Vec<&'a str>,
}

impl<'a> Arguments<'a> {
    pub(super) fn parse(words: &[&'a str]) -> Result<Self, Failed> {
        let (mut crates, mut rest, mut count, mut seed) = (Vec::new(), Vec::new(), None, None);
        let mut is_full = false;
        let mut words = words.iter().copied();
        while let Some(word) = words.next() {
            let mut value =
                || words.next().ok_or_else(|| Failed(format!("{word} requires a value")));
            match word {
                "--all" => crates.extend(crates::TABLE.iter().map(|tested| tested.name)),
                "--crate" => crates.push(value()?),
                "--full" => is_full = true,
                "--sample" => count = Some(number(word, value()?)?),
                "--seed" => seed = Some(number(word, value()?)?),
                other => rest.push(other),
            }
        }
        if crates.is_empty() {
            crates.push(crates::DEFAULT);
        }
        let sample = match (count, seed) {
            (None, Some(_)) => return Err(Failed("--seed requires --sample".to_owned())),
            (None, None) => None,
            (Some(count), seed) => Some((count, seed.unwrap_or(1))),
        };
        Ok(Self { crates, sample, is_full, rest })
    }
}

fn number<T: std::str::FromStr>(name: &str, value: &str) -> Result<T, Failed> {
    value.parse().map_err(|_| Failed(format!("{name}: `{value}` is not a number")))
}

#[cfg(test)]
mod tests {
    use super::Arguments;

    #[test]
    fn repair_is_examined_unless_crates_are_named() {
        let parsed = Arguments::parse(&["--iterate"]).unwrap();
        assert_eq!(
            parsed,
            Arguments {
                crates: vec!["repair"],
                sample: None,
                is_full: false,
                rest: vec!["--iterate"]
            }
        );
        let words = ["--crate", "arm", "--sample", "45", "--in-diff", "x", "--crate", "trace"];
        let parsed = Arguments::parse(&words).unwrap();
        assert_eq!((parsed.crates, parsed.sample), (vec!["arm", "trace"], Some((45, 1))));
        assert_eq!(parsed.rest, ["--in-diff", "x"]);
        assert!(Arguments::parse(&["--iterate", "--full"]).unwrap().is_full);
        let parsed = Arguments::parse(&["--all", "--sample", "5", "--seed", "7"]).unwrap();
        assert!(parsed.crates.len() > 7, "{:?}", parsed.crates);
        assert_eq!(parsed.sample, Some((5, 7)));
    }

    #[test]
    fn incomplete_arguments_are_refused() {
        for words in [&["--crate"][..], &["--sample", "x"], &["--seed", "1"]] {
            assert!(Arguments::parse(words).is_err(), "{words:?}");
        }
    }
}

//! `soak`: runs many more fault schedules of the repair than a test run.

use std::process::Command;

use crate::step::{Failed, print, root};

/// The test of `crates/repair/tests/it/crashes.rs` that runs the schedules.
const TEST: &str = "crashes::slow::faults_end_like_a_clean_run_or_need_an_operator";
const SEEDS: u64 = 1_000_000;
/// The test command uses smaller seeds.
const FIRST: u64 = 1_000_000;

/// Runs fault schedules of the repair, each replayable by its seed.
pub(crate) fn soak(words: &[&str]) -> Result<(), Failed> {
    let (seeds, first) = parse(words)?;
    print(&format!("xtask: {seeds} fault schedules of the repair from seed {first}\n"));
    let done = Command::new("cargo")
        .args(["test", "--locked", "-p", "mooring-repair", "--test", "it", TEST])
        // It takes an hour and prints its progress.
        .args(["--", "--exact", "--nocapture"])
        .env("MOORING_SCHEDULES", seeds.to_string())
        .env("MOORING_SEED", first.to_string())
        .current_dir(root())
        .status()?;
    if done.success() {
        return Ok(());
    }
    Err(Failed("a schedule failed; its line above replays it:\nhint: MOORING_SEED=… MOORING_SCHEDULES=1 cargo test -p mooring-repair --test it slow::faults".to_owned()))
}

fn parse(words: &[&str]) -> Result<(u64, u64), Failed> {
    let (mut seeds, mut first) = (SEEDS, FIRST);
    for pair in words.chunks(2) {
        let number = pair.get(1).and_then(|number| number.parse::<u64>().ok());
        match (pair[0], number) {
            ("--seeds", Some(number)) if number > 0 => seeds = number,
            ("--first", Some(number)) => first = number,
            _ => return Err(Failed("soak [--seeds N] [--first SEED]".to_owned())),
        }
    }
    Ok((seeds, first))
}

#[cfg(test)]
mod tests {
    use super::{FIRST, SEEDS, TEST, parse};
    use crate::step::root;

    /// Without it, the command would run nothing and succeed.
    #[test]
    fn soaked_test_exists() {
        let file = root().join("crates/repair/tests/it/crashes.rs");
        let source = std::fs::read_to_string(file).unwrap();
        let (_, slow) = source.split_once("\nmod slow {").unwrap();
        let test = TEST.strip_prefix("crashes::slow::").unwrap();
        assert!(slow.contains(&format!("#[test]\n    fn {test}()")));
    }

    #[test]
    fn soak_defaults_to_a_million_schedules() {
        assert_eq!(parse(&[]).unwrap(), (SEEDS, FIRST));
        assert_eq!(parse(&["--seeds", "7", "--first", "3"]).unwrap(), (7, 3));
        for wrong in [&["--seeds"][..], &["--seeds", "0"], &["--seeds", "x"], &["7"]] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}

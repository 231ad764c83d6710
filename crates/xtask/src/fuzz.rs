//! `fuzz`: coverage-guided fuzzing, with the diagnosis' corpus as seeds.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::step::{Failed, root, run, say};

/// What can be fuzzed: the files of `fuzz/fuzz_targets`.
const TARGETS: [&str; 3] = ["decode", "diagnose", "cse_status"];

/// Inputs for each target, unless others are asked for: a minute or so.
const RUNS: &str = "1000000";

/// Runs the targets that are named, or all.
pub(crate) fn fuzz(words: &[&str]) -> Result<(), Failed> {
    let (targets, runs) = parse(words)?;
    need_tools()?;
    let seeds = seeds()?;
    for target in targets {
        say(&format!("xtask: {runs} inputs for {target}\n"));
        let (runs, dictionary) = (format!("-runs={runs}"), "-dict=fuzz/words.dict");
        // No sanitizer, since nothing of ours is unsafe; a dictionary in place of traced comparisons,
        // and no counting of how often an edge is taken: each would take most of the time.
        run(
            "cargo",
            &[
                "+nightly",
                "fuzz",
                "run",
                "--sanitizer",
                "none",
                "--no-trace-compares",
                target,
                &format!("fuzz/corpus/{target}"),
                &seeds,
                "--",
                &runs,
                dictionary,
                "-max_len=512",
                "-use_counters=0",
                "-print_final_stats=1",
            ],
        )?;
    }
    Ok(())
}

/// The targets and the number of inputs.
fn parse<'a>(words: &[&'a str]) -> Result<(Vec<&'a str>, &'a str), Failed> {
    let known = || TARGETS.join(", ");
    let (mut targets, mut runs) = (Vec::new(), RUNS);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "--runs" => match words.next() {
                Some(number) if number.parse::<u64>().is_ok() => runs = number,
                _ => return Err(Failed("--runs wants a number of inputs".to_owned())),
            },
            target if TARGETS.contains(&target) => targets.push(target),
            other => {
                return Err(Failed(format!(
                    "nothing to fuzz is called `{other}`\nhint: {}",
                    known()
                )));
            }
        }
    }
    if targets.is_empty() {
        targets.extend(TARGETS);
    }
    Ok((targets, runs))
}

fn need_tools() -> Result<(), Failed> {
    let works = |words: &[&str]| {
        Command::new("cargo").args(words).output().is_ok_and(|output| output.status.success())
    };
    if !works(&["+nightly", "--version"]) {
        return Err(Failed(
            "fuzzing needs a nightly compiler: `rustup toolchain install nightly`".to_owned(),
        ));
    }
    if !works(&["+nightly", "fuzz", "--version"]) {
        return Err(Failed("fuzzing needs cargo-fuzz: `cargo install cargo-fuzz`".to_owned()));
    }
    Ok(())
}

/// The corpus in one folder, as the fuzzer wants it, and a folder for what each target finds.
fn seeds() -> Result<String, Failed> {
    let seeds = PathBuf::from("fuzz/corpus/seeds");
    fs::create_dir_all(root().join(&seeds))?;
    for target in TARGETS {
        fs::create_dir_all(root().join("fuzz/corpus").join(target))?;
    }
    for case in fs::read_dir(root().join("crates/diagnosis/tests/corpus"))? {
        let case = case?.path();
        let input = case.join("input.txt");
        if let Some(name) = case.file_name().filter(|_| input.is_file()) {
            copy(&input, &root().join(&seeds), name)?;
        }
    }
    Ok(seeds.display().to_string())
}

fn copy(input: &Path, folder: &Path, name: &OsStr) -> Result<(), Failed> {
    fs::copy(input, folder.join(name))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{RUNS, TARGETS, parse};

    #[test]
    fn all_targets_are_run_unless_some_are_named() {
        assert_eq!(parse(&[]).unwrap(), (TARGETS.to_vec(), RUNS));
        assert_eq!(parse(&["decode", "--runs", "7"]).unwrap(), (vec!["decode"], "7"));
        assert!(parse(&["deocde"]).unwrap_err().0.contains("decode, diagnose, cse_status"));
        assert!(parse(&["--runs", "many"]).is_err());
    }
}

//! `fuzz`: coverage-guided fuzzing with our seeds.
//!
//! The targets have the layout of cargo-fuzz, but this command needs neither cargo-fuzz nor a nightly compiler:
//! coverage only needs flags of the stable compiler, and no sanitizer is used, since the workspace has no unsafe code.

#[path = "../../crates/diagnosis/tests/corpus/reader.rs"]
mod reader;

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::step::{Failed, command, print, root, run};

/// A file of `fuzz/fuzz_targets`.
#[derive(Debug, PartialEq, Eq)]
struct Target {
    name: &'static str,
    seeds: Seeds,
    dictionary: &'static str,
    /// Maximum input length in bytes.
    max_len: u32,
}

/// The source of a target's first inputs.
#[derive(Debug, PartialEq, Eq)]
enum Seeds {
    /// The texts of the diagnosis' corpus.
    Diagnosis,
    /// The directory of the target's name in `fuzz/seeds`.
    Own,
}

const fn diagnosis(name: &'static str) -> Target {
    Target { name, seeds: Seeds::Diagnosis, dictionary: "fuzz/words.dict", max_len: 512 }
}

const fn format(name: &'static str, max_len: u32) -> Target {
    Target { name, seeds: Seeds::Own, dictionary: "fuzz/formats.dict", max_len }
}

const TARGETS: [Target; 14] = [
    diagnosis("decode"),
    diagnosis("diagnose"),
    diagnosis("cse_status"),
    format("archive", 1024),
    format("hotfix_call", 512),
    format("hotfix_headers", 256),
    format("hotfix_pointer", 512),
    format("hotfix_write_files", 1024),
    format("http_response", 512),
    format("journal", 4096),
    format("nbc", 512),
    format("node_config", 1024),
    format("operation", 512),
    format("resource_id", 512),
];

/// Default number of inputs per target.
const RUNS: &str = "1000000";

/// The flags with which cargo-fuzz would count edges, without a sanitizer. Comparisons are not traced and edges not
/// counted, which would take most of the time: the dictionaries do the same.
const COVERAGE: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table -Ccodegen-units=16";

/// Runs the given targets, or all.
pub(crate) fn fuzz(words: &[&str]) -> Result<(), Failed> {
    let (targets, runs) = parse(words)?;
    let binaries = build(&targets)?;
    for target in targets {
        let name = target.name;
        print(&format!("xtask: {runs} inputs for {name}\n"));
        let seeds = seeds(target)?;
        let found = root().join("fuzz/corpus").join(name);
        fs::create_dir_all(&found)?;
        fs::create_dir_all(root().join("fuzz/artifacts").join(name))?;
        run(
            &binaries.join(name).display().to_string(),
            &[
                &format!("fuzz/corpus/{name}"),
                &seeds,
                &format!("-runs={runs}"),
                &format!("-dict={}", target.dictionary),
                &format!("-max_len={}", target.max_len),
                &format!("-artifact_prefix=fuzz/artifacts/{name}/"),
                "-rss_limit_mb=2048",
                "-timeout=10",
                "-use_counters=0",
                "-print_final_stats=1",
            ],
        )?;
    }
    Ok(())
}

/// Builds the targets with coverage, and returns the directory of their binaries.
fn build(targets: &[&Target]) -> Result<PathBuf, Failed> {
    let host = host()?;
    let mut cargo = command("cargo");
    // With an explicit target, build scripts and macros are built without coverage.
    cargo.args(["build", "--release", "--locked", "--manifest-path", "fuzz/Cargo.toml"]);
    cargo.args(["--target-dir", "fuzz/target", "--target", &host]).env("RUSTFLAGS", COVERAGE);
    for target in targets {
        cargo.args(["--bin", target.name]);
    }
    if cargo.status()?.success() {
        Ok(root().join("fuzz/target").join(host).join("release"))
    } else {
        Err(Failed("cannot build the fuzz targets".to_owned()))
    }
}

/// The compiler's host triple.
fn host() -> Result<String, Failed> {
    let output = Command::new("rustc").arg("-vV").output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| Failed("`rustc -vV` prints no host".to_owned()))
}

/// Parses the targets and the number of inputs.
fn parse<'a>(words: &[&'a str]) -> Result<(Vec<&'static Target>, &'a str), Failed> {
    let (mut targets, mut runs) = (Vec::new(), RUNS);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if *word == "--runs" {
            match words.next() {
                Some(number) if number.parse::<u64>().is_ok() => runs = number,
                _ => return Err(Failed("--runs requires a number of inputs".to_owned())),
            }
        } else if let Some(target) = TARGETS.iter().find(|target| target.name == *word) {
            targets.push(target);
        } else {
            let known: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            let known = known.join(", ");
            return Err(Failed(format!("no fuzz target is called `{word}`\nhint: {known}")));
        }
    }
    if targets.is_empty() {
        targets.extend(&TARGETS);
    }
    Ok((targets, runs))
}

/// The directory of a target's seeds.
#[expect(clippy::disallowed_methods, reason = "nobody reads these files while they are written")]
fn seeds(target: &Target) -> Result<String, Failed> {
    if target.seeds == Seeds::Own {
        return Ok(format!("fuzz/seeds/{}", target.name));
    }
    let seeds = Path::new("fuzz/corpus/seeds");
    fs::create_dir_all(root().join(seeds))?;
    for case in reader::read(&root().join("crates/diagnosis/tests/corpus"))? {
        File::create(root().join(seeds).join(case.name))?.write_all(&case.text)?;
    }
    Ok(seeds.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::{RUNS, Seeds, TARGETS, parse};
    use crate::step::root;

    #[test]
    fn all_targets_are_run_unless_some_are_named() {
        assert_eq!(parse(&[]).unwrap(), (TARGETS.iter().collect(), RUNS));
        let (targets, runs) = parse(&["decode", "--runs", "7"]).unwrap();
        assert_eq!((targets[0].name, targets.len(), runs), ("decode", 1, "7"));
        assert!(parse(&["deocde"]).unwrap_err().0.contains("decode, diagnose, cse_status"));
        assert!(parse(&["--runs", "many"]).is_err());
    }

    #[test]
    fn fuzz_targets_have_file_binary_seeds_and_dictionary() {
        let fuzz = root().join("fuzz");
        let manifest = std::fs::read_to_string(fuzz.join("Cargo.toml")).unwrap();
        for target in &TARGETS {
            let name = target.name;
            assert!(fuzz.join(format!("fuzz_targets/{name}.rs")).is_file(), "{name}");
            assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
            assert!(root().join(target.dictionary).is_file(), "{name}");
            let seeds = fuzz.join("seeds").join(name);
            assert!(target.seeds != Seeds::Own || seeds.read_dir().unwrap().count() > 2, "{name}");
        }
        let files = fuzz.join("fuzz_targets").read_dir().unwrap().count();
        assert_eq!(files, TARGETS.len(), "a file that is no target");
    }
}

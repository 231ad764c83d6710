//! Files of a crate to mutate, and the tests that must detect the changes.

use crate::step::Failed;

/// A crate to mutate. `.cargo/mutants.toml` lists excluded changes with reasons.
pub(super) struct Tested {
    pub(super) name: &'static str,
    pub(super) files: &'static [&'static str],
    /// Tests that take seconds, since they run once for every change.
    pub(super) tests: &'static [&'static str],
    /// Tests of these that only `--full` runs, because they take longer: parts of their names.
    pub(super) skipped: &'static [&'static str],
}

/// The crate that is examined if none is named.
pub(super) const DEFAULT: &str = "repair";

pub(super) const TABLE: [Tested; 19] = [
    Tested {
        name: "agent",
        files: &["crates/agent/src/**"],
        tests: &[
            "--lib",
            "--test=cli",
            "--test=command",
            "--test=compare",
            "--test=golden",
            "--test=nbc",
            "--test=node",
            "--test=panic",
            "--test=invariants",
        ],
        skipped: &["bootstrap::", "canary::", "faults::", "launcher::", "processes::", "reboots::"],
    },
    Tested {
        name: "arm",
        files: &["crates/arm/src/**"],
        tests: &["--tests"],
        skipped: &["schedules::"],
    },
    Tested { name: "codes", files: &["crates/codes/src/**"], tests: &["--tests"], skipped: &[] },
    Tested {
        name: "contract",
        files: &["crates/contract/src/**"],
        tests: &["--tests"],
        skipped: &[],
    },
    Tested {
        name: "controller",
        files: &["crates/controller/src/**"],
        tests: &["--tests"],
        skipped: &["scale::", "run::crashes::", "run::real::", "run::failures::", "run::forged::"],
    },
    Tested { name: "demo", files: &["crates/demo/src/**"], tests: &["--lib"], skipped: &[] },
    Tested {
        name: "diagnosis",
        files: &["crates/diagnosis/src/**"],
        tests: &["--tests"],
        skipped: &["hostile_megabytes_end", "in_a_long_text"],
    },
    Tested {
        name: "finalizers",
        files: &["crates/finalizers/src/**"],
        tests: &["--tests"],
        skipped: &["on_a_real_server", "forged_journal_never_adds_targets", "need_few_lists"],
    },
    Tested {
        name: "inventory",
        files: &["crates/inventory/src/**"],
        tests: &["--tests"],
        skipped: &[],
    },
    Tested { name: "kube", files: &["crates/kube/src/**"], tests: &["--lib"], skipped: &[] },
    Tested {
        name: "mooring",
        files: &["crates/mooring/src/**"],
        tests: &["--tests"],
        skipped: &[
            "chart::",
            "demo::",
            "documents::",
            "pages::",
            "repair_permissions::",
            "archive_bombs",
            "large_log",
            "pipeline_reports_an_unfinished",
            "killed_at_random",
            "second_signal",
            "signal_stops",
        ],
    },
    Tested { name: "page", files: &["crates/page/src/**"], tests: &["--lib"], skipped: &[] },
    Tested {
        name: "redact",
        files: &["crates/redact/src/**"],
        tests: &["--tests", "--features=json"],
        skipped: &[],
    },
    Tested {
        name: "repair",
        files: &[
            "crates/repair/src/checks/**",
            "crates/repair/src/operation.rs",
            "crates/repair/src/start/history.rs",
            "crates/repair/src/workflow/mod.rs",
            "crates/repair/src/pool/**",
            "crates/repair/src/observation/error_codes.rs",
        ],
        tests: &[
            "--lib",
            "--test=guards",
            "--test=bodies",
            "--test=journal",
            "--test=operations",
            "--test=pool_kinds",
            "--test=storms",
            "--test=steps",
        ],
        skipped: &[],
    },
    Tested {
        name: "simulator",
        files: &["crates/simulator/src/**"],
        tests: &["--lib", "--test=azure", "--test=live_patching", "--test=world"],
        skipped: &[],
    },
    Tested {
        name: "terminal",
        files: &["crates/terminal/src/**"],
        tests: &["--tests"],
        skipped: &[],
    },
    Tested {
        name: "testbed",
        files: &["crates/testbed/src/**"],
        tests: &["--tests"],
        skipped: &[],
    },
    Tested { name: "trace", files: &["crates/trace/src/**"], tests: &["--tests"], skipped: &[] },
    Tested {
        name: "workflow",
        files: &["crates/workflow/src/**"],
        tests: &["--tests"],
        skipped: &[],
    },
];

/// Returns the rows of these crates, each once.
pub(super) fn select(names: &[&str]) -> Result<Vec<&'static Tested>, Failed> {
    if let Some(unknown) = names.iter().find(|name| TABLE.iter().all(|row| row.name != **name)) {
        let known: Vec<_> = TABLE.iter().map(|row| row.name).collect();
        return Err(Failed(format!("unknown crate `{unknown}`\nhint: {}", known.join(", "))));
    }
    Ok(TABLE.iter().filter(|row| names.contains(&row.name)).collect())
}

#[cfg(test)]
mod tests {
    use super::{TABLE, select};
    use crate::step::root;

    #[test]
    fn rows_are_in_order_and_unknown_crates_are_refused() {
        let names = |words: &[&str]| -> Vec<&str> {
            select(words).unwrap().iter().map(|row| row.name).collect()
        };
        assert_eq!(names(&["trace", "arm", "arm"]), ["arm", "trace"]);
        assert!(select(&["arms"]).is_err_and(|error| error.0.contains("arms")));
    }

    #[test]
    fn mutant_crates_and_their_tests_exist() {
        let mut folders: Vec<String> = std::fs::read_dir(root().join("crates"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "xtask")
            .collect();
        folders.sort();
        assert_eq!(TABLE.map(|row| row.name).to_vec(), folders);
        for row in &TABLE {
            for file in row.files {
                let path = root().join(file.trim_end_matches("/**"));
                assert!(path.exists(), "{}: {file}", row.name);
            }
            let tests = root().join("crates").join(row.name).join("tests");
            for test in row.tests.iter().filter_map(|test| test.strip_prefix("--test=")) {
                let there = tests.join(format!("{test}.rs")).exists()
                    || tests.join(test).join("main.rs").exists();
                assert!(there, "{}: {test}", row.name);
            }
        }
    }
}

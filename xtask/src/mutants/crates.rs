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
    /// Tests that no change may run: parts of their names.
    pub(super) never: &'static [&'static str],
    /// Test binaries that only `--full` runs.
    pub(super) slow: &'static [&'static str],
}

/// The crate that is examined if none is named.
pub(super) const DEFAULT: &str = "repair";

/// What most rows have.
const ROW: Tested =
    Tested { name: "", files: &[], tests: &["--tests"], skipped: &[], never: &[], slow: &[] };

pub(super) const TABLE: [Tested; 21] = [
    Tested {
        name: "agent",
        files: &["crates/agent/src/**"],
        tests: &["--lib", "--test=it"],
        skipped: &["launcher::", "memory_does_not_grow", "record_of_another_boot"],
        // A change of what belongs to the scripts could signal other processes of the host.
        never: &[
            "a_signal_reaches",
            "processes_that_ignore",
            "sentinel_that_stopped",
            "stop_in_the_middle",
            "stop_reaches_every",
            "stopped_scripts_with",
            "when_the_run_is_stopped",
        ],
        ..ROW
    },
    Tested { name: "arm", files: &["crates/arm/src/**"], skipped: &["schedules::"], ..ROW },
    Tested { name: "catalog", files: &["crates/catalog/src/**"], ..ROW },
    Tested { name: "codes", files: &["crates/codes/src/**"], ..ROW },
    Tested { name: "contract", files: &["crates/contract/src/**"], ..ROW },
    Tested {
        name: "controller",
        files: &["crates/controller/src/**"],
        skipped: &["scale::", "run::crashes::", "run::real::", "run::failures::", "run::forged::"],
        ..ROW
    },
    Tested { name: "demo", files: &["lab/demo/src/**"], tests: &["--lib"], ..ROW },
    Tested {
        name: "diagnosis",
        files: &["crates/diagnosis/src/**"],
        skipped: &["hostile_megabytes", "in_a_long_text", "message_at_a_border"],
        ..ROW
    },
    Tested {
        name: "finalizers",
        files: &["crates/finalizers/src/**"],
        skipped: &["on_a_real_server", "forged_journal_never_adds_targets", "need_few_lists"],
        ..ROW
    },
    Tested { name: "k8s", files: &["crates/k8s/src/**"], tests: &["--lib"], ..ROW },
    Tested {
        name: "mooring",
        files: &["crates/mooring/src/**"],
        tests: &["--lib", "--test=it"],
        skipped: &[
            "archive_bombs",
            "bundle_without_azure",
            "hanging_sign_in",
            "large_log",
            "larger_than_256_mib",
            "reads_of_workflows_end",
            "runs_of_the_page",
            "silent_",
        ],
        slow: &["--test=e2e"],
        ..ROW
    },
    Tested { name: "mooring-lab", files: &["lab/mooring-lab/src/**"], ..ROW },
    Tested { name: "nodes", files: &["crates/nodes/src/**"], ..ROW },
    Tested { name: "page", files: &["crates/page/src/**"], tests: &["--lib"], ..ROW },
    Tested {
        name: "redact",
        files: &["crates/redact/src/**"],
        tests: &["--tests", "--features=json"],
        ..ROW
    },
    Tested {
        name: "repair",
        files: &[
            "crates/repair/src/checks/**",
            "crates/repair/src/operation.rs",
            "crates/repair/src/start/history.rs",
            "crates/repair/src/workflow/pool_repair.rs",
            "crates/repair/src/pool/**",
            "crates/repair/src/observation/error_codes.rs",
        ],
        skipped: &["crashes::", "forgery::", "simulator::"],
        ..ROW
    },
    Tested {
        name: "simulator",
        files: &["lab/simulator/src/**"],
        tests: &["--lib", "--test=it"],
        ..ROW
    },
    Tested { name: "terminal", files: &["crates/terminal/src/**"], ..ROW },
    Tested { name: "testbed", files: &["lab/testbed/src/**"], ..ROW },
    Tested { name: "trace", files: &["crates/trace/src/**"], ..ROW },
    Tested { name: "workflow", files: &["crates/workflow/src/**"], ..ROW },
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
        let list = |name: &str| std::fs::read_dir(root().join(name)).unwrap();
        let mut folders: Vec<String> = list("crates")
            .chain(list("lab"))
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        folders.sort();
        assert_eq!(TABLE.map(|row| row.name).to_vec(), folders);
        for row in &TABLE {
            for file in row.files {
                let path = root().join(file.trim_end_matches("/**"));
                assert!(path.exists(), "{}: {file}", row.name);
            }
            let home = row.files[0].split("/src").next().unwrap();
            let tests = root().join(home).join("tests");
            let targets = row.tests.iter().chain(row.slow);
            for test in targets.filter_map(|test| test.strip_prefix("--test=")) {
                let there = tests.join(format!("{test}.rs")).exists()
                    || tests.join(test).join("main.rs").exists();
                assert!(there, "{}: {test}", row.name);
            }
        }
    }
}

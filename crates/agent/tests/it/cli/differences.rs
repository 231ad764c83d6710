//! Intended differences from the upstream Go agent; see `docs/DIFFERENCES.md`.

use super::recorded::{File, Recorded};

const REPORT: &str = "/var/log/azure/aks/provision.json";
const LOG: &str = "/var/log/azure/aks-node-controller.log";
const SENTINEL: &str = "/opt/azure/containers/provision.complete";
const HINT: &str = "hint: `aks-node-controller help` lists the commands";

/// Changes a recorded case into what is expected of our agent.
pub(crate) fn apply(case: &mut Recorded) {
    let usage_error = case.stderr.first().is_some_and(|line| line.starts_with("Incorrect Usage: "));
    let provisions = case.args.first().is_some_and(|word| word == "provision");
    let starts_nothing = case.args.iter().any(|word| word.contains("help") || word == "--dry-run");

    // A running `provision` records its process.
    if provisions && !usage_error && !starts_nothing {
        for file in ["provision.json", "provision.lock"] {
            case.other_files.push(format!("/run/aks-node-controller/{file}"));
        }
    }
    // The log holds what scripts print, so others may not read it.
    if let Some(log) = case.files_after.get_mut(LOG) {
        "640".clone_into(&mut log.mode);
    }
    // A `provision` with a usage error writes a result, since a wait may need it.
    if provisions && usage_error {
        leave_result(case, &case.stderr[0].clone());
    }
    match case.name.as_str() {
        // Usage errors have messages.
        "no-args" => case.stderr = lines(&["missing command", HINT]),
        "unknown" => case.stderr = lines(&["unknown command `unknown`", HINT]),
        "help-nosuch" => case.stderr = lines(&["no help for `nosuch`", HINT]),
        // The help is our own; it names every command.
        "root-bad-flag" | "help" | "help-cmd" => {
            let words = [
                "provision",
                "provision-wait",
                "version",
                "download-hotfix",
                "check-hotfix",
                "help, h",
            ];
            case.stdout_contains = lines(&words);
            case.stdout_contains.push(mooring_agent::VERSION.to_owned());
        }
        "help-provision" | "provision-help" => {
            case.stdout_contains =
                lines(&["--provision-config", "--nbc-cmd", "--dry-run", "--help"]);
        }
        // Missing directories are created, so the sentinel is written without an error.
        "provision-missing-flags-no-opt-dir" => {
            case.files_after.insert(SENTINEL.to_owned(), private(""));
            forget_log_line(case, "failed to write provision.complete file");
        }
        // A report without a sentinel is of an older attempt and is replaced.
        "provision-rc50-existing-json" => {
            let old = case.files_after.remove(REPORT).unwrap();
            case.files_after.insert(format!("{REPORT}.previous"), old);
            let new =
                r#"{"ExitCode":"50","Error":"exit status 50","Output":"out line\n\nerr line\n"}"#;
            case.files_after.insert(REPORT.to_owned(), private(new));
        }
        // A malformed config stops at once with the position of the error.
        "provision-empty-config" => {
            refuse_config(case, "malformed JSON: unexpected end of text (line 1, column 1)");
        }
        "provision-syntax-error-before-version" => {
            refuse_config(case, "vm_size: expected a string, found a number (line 1, column 12)");
        }
        "provision-syntax-error-after-version" => {
            refuse_config(
                case,
                "malformed JSON: expected a member's name in quotes (line 1, column 18)",
            );
        }
        // The report's code is the exit code.
        "wait-rc7" | "wait-lowercase-key" => case.exit_code = "7".into(),
        "wait-plus" => case.exit_code = "5".into(),
        _ => {}
    }
}

/// The result of a `provision` that never started anything.
fn leave_result(case: &mut Recorded, error: &str) {
    let error = error.replace('"', "\\\"");
    let report = format!(r#"{{"ExitCode":"240","Error":"{error}","Output":""}}"#);
    case.files_after.insert(REPORT.to_owned(), private(&report));
    case.files_after.insert(SENTINEL.to_owned(), private(""));
}

/// Everything that is recorded of a refused config is replaced by a refusal with a reason.
fn refuse_config(case: &mut Recorded, reason: &str) {
    let error = format!("parse provision file /run/anc-w/c.json: {reason}");
    let record =
        |level: &str, rest: &str| format!(r#"{{"time":"<TIME>","level":"{level}","msg":{rest}}}"#);
    case.exit_code = "1".into();
    case.stdout.clear();
    case.stderr = vec![
        record("INFO", r#""aks-node-controller started","task":"Provision""#),
        record("ERROR", &format!(r#""aks-node-controller failed","error":"{error}""#)),
    ];
    let log = case.files_after.get_mut(LOG).unwrap();
    log.content = case.stderr.join("\n") + "\n";
    case.files_after.remove("/var/log/azure/cluster-provision-cse-output.log");
    leave_result(case, &error);
    let last = case.events.last_mut().unwrap();
    last["EventLevel"] = "Error".into();
    last["Message"] =
        format!("aks-node-controller exited with error {error} | startTime= endTime= durationMs=")
            .into();
}

fn forget_log_line(case: &mut Recorded, part: &str) {
    let count = case.stderr.len();
    case.stderr.retain(|line| !line.contains(part));
    assert_eq!(case.stderr.len(), count - 1, "`{part}` was recorded once");
    let log = case.files_after.get_mut(LOG).unwrap();
    log.content = case.stderr.join("\n") + "\n";
}

fn private(content: &str) -> File {
    File { mode: "600".to_owned(), content: content.to_owned() }
}

fn lines(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

//! Runs scripts on a node with an Azure Run Command, to read its files.

use jiff::{SignedDuration, Timestamp};
use mooring_arm::calls::{InstanceView, Script, ScriptOutput, Vm, VmStatus};
use mooring_arm::{Client, Error, ErrorKind, OperationOutcome, ResourceId, Started};
use mooring_diagnosis::{Diagnosis, Hints, Origin, diagnose};
use mooring_nodes::text::safe_tail;
use serde_json::Value;

use super::{NodeQuery, QueryError};

const COMMAND_TIMEOUT: SignedDuration = SignedDuration::from_mins(3);

const MAX_ERROR_BYTES: usize = 300;

/// Prints the end of the bootstrap report and then its exit code, or nothing without a report; first
/// the same for an earlier attempt, if its report was kept. Azure returns the last 4,096 bytes, and the
/// report begins with the exit code, which would be cut off if the report were printed whole.
const READ_REPORT: [&str; 6] = [
    "f=/var/log/azure/aks/provision.json",
    "[ -r \"$f\" ] || [ -r \"$f.previous\" ] || exit 0",
    "if [ -r \"$f.previous\" ]; then tail -c 1000 \"$f.previous\"; echo; grep -o '\"ExitCode\": *\"[^\"]*\"' \"$f.previous\" | head -n 1; echo '--- this attempt'; fi",
    "if [ -r \"$f.previous\" ]; then tail -c 2700 \"$f\"; else tail -c 3900 \"$f\"; fi",
    "echo",
    "grep -o '\"ExitCode\": *\"[^\"]*\"' \"$f\" | head -n 1",
];

/// Separates the reports of the earlier and the latest attempt.
const THIS_ATTEMPT: &str = "\n--- this attempt\n";

/// A report on a node; its text is empty if it is missing.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Report {
    pub(super) text: String,
    pub(super) origin: Origin,
}

impl Report {
    /// Reads a report and its exit code, which a text whose start is cut off has no longer.
    fn read(printed: &str) -> Self {
        let printed = printed.trim_end();
        let (text, exit_code) = match printed.rsplit_once('\n') {
            Some((text, last)) => (text.trim(), exit_code(last)),
            None => (printed, None),
        };
        let is_whole = || serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object());
        match exit_code {
            None => Self { text: printed.to_owned(), origin: Origin::Unknown },
            Some(_) if is_whole() => Self { text: text.to_owned(), origin: Origin::Unknown },
            Some(exit_code) => Self { text: text.to_owned(), origin: Origin::Report { exit_code } },
        }
    }

    pub(super) fn diagnose(&self, hints: Hints) -> Option<Diagnosis> {
        let hints = Hints { origin: self.origin, ..hints };
        diagnose(self.text.as_bytes(), hints).into_iter().next()
    }
}

fn reports(printed: &str) -> [Report; 2] {
    let (earlier, latest) = printed.split_once(THIS_ATTEMPT).unwrap_or(("", printed));
    [earlier, latest].map(Report::read)
}

impl NodeQuery {
    /// Returns the reports of the earlier and the latest attempt.
    pub(super) async fn read_reports(
        &self,
        vm: &ResourceId,
        node: &str,
    ) -> Result<[Report; 2], QueryError> {
        let shell = NodeShell { arm: &self.arm, vm, node, progress: self.progress };
        shell.check_agent().await?;
        (self.progress)(&format!(
            "reading the report on {node} with Run Command; this takes up to {}m",
            COMMAND_TIMEOUT.as_mins()
        ));
        Ok(reports(&shell.run(&READ_REPORT, self.now).await?))
    }
}

/// A VM on which scripts are run.
pub struct NodeShell<'a> {
    pub arm: &'a Client,
    pub vm: &'a ResourceId,
    pub node: &'a str,
    pub progress: fn(&str),
}

impl NodeShell<'_> {
    /// Returns the end of what a script prints: at most 4,096 bytes. Call [`Self::check_agent`] first.
    pub async fn run(&self, lines: &[&str], now: Timestamp) -> Result<String, QueryError> {
        let node = self.node;
        let until = now.saturating_add(COMMAND_TIMEOUT).unwrap_or(now);
        let started = self.arm.run_script(self.vm, &Script { lines }).await;
        let outcome = match started.map_err(|error| rejected(node, error))? {
            Started::Done(outcome) => outcome,
            Started::Running(mut operation) => {
                let waited = self.arm.wait(&mut operation, until, |_, state| {
                    (self.progress)(&format!("Run Command on {node}: {state}"));
                });
                waited.await.map_err(|error| unfinished(node, error))?
            }
        };
        let OperationOutcome::Succeeded(Some(document)) = &outcome else {
            return Err(failed(
                node,
                "the operation did not succeed",
                "retry; its logs are in /var/log/azure/run-command/ on the node",
            ));
        };
        let unreadable = || failed(node, "its result is not readable", "retry");
        let printed = ScriptOutput::read(document).ok_or_else(unreadable)?;
        match error_of(&printed) {
            None => Ok(printed.stdout),
            Some(error) => Err(failed(
                node,
                format!("no report, but an error: {error}"),
                "the report is /var/log/azure/aks/provision.json on the node; logs of the command are in /var/log/azure/run-command/",
            )),
        }
    }

    /// Rejects a VM whose agent does not report: a command would hang until Azure ends it.
    pub async fn check_agent(&self) -> Result<(), QueryError> {
        let vm: Vm = self.arm.vm(self.vm).await?;
        match agent_problem(vm.properties.instance_view.as_ref()) {
            None => Ok(()),
            Some(why) => Err(failed(
                self.node,
                why,
                "not sent, because a command without a VM agent hangs for up to 90m; check the connection of the node to 168.63.129.16, or its serial console",
            )),
        }
    }
}

/// Returns the reason that a VM cannot run commands: its agent does not report.
fn agent_problem(view: Option<&InstanceView>) -> Option<String> {
    let Some(agent) = view.and_then(|view| view.vm_agent.as_ref()) else {
        return Some("the VM reports no VM agent".to_owned());
    };
    let is_ready = |status: &VmStatus| {
        status.code.eq_ignore_ascii_case("ProvisioningState/succeeded")
            || status.display_status.eq_ignore_ascii_case("Ready")
    };
    if agent.statuses.iter().any(is_ready) {
        return None;
    }
    let mut shown = agent.statuses.iter().map(|status| &*status.display_status);
    let shown = shown.find(|text| !text.is_empty()).unwrap_or("no status");
    Some(format!("the VM agent does not report ({})", mooring_redact::identifier(shown)))
}

fn failed(node: &str, why: impl Into<String>, hint: &'static str) -> QueryError {
    QueryError::Command { node: node.to_owned(), why: why.into(), hint }
}

fn rejected(node: &str, error: Error) -> QueryError {
    match &error.kind {
        ErrorKind::Conflict(_) => failed(
            node,
            "another Run Command is in progress on the VM",
            "only one runs at a time, and it cannot be canceled; retry when it has finished, after at most 90m",
        ),
        ErrorKind::Locked(_) => {
            failed(node, error.to_string(), "a ReadOnly lock also blocks Run Command")
        }
        _ => error.into(),
    }
}

fn unfinished(node: &str, error: Error) -> QueryError {
    match &error.kind {
        ErrorKind::Deadline(_) => failed(
            node,
            format!("it did not finish within {}m", COMMAND_TIMEOUT.as_mins()),
            "it continues in Azure for up to 90m and blocks other commands on the VM; retry later",
        ),
        _ => error.into(),
    }
}

/// Returns the error of a script that printed nothing else. Azure reports success regardless of the exit status.
fn error_of(printed: &ScriptOutput) -> Option<String> {
    let error = safe_tail(&printed.stderr, 1, MAX_ERROR_BYTES);
    (printed.stdout.trim().is_empty() && !error.is_empty()).then_some(error)
}

fn exit_code(line: &str) -> Option<i32> {
    let value = line.trim().strip_prefix("\"ExitCode\":")?.trim();
    value.strip_prefix('"')?.strip_suffix('"')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use mooring_diagnosis::BootstrapOutcome;

    use super::*;

    /// Returns the last 4,096 bytes that a real shell prints on a node with this report, as Azure does.
    fn returned(report: Option<&str>) -> String {
        returned_after(report, None)
    }

    fn returned_after(report: Option<&str>, earlier: Option<&str>) -> String {
        use std::io::Write as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("provision.json");
        let previous = folder.path().join("provision.json.previous");
        for (path, text) in [(&path, report), (&previous, earlier)] {
            if let Some(text) = text {
                std::fs::File::create_new(path).unwrap().write_all(text.as_bytes()).unwrap();
            }
        }
        let real = "/var/log/azure/aks/provision.json";
        let script = READ_REPORT.join("\n").replace(real, path.to_str().unwrap());
        let output = Command::new("sh").arg("-c").arg(script).output().unwrap();
        assert!(output.status.success());
        let from = output.stdout.len().saturating_sub(4096);
        String::from_utf8_lossy(&output.stdout[from..]).into_owned()
    }

    fn report(code: &str, output: &str) -> String {
        let report = serde_json::json!({"ExitCode": code, "Output": output, "Error": "", "ExecDuration": "75"});
        // The scripts write the exit code first.
        let text = serde_json::to_string_pretty(&report).unwrap();
        let rest = text.replacen(&format!("\"ExitCode\": \"{code}\",\n"), "", 1);
        format!("{{\n  \"ExitCode\": \"{code}\",\n{}", rest.trim_start_matches("{\n"))
    }

    #[test]
    fn exit_code_survives_truncation_of_the_report() {
        // 3,000 bytes that are all escaped: twice the size, and the start is cut off.
        let noise = "\"\\".repeat(1500);
        let long = report(
            "211",
            &format!("{noise}\ntimeout: failed to run command 'oras': No such file or directory\n"),
        );
        assert!(long.len() > 4096 + 1000);
        let whole = &long[long.len() - 4096..];
        assert!(!whole.contains("ExitCode"), "a plain cat loses it");
        let read = Report::read(&returned(Some(&long)));
        let found = read.diagnose(Hints::default()).unwrap();
        assert_eq!((found.outcome, found.reported.code), (BootstrapOutcome::Failed, Some(211)));
        assert_eq!(found.reason, "OrasBinaryMissing", "{read:?}");

        let short = report("50", "no route");
        let whole = Report { text: short.trim().to_owned(), origin: Origin::Unknown };
        assert_eq!(Report::read(&returned(Some(&short))), whole);
        let well = Report::read(&returned(Some(&report("0", &noise))));
        let found = well.diagnose(Hints::default()).unwrap();
        assert_eq!(found.outcome, BootstrapOutcome::Succeeded);
        assert_eq!(Report::read(&returned(None)).text, "");
    }

    #[test]
    fn reports_of_earlier_and_latest_attempt_are_read() {
        let noise = "\"\\".repeat(1500);
        let failed = report(
            "50",
            &format!("{noise}\ncurl: (6) Could not resolve host: mcr.microsoft.com\n"),
        );
        let well = report("0", &noise);
        let in_report = Origin::Report { exit_code: 50 };
        for (latest, code) in [(Some(&*well), Some(0)), (None, None)] {
            let [earlier, latest] = reports(&returned_after(latest, Some(&failed)));
            assert_eq!(earlier.origin, in_report);
            assert!(earlier.text.contains("Could not resolve host"), "{earlier:?}");
            let succeeded = latest
                .diagnose(Hints::default())
                .map(|found| found.outcome == BootstrapOutcome::Succeeded);
            assert_eq!(succeeded, code.map(|code| code == 0), "{latest:?}");
        }
        let [earlier, latest] = reports(&returned(Some(&failed)));
        assert_eq!((earlier.text.as_str(), latest.origin), ("", in_report));
    }

    #[test]
    fn exit_code_is_not_taken_from_the_output() {
        let nested = report("50", "{\"ExitCode\": \"0\"}");
        assert!(returned(Some(&nested)).trim_end().ends_with("\"ExitCode\": \"50\""));
    }

    #[test]
    fn script_error_is_not_a_missing_report() {
        let error = |stdout: &str, stderr: &str| {
            error_of(&ScriptOutput { stdout: stdout.into(), stderr: stderr.into() })
        };
        let denied = "tail: cannot open '/var/log/azure/aks/provision.json': Permission denied\n";
        assert!(error("", denied).unwrap().ends_with("Permission denied"));
        assert!(error("\n", "a\nscript.sh: line 3: grep: not found\n\n").unwrap().contains("grep"));
        assert_eq!(error("", ""), None, "there is no report yet");
        assert_eq!(error("{\"ExitCode\": \"0\"}", denied), None);
        assert!(!error("", "curl: token=eyJhbGciOi.eyJzdWIi.c2ln").unwrap().contains("eyJzdWIi"));
    }

    #[test]
    fn command_is_not_sent_without_a_reporting_agent() {
        let view = |text: &str| serde_json::from_str::<InstanceView>(text).unwrap();
        let ready = r#"{"vmAgent": {"vmAgentVersion": "2.15.0.1", "statuses": [{"code": "ProvisioningState/succeeded", "displayStatus": "Ready"}]}}"#;
        assert_eq!(agent_problem(Some(&view(ready))), None);
        let silent = r#"{"vmAgent": {"vmAgentVersion": "Unknown", "statuses": [{"code": "ProvisioningState/Unavailable", "level": "Warning", "displayStatus": "Not Ready"}]}}"#;
        assert!(agent_problem(Some(&view(silent))).unwrap().contains("(Not Ready)"));
        for absent in ["{}", r#"{"vmAgent": null}"#] {
            assert!(agent_problem(Some(&view(absent))).unwrap().contains("no VM agent"));
        }
        assert!(agent_problem(Some(&view(r#"{"vmAgent": {"statuses": []}}"#))).is_some());
        assert!(agent_problem(None).is_some());
    }
}

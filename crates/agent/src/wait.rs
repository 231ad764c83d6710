//! `provision-wait`: waits for the end of the bootstrap, without polling and in one thread, prints its report, exits with its
//! code.

use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, SystemTime};

use mooring_contract::cse_status::EXTENSION_WINDOW;
use mooring_contract::json::{Error, MAX_DEPTH, ValueKind, lossy};
use mooring_contract::{CseStatus, node_config};

use crate::format::{
    checked, json_error, members, os_error, path_error, quote, read_failure, set_string,
};
use crate::hotfix;
use crate::node::agent::LogValue::Text;
use crate::node::agent::{Agent, Task};
use crate::node::inputs::{self, MAX_FILE_BYTES};
use crate::node::nbc;
use crate::node::paths::{
    BASE_PREP_SENTINEL, CONTAINERS_DIR, NBC_COMMAND, NODE_CONFIG, REPORT, RUN_DIR, SENTINEL,
};
use crate::node::report::{self, RunningAgent, redact_report};
use crate::provision::result::{self, NOT_STARTED, status};
use crate::world::{Stream, Watch, WatchFailure};

pub(crate) fn provision_wait(agent: &mut Agent<'_>, timeout: Option<Duration>) -> u8 {
    let start = agent.started(Task::ProvisionWait);
    let outcome = wait(agent, start, timeout);
    agent.redactor = inputs::of_node(agent.world, &agent.layout, None, None);
    let WaitResult { printed, error, exit_code } = match outcome {
        Ok(outcome) => result(agent, &outcome),
        Err(error) => WaitResult::failed(Vec::new(), error),
    };
    agent.finished(Task::ProvisionWait, start, error.as_deref());
    // The log contains the report unchanged; the output for Azure also contains the cause.
    let shown = fit(redact_report(&agent.redactor, &printed));
    let shown = lossy(&shown).into_owned();
    agent.info("provision-wait finished", &[("provisionOutput", Text(&shown))]);
    let report = result::added_to(printed);
    let report = name_hotfix(agent, report);
    let printed = fit(redact_report(&agent.redactor, &report));
    agent.world.print(Stream::Out, &printed);
    agent.world.print(Stream::Out, b"\n");
    exit_code
}

/// Adds which agent and scripts ran, where a hotfix is in effect. A hotfix agent announces nothing
/// itself, so this command does.
fn name_hotfix(agent: &mut Agent<'_>, report: Vec<u8>) -> Vec<u8> {
    let state = hotfix::read_state(agent.world, &agent.layout);
    if !state.is_hotfixed() {
        return report;
    }
    if !state.binary.is_empty() {
        hotfix::announce(agent, &state);
    }
    result::with_member(report, "Hotfix", &state.describe(agent.version))
}

/// The report within the extension's window, the line end that follows it included. One that is no
/// report at all keeps its end.
fn fit(mut report: Vec<u8>) -> Vec<u8> {
    const ROOM: usize = EXTENSION_WINDOW - 1;
    if report.len() <= ROOM {
        return report;
    }
    if let Ok(status) = CseStatus::read(&report) {
        let mut line = status.fit(EXTENSION_WINDOW).into_bytes();
        line.pop();
        return line;
    }
    report.split_off(report.len() - ROOM)
}

/// The report's code for "the time is up", as the scripts use it.
const TIMED_OUT: i32 = 124;

/// The report to print, and what it says of the node.
struct WaitResult {
    /// The report's bytes, without the line end that follows them.
    printed: Vec<u8>,
    /// `None` for a bootstrapped node.
    error: Option<String>,
    exit_code: u8,
}

impl WaitResult {
    fn failed(printed: Vec<u8>, error: String) -> Self {
        Self { printed, error: Some(error), exit_code: 1 }
    }
}

fn result(agent: &mut Agent<'_>, outcome: &WaitOutcome) -> WaitResult {
    match outcome {
        WaitOutcome::Complete => complete(agent),
        WaitOutcome::BasePrepComplete => {
            let note = "base_prep.complete exists: an image was baked, no node is provisioned";
            agent.info(note, &[("path", Text(BASE_PREP_SENTINEL))]);
            let report = report::read_text(agent.world, &agent.layout);
            WaitResult { printed: report.unwrap_or_default(), error: None, exit_code: 0 }
        }
        WaitOutcome::Ended(running) => ended(agent, running),
        WaitOutcome::TimedOut(timeout) => {
            let seconds = timeout.as_secs_f64();
            own_report(TIMED_OUT, &format!("deadline exceeded: no result after {seconds} s"))
        }
    }
}

/// Evaluates a complete node: its report, or this boot's record if the report is missing or damaged.
fn complete(agent: &mut Agent<'_>) -> WaitResult {
    let report = report::read_text(agent.world, &agent.layout);
    let is_whole = report.as_ref().is_ok_and(|report| CseStatus::read(report).is_ok());
    if !is_whole
        && let Some(recorded) =
            report::read_running(agent.world, &agent.layout).and_then(|r| r.report)
    {
        agent.warn(
            "provision.json cannot be read; the result is that of the run directory",
            &[("path", Text(REPORT))],
        );
        return evaluated(agent, recorded.into_bytes());
    }
    match report {
        Ok(report) => evaluated(agent, report),
        Err(failure) => {
            let failure = read_failure(REPORT.as_ref(), &failure);
            let error = format!(
                "failed to read provision.json: {failure}. One reason could be that AKSNodeConfig is not properly set"
            );
            WaitResult::failed(Vec::new(), error)
        }
    }
}

fn evaluated(agent: &Agent<'_>, report: Vec<u8>) -> WaitResult {
    evaluate(report, |text| agent.redactor.redact_foreign(text))
}

/// Evaluates a finished run without a sentinel: its recorded report, or the state of its processes.
fn ended(agent: &Agent<'_>, running: &RunningAgent) -> WaitResult {
    let pid = running.agent.pid;
    if let Some(report) = &running.report {
        let result = evaluated(agent, report.clone().into_bytes());
        if result.error.is_some() {
            return result;
        }
        let error = "the scripts ended with exit code 0 but left no provision.complete; see \
            /var/log/azure/cluster-provision.log";
        return own_report(NOT_STARTED, error);
    }
    let scripts = match running.scripts {
        None => "no start of the scripts is recorded".to_owned(),
        Some(scripts) => {
            let pid = scripts.pid;
            format!("the scripts that it had started (pid {pid}) have also ended without one")
        }
    };
    let error = format!(
        "provision (pid {pid}) ended without leaving a result; {scripts}; see \
         /var/log/azure/aks-node-controller.log and the journal for why it was killed"
    );
    own_report(NOT_STARTED, &error)
}

/// Returns a result without writing a file, since the bootstrap may still finish.
fn own_report(code: i32, error: &str) -> WaitResult {
    let status = status(code, error.to_owned(), String::new());
    let exit_code = u8::try_from(code).unwrap_or(1);
    let printed = status.to_json().into_bytes();
    WaitResult { printed, error: Some(error.to_owned()), exit_code }
}

/// Time for which the record of a run that finished before this wait is ignored. The next run may be starting, and
/// its result counts.
const SETTLE: Duration = Duration::from_secs(2);

#[derive(Debug, PartialEq, Eq)]
enum WaitOutcome {
    Complete,
    /// An image was baked; there will be no node.
    BasePrepComplete,
    /// The run has finished, but the node is not complete.
    Ended(Box<RunningAgent>),
    TimedOut(Duration),
}

#[derive(Default)]
struct WaitState {
    /// True if a run was active during this wait.
    live_run: bool,
    /// Time of the first observation of a finished run, and its record.
    over: Option<(RunningAgent, Duration)>,
    /// True if it was logged that the scripts continue without their agent.
    logged_orphans: bool,
}

enum Check {
    Over(WaitOutcome),
    /// No result yet: the process to wait for, and the time of the next check.
    Pending {
        pid: Option<u32>,
        again: Option<Duration>,
    },
}

/// Sleeps until a result exists. The watch starts before the first check, so nothing is missed.
fn wait(
    agent: &mut Agent<'_>,
    start: SystemTime,
    timeout: Option<Duration>,
) -> Result<WaitOutcome, String> {
    let mut watch = watch(agent)?;
    let baked_before = is_baked(agent);
    let mut seen = WaitState::default();
    loop {
        let (pid, again) = match check(agent, baked_before, &mut seen) {
            Check::Over(outcome) => return Ok(outcome),
            Check::Pending { pid, again } => (pid, again),
        };
        let left = match timeout {
            None => None,
            Some(timeout) => {
                let waited = agent.world.now().duration_since(start).unwrap_or_default();
                match timeout.checked_sub(waited).filter(|left| !left.is_zero()) {
                    None => return Ok(WaitOutcome::TimedOut(timeout)),
                    left => left,
                }
            }
        };
        watch
            .wait(pid, [left, again].into_iter().flatten().min())
            .map_err(|error| format!("error watching file: {}", os_error(&error)))?;
    }
}

fn watch(agent: &mut Agent<'_>) -> Result<Box<dyn Watch>, String> {
    let results = agent.layout.at(CONTAINERS_DIR);
    agent.world.create_dir_all(&results).map_err(|error| {
        let error = path_error("mkdir", CONTAINERS_DIR.as_ref(), &error);
        format!("failed to create directory {CONTAINERS_DIR}: {error}")
    })?;
    // The record may be written later, or never if this directory cannot be created.
    let records = agent.layout.at(RUN_DIR);
    let mut folders: Vec<&Path> = vec![&results];
    if agent.world.create_dir_all(&records).is_ok() {
        folders.push(&records);
    }
    agent.world.watch(&folders).map_err(|failure| match failure {
        WatchFailure::Create(error) => format!("failed to create watcher: {}", os_error(&error)),
        WatchFailure::Folder(error) => format!("failed to watch directory: {}", os_error(&error)),
    })
}

/// Checks the node once. On a node from a baked image, the mark of that baking is ignored.
fn check(agent: &mut Agent<'_>, baked_before: bool, seen: &mut WaitState) -> Check {
    // The process first, then the sentinel, so that its last result is not missed.
    let mut running = report::read_running(agent.world, &agent.layout);
    let awaited = loop {
        let awaited = running.as_ref().and_then(|running| running.awaited(agent.world));
        if awaited.is_some() {
            break awaited;
        }
        // A process that ended after the record was read may have written its result there.
        let latest = report::read_running(agent.world, &agent.layout);
        if latest == running {
            break None;
        }
        running = latest;
    };
    if agent.world.kind(&agent.layout.at(SENTINEL)).is_ok() {
        return Check::Over(WaitOutcome::Complete);
    }
    if is_baked(agent) && (!baked_before || bakes_an_image(agent)) {
        return Check::Over(WaitOutcome::BasePrepComplete);
    }
    let Some(running) = running else { return Check::Pending { pid: None, again: None } };
    if let Some(process) = awaited {
        seen.live_run = true;
        if process.pid != running.agent.pid && !seen.logged_orphans {
            seen.logged_orphans = true;
            let text = format!(
                "provision (pid {}) ended without leaving a result, but its scripts still run (pid {}); waiting for them",
                running.agent.pid, process.pid
            );
            agent.warn(&text, &[]);
        }
        return Check::Pending { pid: Some(process.pid), again: None };
    }
    if seen.live_run {
        return Check::Over(WaitOutcome::Ended(Box::new(running)));
    }
    let now = agent.world.monotonic();
    match &seen.over {
        Some((known, since)) if *known == running => match (*since + SETTLE).checked_sub(now) {
            None | Some(Duration::ZERO) => Check::Over(WaitOutcome::Ended(Box::new(running))),
            again => Check::Pending { pid: None, again },
        },
        _ => {
            seen.over = Some((running, now));
            Check::Pending { pid: None, again: Some(SETTLE) }
        }
    }
}

fn is_baked(agent: &mut Agent<'_>) -> bool {
    agent.world.kind(&agent.layout.at(BASE_PREP_SENTINEL)).is_ok()
}

/// Returns true if custom data is known to request the baking of an image: a mark that was there before this wait may be
/// that of the image's own baking. What cannot be read, or is not there yet, requests nothing. An NBC command decides alone.
fn bakes_an_image(agent: &mut Agent<'_>) -> bool {
    let command = agent.layout.at(NBC_COMMAND);
    let entry = agent.world.entry(&command);
    if !entry.is_err_and(|error| error.kind() == ErrorKind::NotFound) {
        let text = agent.world.read(&command, MAX_FILE_BYTES).unwrap_or_default();
        return nbc::assignments(&text).expose("PRE_PROVISION_ONLY") == Some(b"true");
    }
    let config = agent.world.read(&agent.layout.at(NODE_CONFIG), MAX_FILE_BYTES);
    let parsed = config.ok().and_then(|text| node_config::parse(&text).ok());
    parsed.is_some_and(|parsed| parsed.config.pre_provision_only)
}

/// Reads the verdict out of a report; `redact` cleans the texts in it, which are the scripts' own.
fn evaluate(report: Vec<u8>, redact: impl Fn(&str) -> String) -> WaitResult {
    let Members { exit_code, error, output } = match read_members(&report) {
        Ok(members) => members,
        Err(error) => return WaitResult::failed(report, format!("parse provision.json: {error}")),
    };
    if exit_code.is_empty() {
        return WaitResult::failed(report, "missing ExitCode in provision.json".to_owned());
    }
    match exit_code.parse::<i64>() {
        Err(_) => {
            let error = format!("invalid ExitCode in provision.json: {}", redact(&exit_code));
            WaitResult::failed(report, error)
        }
        Ok(0) => WaitResult { printed: report, error: None, exit_code: 0 },
        Ok(code) => {
            let (error, output) = (redact(&error), quote(&redact(&output)));
            let error = format!("provision failed: exitCode={code} error={error} output={output}");
            let exit_code = u8::try_from(code).unwrap_or(1);
            WaitResult { printed: report, error: Some(error), exit_code }
        }
    }
}

#[derive(Default)]
struct Members {
    exit_code: String,
    error: String,
    output: String,
}

/// Reads string members only: a number is not an exit code, as in the upstream Go agent. Names match in any
/// case, the last one wins, null keeps the earlier value.
fn read_members(report: &[u8]) -> Result<Members, String> {
    let go_error = |error: Error| json_error(report, &error);
    let mut reader = checked(report).map_err(go_error)?;
    let mut read = Members::default();
    match reader.peek().map_err(go_error)? {
        ValueKind::Object => {}
        ValueKind::Null => return Ok(read),
        other => {
            let found = go_kind(other);
            return Err(format!(
                "json: cannot unmarshal {found} into Go value of type main.ProvisionResult"
            ));
        }
    }
    let mut wrong_type = None;
    members(&mut reader, &mut |reader, name| {
        let named = [
            ("ExitCode", &mut read.exit_code),
            ("Error", &mut read.error),
            ("Output", &mut read.output),
        ]
        .into_iter()
        .find(|(wanted, _)| name.eq_ignore_ascii_case(wanted));
        match (named, reader.peek()?) {
            (Some((_, member)), ValueKind::String) => return set_string(reader, member),
            (Some((wanted, _)), kind) if kind != ValueKind::Null => {
                wrong_type.get_or_insert((wanted, kind));
            }
            _ => {}
        }
        reader.skip(MAX_DEPTH)
    })
    .map_err(go_error)?;
    match wrong_type {
        None => Ok(read),
        Some((wanted, kind)) => Err(format!(
            "json: cannot unmarshal {} into Go struct field ProvisionResult.{wanted} of type string",
            go_kind(kind)
        )),
    }
}

fn go_kind(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Null => "null",
        ValueKind::Bool => "bool",
        ValueKind::Number => "number",
        ValueKind::String => "string",
        ValueKind::Array => "array",
        ValueKind::Object => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_is_that_of_the_report() {
        let exit_code = |code: &str| {
            evaluate(format!("{{\"ExitCode\":\"{code}\"}}").into(), str::to_owned).exit_code
        };
        assert_eq!(exit_code("0"), 0);
        assert_eq!(exit_code("50"), 50);
        assert_eq!(exit_code("+5"), 5);
        assert_eq!(exit_code("255"), 255);
        for odd in ["256", "-1", "99999999999999999999", " 7", "x", ""] {
            assert_eq!(exit_code(odd), 1, "{odd}");
        }
    }

    #[test]
    fn a_report_that_cannot_be_read_is_a_failure_with_a_reason() {
        for (report, expected) in [
            ("", "parse provision.json: unexpected end of JSON input"),
            (
                "[]",
                "parse provision.json: json: cannot unmarshal array into Go value of type main.ProvisionResult",
            ),
            ("null", "missing ExitCode in provision.json"),
            ("{\"ExitCode\":null}", "missing ExitCode in provision.json"),
            (
                "{\"Output\":true,\"ExitCode\":7}",
                "parse provision.json: json: cannot unmarshal bool into Go struct field ProvisionResult.Output of type string",
            ),
        ] {
            let verdict = evaluate(report.into(), str::to_owned);
            assert_eq!((verdict.error.as_deref(), verdict.exit_code), (Some(expected), 1));
        }
    }
}

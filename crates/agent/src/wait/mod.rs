//! `provision-wait`: waits for the end of the bootstrap, prints its report, exits with its code.

mod evaluate;

use std::path::Path;
use std::time::{Duration, SystemTime};

use mooring_contract::cse_status::EXTENSION_WINDOW;
use mooring_contract::json::lossy;
use mooring_contract::{CseStatus, node_config};

use crate::format::event::Task;
use crate::format::go_text::{os_error, path_error, read_failure};
use crate::hotfix;
use crate::node::agent::Agent;
use crate::node::log::Value;
use crate::node::nbc;
use crate::node::paths::{
    BASE_PREP_SENTINEL, CONTAINERS_DIR, NBC_COMMAND, NODE_CONFIG, REPORT, RUN_DIR, SENTINEL,
};
use crate::node::pid_file::{self, Running};
use crate::node::report_redaction::redact_report;
use crate::node::secrets::{self, MAX_FILE_BYTES};
use crate::provision::{NOT_STARTED, cause};
use crate::world::{Stream, WakeReason, Watch, WatchFailure};
use evaluate::{Verdict, evaluate};

/// The report's code for "the time is up", as the scripts use it.
const TIMED_OUT: i32 = 124;

#[derive(Debug, PartialEq, Eq)]
enum WaitOutcome {
    Complete,
    /// An image was baked; there will be no node.
    BasePrepComplete,
    /// The run has finished, but the node is not complete.
    Ended(Box<Running>),
    TimedOut(Duration),
}

/// Printed report, and its evaluation.
struct Result {
    /// The report's bytes, without the line end that follows them.
    printed: Vec<u8>,
    verdict: Verdict,
}

pub(crate) fn provision_wait(agent: &mut Agent<'_>, timeout: Option<Duration>) -> u8 {
    let start = agent.started(Task::ProvisionWait);
    let outcome = wait(agent, start, timeout);
    agent.redactor = secrets::of_node(agent.world, &agent.layout, None, None);
    let Result { printed, verdict } = match outcome {
        Ok(outcome) => result(agent, &outcome),
        Err(error) => Result { printed: Vec::new(), verdict: Verdict::failed(error) },
    };
    agent.finished(Task::ProvisionWait, start, verdict.error.as_deref());
    // The log contains the report unchanged; the output for Azure also contains the cause.
    let shown = fit(redact_report(&agent.redactor, &printed));
    let shown = lossy(&shown).into_owned();
    agent.info("provision-wait finished", &[("provisionOutput", Value::Text(&shown))]);
    let report = cause::added_to(printed);
    let report = name_hotfix(agent, report);
    let printed = fit(redact_report(&agent.redactor, &report));
    agent.world.print(Stream::Out, &printed);
    agent.world.print(Stream::Out, b"\n");
    verdict.exit_code
}

/// Adds which agent and scripts ran, where a hotfix is in effect. A hotfix agent announces nothing
/// itself, so this command does.
fn name_hotfix(agent: &mut Agent<'_>, report: Vec<u8>) -> Vec<u8> {
    let state = hotfix::read_state(agent.world, &agent.layout);
    if !state.is_hotfixed() {
        return report;
    }
    if state.binary.is_some() {
        hotfix::announce(agent, &state);
    }
    cause::with_member(report, "Hotfix", &state.describe(agent.version))
}

/// Time for which the record of a run that finished before this wait is ignored. The next run may be starting, and
/// its result counts.
const SETTLE: Duration = Duration::from_secs(2);

#[derive(Default)]
struct WaitState {
    /// True if a run was active during this wait.
    live_run: bool,
    /// Time of the first observation of a finished run, and its record.
    over: Option<(Running, Duration)>,
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
) -> std::result::Result<WaitOutcome, String> {
    let mut watch = watch(agent)?;
    let baked_before = is_baked(agent) && !bakes_an_image(agent);
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
        match watch.wait(pid, [left, again].into_iter().flatten().min()) {
            Ok(WakeReason::Changed | WakeReason::ProcessEnded | WakeReason::TimedOut) => {}
            Err(error) => return Err(format!("error watching file: {}", os_error(&error))),
        }
    }
}

fn watch(agent: &mut Agent<'_>) -> std::result::Result<Box<dyn Watch>, String> {
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

/// Checks the node once. On a node from a baked image, the mark of the baking is ignored.
fn check(agent: &mut Agent<'_>, baked_before: bool, seen: &mut WaitState) -> Check {
    // The process first, then the sentinel, so that its last result is not missed.
    let mut running = pid_file::read(agent.world, &agent.layout);
    let awaited = loop {
        let awaited = running.as_ref().and_then(|running| running.awaited(agent.world));
        if awaited.is_some() {
            break awaited;
        }
        // A process that ended after the record was read may have written its result there.
        let latest = pid_file::read(agent.world, &agent.layout);
        if latest == running {
            break None;
        }
        running = latest;
    };
    if agent.world.kind(&agent.layout.at(SENTINEL)).is_ok() {
        return Check::Over(WaitOutcome::Complete);
    }
    if !baked_before && is_baked(agent) {
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

/// Returns true if custom data requests the baking of an image. (A node from a baked image still has the
/// mark of the baking.)
fn bakes_an_image(agent: &mut Agent<'_>) -> bool {
    if let Ok(text) = agent.world.read(&agent.layout.at(NODE_CONFIG), MAX_FILE_BYTES) {
        return node_config::parse(&text).is_ok_and(|parsed| parsed.config.pre_provision_only);
    }
    if let Ok(text) = agent.world.read(&agent.layout.at(NBC_COMMAND), MAX_FILE_BYTES) {
        return nbc::assignments(&text).expose("PRE_PROVISION_ONLY") == Some(b"true");
    }
    true
}

fn result(agent: &mut Agent<'_>, outcome: &WaitOutcome) -> Result {
    match outcome {
        WaitOutcome::Complete => complete(agent),
        WaitOutcome::BasePrepComplete => {
            let note = "base_prep.complete exists: an image was baked, no node is provisioned";
            agent.info(note, &[("path", Value::Text(BASE_PREP_SENTINEL))]);
            let report = agent.world.read(&agent.layout.at(REPORT), MAX_FILE_BYTES);
            let verdict = Verdict { error: None, exit_code: 0 };
            Result { printed: report.unwrap_or_default(), verdict }
        }
        WaitOutcome::Ended(running) => ended(agent, running),
        WaitOutcome::TimedOut(timeout) => {
            let seconds = timeout.as_secs_f64();
            own_report(TIMED_OUT, &format!("deadline exceeded: no result after {seconds} s"))
        }
    }
}

/// Evaluates a complete node: its report, or this boot's record if the report is missing or damaged.
fn complete(agent: &mut Agent<'_>) -> Result {
    let report = agent.world.read(&agent.layout.at(REPORT), MAX_FILE_BYTES);
    let is_whole = report.as_ref().is_ok_and(|report| CseStatus::read(report).is_ok());
    if !is_whole
        && let Some(recorded) = pid_file::read(agent.world, &agent.layout).and_then(|r| r.report)
    {
        agent.warn(
            "provision.json cannot be read; the result is that of the run directory",
            &[("path", Value::Text(REPORT))],
        );
        return evaluated(agent, recorded.into_bytes());
    }
    match report {
        Ok(report) => evaluated(agent, report),
        Err(failure) => Result {
            printed: Vec::new(),
            verdict: Verdict::failed(format!(
                "failed to read provision.json: {}. One reason could be that AKSNodeConfig is \
                 not properly set",
                read_failure(REPORT.as_ref(), &failure)
            )),
        },
    }
}

fn evaluated(agent: &Agent<'_>, report: Vec<u8>) -> Result {
    let redact = |text: &str| agent.redactor.redact_foreign(text);
    Result { verdict: evaluate(&report, redact), printed: report }
}

/// Evaluates a finished run without a sentinel: its recorded report, or the state of its processes.
fn ended(agent: &Agent<'_>, running: &Running) -> Result {
    let pid = running.agent.pid;
    if let Some(report) = &running.report {
        let result = evaluated(agent, report.clone().into_bytes());
        if result.verdict.error.is_some() {
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
fn own_report(code: i32, error: &str) -> Result {
    let status =
        CseStatus { exit_code: code.to_string(), error: error.to_owned(), ..CseStatus::default() };
    let verdict =
        Verdict { error: Some(error.to_owned()), exit_code: u8::try_from(code).unwrap_or(1) };
    Result { printed: status.to_json().into_bytes(), verdict }
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

//! `provision`: from the node config to a bootstrapped node, or to a report of the failure.

mod command;
mod output;
pub(crate) mod result;

use std::path::Path;
use std::time::SystemTime;

use mooring_contract::json::lossy;
use mooring_redact::identifier;

use crate::cli::ProvisionFlags;
use crate::format::{child_error, path_error};
use crate::hotfix;
use crate::node::agent::LogValue::{Null, Number, Text};
use crate::node::agent::{Agent, Task};
use crate::node::paths::{PREVIOUS_REPORT, REPORT, SCRIPTS_LOG, SENTINEL};
use crate::node::report::{self, RunningAgent};
use crate::provision::command::{Prepared, prepare};
use crate::provision::output::Output;
use crate::provision::result::{
    Failure, NOT_STARTED, exit_code, leave_failure, leave_success, status,
};
use crate::world::{ChildEnd, ChildStatus, Replace, Signal, Stopped};

/// Size of the end of the scripts' log in a report, as in their own reports.
const SCRIPTS_LOG_BYTES: u64 = 3000;

pub(crate) fn provision(agent: &mut Agent<'_>, flags: &ProvisionFlags) -> u8 {
    let start = agent.started(Task::Provision);
    if flags.dry_run {
        return dry_run(agent, flags, start);
    }
    // From here on a signal also ends in a report.
    if let Err(error) = agent.world.catch_signals() {
        agent.warn("failed to catch signals", &[("error", Text(&error.to_string()))]);
    }
    let mut record = match claim(agent) {
        Ok(record) => record,
        Err(taken) => return finish(agent, start, Err((&taken, 1))),
    };
    let result = check_earlier(agent).and_then(|()| {
        hotfix::finish_pending(agent);
        let state = hotfix::read_state(agent.world, &agent.layout);
        hotfix::announce(agent, &state);
        let prepared = prepare(agent, flags)?;
        run(agent, &prepared, flags, &mut record)
    });
    match result {
        Ok(()) => {
            leave_success(agent, record.as_mut());
            finish(agent, start, Ok(()))
        }
        Err(failure) => {
            leave_failure(agent, &failure, record.as_mut());
            let error = failure.logged.as_ref().unwrap_or(&failure.status.error);
            finish(agent, start, Err((error, failure.exit_code)))
        }
    }
}

fn dry_run(agent: &mut Agent<'_>, flags: &ProvisionFlags, start: SystemTime) -> u8 {
    match prepare(agent, flags) {
        Ok(prepared) => {
            agent.info("dry-run", &[("cmd", Text(&prepared.shown))]);
            log_finished(agent, -1, ("", ""), None);
            finish(agent, start, Ok(()))
        }
        Err(failure) => {
            // A dry run may fail while a `provision` succeeds.
            if !report::is_live(agent.world, &agent.layout) {
                leave_failure(agent, &failure, None);
            }
            finish(agent, start, Err((&failure.status.error, failure.exit_code)))
        }
    }
}

fn finish(agent: &mut Agent<'_>, start: SystemTime, result: Result<(), (&str, u8)>) -> u8 {
    agent.finished(Task::Provision, start, result.err().map(|(error, _)| error));
    result.err().map_or(0, |(_, exit_code)| exit_code)
}

/// Makes this the only process that provisions. If that cannot be recorded, the node is provisioned
/// anyway: only `provision-wait` needs the record.
fn claim(agent: &mut Agent<'_>) -> Result<Option<RunningAgent>, String> {
    match report::claim(agent.world, &agent.layout) {
        Ok(Some(running)) => Ok(Some(running)),
        Ok(None) => {
            let other = report::read_running(agent.world, &agent.layout);
            let by = other.map(|other| format!(" (pid {})", other.agent.pid)).unwrap_or_default();
            Err(format!("another provision is already running{by}"))
        }
        Err(error) => {
            agent.warn("failed to record this provision", &[("error", Text(&error.to_string()))]);
            Ok(None)
        }
    }
}

fn run(
    agent: &mut Agent<'_>,
    prepared: &Prepared,
    flags: &ProvisionFlags,
    record: &mut Option<RunningAgent>,
) -> Result<(), Failure> {
    if let Some(signal) = agent.world.caught_signal() {
        let error = format!("interrupted by {} before the scripts were started", signal.name());
        return Err(Failure { is_of_this_boot: true, ..Failure::before_start(error) });
    }
    let had_sentinel = has_sentinel(agent);
    let logged_before = scripts_log_length(agent);
    // Through a separate world, since the agent's runs the scripts.
    let (mut world, layout) = (agent.world.apart(), agent.layout.clone());
    let on_start = record.as_mut().map(|record| -> Box<dyn FnOnce(u32) + '_> {
        // Only `provision-wait` needs it; the scripts run anyway.
        Box::new(move |pid| drop(record.scripts_started(&mut *world, &layout, pid)))
    });
    let mut output = Output::new(&agent.redactor, on_start);
    let ended = match &prepared.child {
        Ok(child) => agent
            .world
            .run(child, &mut output)
            .map_err(|error| path_error("fork/exec", Path::new(child.program), &error)),
        Err(error) => Err(error.clone()),
    };
    let (out, err) = output.tails();
    if flags.nbc_command.is_some() {
        command::compare(agent, flags);
    }
    let (code, error) = match &ended {
        Ok(end) => (code_of(end), error_of(end)),
        Err(error) => (-1, Some(error.clone())),
    };
    log_finished(agent, code, (&out, &err), error.as_deref());
    if ended.as_ref().is_ok_and(|end| end.output_left_open) {
        agent.warn(
            "a leftover process of the scripts keeps their output open; not waiting for it",
            &[],
        );
    }
    let Some(error) = error else { return Ok(()) };
    let is_stopped = ended.as_ref().is_ok_and(|end| is_stopped(agent, end));
    if is_stopped && !had_sentinel {
        if report::read(agent.world, &agent.layout).is_some_and(|status| status.code() == Ok(0))
            && has_sentinel(agent)
        {
            agent.info("the scripts had ended with success before the stop reached them", &[]);
            return Ok(());
        }
        withdraw_sentinel(agent);
    }
    let exit_code = match ended {
        Ok(_) => exit_code(code),
        Err(_) => 1,
    };
    let log = scripts_log(agent, logged_before);
    let status = Box::new(status(code, error, format!("{out}\n{err}{log}")));
    Err(Failure { status, logged: None, exit_code, is_of_this_boot: is_stopped })
}

/// The end of what the scripts wrote to their own log in this run; real scripts print nothing else.
fn scripts_log(agent: &mut Agent<'_>, logged_before: u64) -> String {
    let begin = logged_before.max(scripts_log_length(agent).saturating_sub(SCRIPTS_LOG_BYTES));
    let log = agent.world.read_at(&agent.layout.at(SCRIPTS_LOG), begin, SCRIPTS_LOG_BYTES);
    agent.redactor.redact_foreign(&lossy(&log.unwrap_or_default()))
}

fn scripts_log_length(agent: &mut Agent<'_>) -> u64 {
    agent.world.entry(&agent.layout.at(SCRIPTS_LOG)).map_or(0, |log| log.length)
}

fn log_finished(agent: &mut Agent<'_>, code: i32, (out, err): (&str, &str), error: Option<&str>) {
    agent.info(
        "CSE finished",
        &[
            ("exitCode", Number(i64::from(code))),
            ("stdout", Text(out)),
            ("stderr", Text(err)),
            ("error", error.map_or(Null, Text)),
        ],
    );
}

/// Clears an earlier result, unless that run failed permanently. Its report is then kept as the result of this run.
fn check_earlier(agent: &mut Agent<'_>) -> Result<(), Failure> {
    if !has_sentinel(agent) {
        move_report_aside(agent);
        return Ok(());
    }
    let earlier = report::read(agent.world, &agent.layout);
    let code = earlier.as_ref().and_then(|status| status.code().ok());
    let what = match code {
        Some(0) => return Ok(()),
        Some(code) => format!("an earlier run on this node failed with exit code {code}"),
        None => "an earlier run on this node left no readable report".to_owned(),
    };
    let error = format!(
        "{what} and left provision.complete, with which the scripts do nothing and report success; they are not run. To run \
         them again, remove {SENTINEL} and start the node agent again, or recreate the node"
    );
    let code = code.and_then(|code| i32::try_from(code).ok()).unwrap_or(NOT_STARTED);
    let status = earlier.unwrap_or_else(|| status(NOT_STARTED, error.clone(), String::new()));
    Err(Failure {
        status: Box::new(status),
        logged: Some(error),
        exit_code: exit_code(code),
        is_of_this_boot: true,
    })
}

fn has_sentinel(agent: &mut Agent<'_>) -> bool {
    agent.world.kind(&agent.layout.at(SENTINEL)).is_ok()
}

/// Moves the report of an interrupted run, which would be taken for this run's.
fn move_report_aside(agent: &mut Agent<'_>) {
    let (report, previous) = (agent.layout.at(REPORT), agent.layout.at(PREVIOUS_REPORT));
    if agent.world.kind(&report).is_err() {
        return;
    }
    if let Err(error) = agent.world.rename(&report, &previous, Replace::Yes) {
        let error = path_error("rename", REPORT.as_ref(), &error);
        agent.warn("failed to move a stale provision.json aside", &[("error", Text(&error))]);
    }
}

/// Removes the results of stopped scripts, so that the next boot runs them again.
fn withdraw_sentinel(agent: &mut Agent<'_>) {
    if !has_sentinel(agent) {
        return;
    }
    let sentinel = agent.layout.at(SENTINEL);
    if let Err(error) = agent.world.remove(&sentinel) {
        let error = path_error("remove", SENTINEL.as_ref(), &error);
        let attributes = [("path", Text(SENTINEL)), ("error", Text(&error))];
        return agent.error("failed to remove provision.complete of a stopped run", &attributes);
    }
    move_report_aside(agent);
}

/// Returns true if a signal stopped the scripts. At a shutdown each process gets its own signal, the scripts
/// perhaps before the agent.
fn is_stopped(agent: &mut Agent<'_>, end: &ChildEnd) -> bool {
    let by_signal =
        |number: i32| [Signal::Terminate, Signal::Interrupt].iter().any(|s| s.number() == number);
    let is_signaled =
        matches!(end.status, ChildStatus::Signaled { number, .. } if by_signal(number));
    end.stopped.is_some() || is_signaled || agent.world.caught_signal().is_some()
}

/// Returns the exit code of the report: that of the child; -1 for a signal, as in the upstream Go agent. A
/// bootstrap that exits with 0 after a stop signal is incomplete.
fn code_of(end: &ChildEnd) -> i32 {
    match (end.status, &end.stopped) {
        (ChildStatus::Exited(0), Some(stopped)) => 128 + stopped.signal.number(),
        (ChildStatus::Exited(code), _) => code,
        (ChildStatus::Signaled { .. }, _) => -1,
    }
}

fn error_of(end: &ChildEnd) -> Option<String> {
    match (child_error(end.status), &end.stopped) {
        (error, None) => error,
        (None, Some(stopped)) => Some(interrupted(stopped)),
        (Some(error), Some(stopped)) => Some(format!("{error} ({})", interrupted(stopped))),
    }
}

fn interrupted(stopped: &Stopped) -> String {
    let Stopped { signal, processes, killed, left } = stopped;
    let killed = match killed {
        0 => String::new(),
        killed => format!(", {killed} of them by SIGKILL"),
    };
    let names: Vec<String> = left
        .iter()
        .take(5)
        .map(|(pid, name)| format!("{} (pid {pid})", identifier(name)))
        .collect();
    let left = match left.len() {
        0 => String::new(),
        left => format!("; {} still run: {}", count(left), names.join(", ")),
    };
    format!("interrupted by {}; stopped {}{killed}{left}", signal.name(), count(*processes))
}

fn count(processes: usize) -> String {
    match processes {
        1 => "1 process".to_owned(),
        _ => format!("{processes} processes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_is_part_of_the_error_and_never_a_success() {
        let left = vec![(7, "a b".to_owned()), (8, "sleep".to_owned())];
        let few = Stopped { signal: Signal::Interrupt, processes: 1, killed: 0, left: Vec::new() };
        let many = Stopped { signal: Signal::Terminate, processes: 3, killed: 2, left };
        let killed = ChildStatus::Signaled { number: 9, core_dumped: false };
        for (status, stopped, code, error) in [
            (ChildStatus::Exited(0), None, 0, None),
            (ChildStatus::Exited(50), None, 50, Some("exit status 50")),
            (killed, None, -1, Some("signal: killed")),
            (
                ChildStatus::Exited(0),
                Some(few.clone()),
                130,
                Some("interrupted by SIGINT; stopped 1 process"),
            ),
            (
                ChildStatus::Exited(0),
                Some(many),
                143,
                Some(
                    "interrupted by SIGTERM; stopped 3 processes, 2 of them by SIGKILL; \
                     2 processes still run: a b (pid 7), sleep (pid 8)",
                ),
            ),
            (
                ChildStatus::Exited(50),
                Some(few.clone()),
                50,
                Some("exit status 50 (interrupted by SIGINT; stopped 1 process)"),
            ),
            (
                killed,
                Some(few),
                -1,
                Some("signal: killed (interrupted by SIGINT; stopped 1 process)"),
            ),
        ] {
            let end = ChildEnd { status, stopped, output_left_open: false };
            assert_eq!((code_of(&end), error_of(&end).as_deref()), (code, error));
        }
    }
}

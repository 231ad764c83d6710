//! `provision`: from the node config to a bootstrapped node, or to a report of the failure.

pub(crate) mod cause;
mod checks;
mod command;
mod comparison;
mod earlier;
mod failure;
mod output;

use std::path::Path;
use std::time::SystemTime;

use mooring_contract::CseStatus;
use mooring_contract::json::lossy;
use mooring_redact::identifier;

use crate::cli::ProvisionFlags;
use crate::format::event::Task;
use crate::format::go_text::{child_error, path_error};
use crate::hotfix;
use crate::node::agent::Agent;
use crate::node::log::Value;
use crate::node::paths::{Layout, REPORT, RUN_RECORD, SCRIPTS_LOG};
use crate::node::pid_file::{self, LockResult, Running};
use crate::node::report;
use crate::world::{ChildEnd, ChildStatus, Signal, Stopped, World};
use command::{Prepared, prepare};
pub(crate) use failure::NOT_STARTED;
use failure::{Failure, exit_code, status};
use output::Output;

/// Size of the end of the scripts' log in a report, as in their own reports.
const SCRIPTS_LOG_BYTES: u64 = 3000;

pub(crate) fn provision(agent: &mut Agent<'_>, flags: &ProvisionFlags) -> u8 {
    let start = agent.started(Task::Provision);
    if flags.dry_run {
        return dry_run(agent, flags, start);
    }
    catch_signals(agent);
    let mut record = match claim(agent) {
        Ok(record) => record,
        Err(taken) => return finish(agent, start, Err((&taken, 1))),
    };
    let result = earlier::check(agent).and_then(|()| {
        settle_hotfix(agent);
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

/// Completes a hotfix that was interrupted, and names what runs where a hotfix is in effect.
fn settle_hotfix(agent: &mut Agent<'_>) {
    hotfix::finish_pending(agent);
    let state = hotfix::read_state(agent.world, &agent.layout);
    hotfix::announce(agent, &state);
}

fn dry_run(agent: &mut Agent<'_>, flags: &ProvisionFlags, start: SystemTime) -> u8 {
    match prepare(agent, flags) {
        Ok(prepared) => {
            agent.info("dry-run", &[("cmd", Value::Text(&prepared.shown))]);
            log_finished(agent, -1, ("", ""), None);
            finish(agent, start, Ok(()))
        }
        Err(failure) => {
            // A dry run may fail while a `provision` succeeds.
            if !pid_file::is_live(agent.world, &agent.layout) {
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

/// From here on a signal also ends in a report.
fn catch_signals(agent: &mut Agent<'_>) {
    if let Err(error) = agent.world.catch_signals() {
        let error = error.to_string();
        agent.warn("failed to catch signals", &[("error", Value::Text(&error))]);
    }
}

/// Makes this the only process that provisions. If that cannot be recorded, the node is provisioned
/// anyway: only `provision-wait` needs the record.
fn claim(agent: &mut Agent<'_>) -> Result<Option<Running>, String> {
    match pid_file::claim(agent.world, &agent.layout) {
        Ok(LockResult::Ours(running)) => Ok(Some(running)),
        Ok(LockResult::TakenBy(pid)) => {
            let by = pid.map_or_else(String::new, |pid| format!(" (pid {pid})"));
            Err(format!("another provision is already running{by}"))
        }
        Err(error) => {
            let error = error.to_string();
            agent.warn("failed to record this provision", &[("error", Value::Text(&error))]);
            Ok(None)
        }
    }
}

fn run(
    agent: &mut Agent<'_>,
    prepared: &Prepared,
    flags: &ProvisionFlags,
    record: &mut Option<Running>,
) -> Result<(), Failure> {
    if let Some(signal) = agent.world.caught_signal() {
        let error = format!("interrupted by {} before the scripts were started", signal.name());
        return Err(Failure { is_of_this_boot: true, ..Failure::before_start(error) });
    }
    let had_sentinel = earlier::has_sentinel(agent);
    let logged_before = scripts_log_length(agent);
    let mut output = Output::new(&agent.redactor);
    if let Some(record) = record {
        output.record_start(agent.world.apart(), agent.layout.clone(), record);
    }
    let ended = match &prepared.child {
        Ok(child) => agent
            .world
            .run(child, &mut output)
            .map_err(|error| path_error("fork/exec", Path::new(child.program), &error)),
        Err(error) => Err(error.clone()),
    };
    let (out, err) = output.tails();
    if flags.nbc_command.is_some() {
        comparison::compare(agent, flags);
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
            && earlier::has_sentinel(agent)
        {
            agent.info("the scripts had ended with success before the stop reached them", &[]);
            return Ok(());
        }
        earlier::withdraw_sentinel(agent);
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

fn log_finished(agent: &mut Agent<'_>, code: i32, (out, err): (&str, &str), error: Option<&str>) {
    agent.info(
        "CSE finished",
        &[
            ("exitCode", Value::Number(i64::from(code))),
            ("stdout", Value::Text(out)),
            ("stderr", Value::Text(err)),
            ("error", error.into()),
        ],
    );
}

/// Writes the result of a failed run: in the record of this boot, and for later boots the report and the sentinel.
fn leave_failure(agent: &mut Agent<'_>, failure: &Failure, record: Option<&mut Running>) {
    let Failure { status, is_of_this_boot, .. } = failure;
    let redact = |text: &str| agent.redactor.redact(text).into_owned();
    let status = CseStatus {
        exit_code: status.exit_code.clone(),
        error: redact(&status.error),
        output: redact(&status.output),
        diagnosis: redact(&cause::sentence(status)),
        hotfix: String::new(),
        timings: status.timings.clone(),
    };
    let is_recorded = leave_record(agent, record, &status);
    // Who waits must get a word even where nothing can be recorded.
    if *is_of_this_boot && is_recorded {
        return;
    }
    for (fixed, error) in report::leave(agent.world, &agent.layout, &status, !is_recorded) {
        let name = fixed.rsplit('/').next().unwrap_or(fixed);
        let error = path_error("open", fixed.as_ref(), &error);
        let attributes = [("path", Value::Text(fixed)), ("error", Value::Text(&error))];
        agent.error(&format!("failed to write {name} file"), &attributes);
    }
}

/// Writes the result of a successful run, if the scripts have not, for example because of a full disk.
fn leave_success(agent: &mut Agent<'_>, record: Option<&mut Running>) {
    let status = status(0, String::new(), String::new());
    leave_record(agent, record, &status);
    if report::is_torn(agent.world, &agent.layout) {
        let _ = report::replace(agent.world, &agent.layout.at(REPORT), status.to_json().as_bytes());
    }
}

/// Records the result for those who wait in this boot; true if that worked.
fn leave_record(agent: &mut Agent<'_>, record: Option<&mut Running>, status: &CseStatus) -> bool {
    let Some(record) = record else { return false };
    let written = record.ended(agent.world, &agent.layout, status.to_json());
    if let Err(error) = &written {
        let error = path_error("open", RUN_RECORD.as_ref(), error);
        agent.warn("failed to record the result", &[("error", Value::Text(&error))]);
    }
    written.is_ok()
}

/// Writes the result of a `provision` that failed before its log was open, unless another `provision` is running.
pub(crate) fn leave_early_result(world: &mut dyn World, layout: &Layout, error: &str) {
    if !pid_file::is_live(world, layout) {
        let mut status = status(NOT_STARTED, error.to_owned(), String::new());
        status.diagnosis = cause::sentence(&status);
        let _ = report::leave(world, layout, &status, true);
    }
}

/// Writes the result of a `provision` that panicked. Errors are ignored.
pub(crate) fn leave_last_result(world: &mut dyn World, layout: &Layout, error: &str) {
    let status = status(NOT_STARTED, error.to_owned(), String::new());
    let _ = report::leave(world, layout, &status, true);
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

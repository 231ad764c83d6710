//! A run, from the check of earlier ones to its result.

use std::path::Path;
use std::time::SystemTime;

use mooring_contract::json::lossy;

use super::command::{Prepared, prepare};
use super::end::{code_of, error_of, is_stopped};
use super::failure::{Failure, exit_code, status};
use super::output::Output;
use super::result::{leave_failure, leave_success};
use super::{comparison, earlier};
use crate::cli::ProvisionFlags;
use crate::format::event::Task;
use crate::format::go_text::path_error;
use crate::hotfix;
use crate::node::agent::Agent;
use crate::node::log::LogValue::{Null, Number, Text};
use crate::node::paths::SCRIPTS_LOG;
use crate::node::pid_file::{self, LockResult, RunningAgent};
use crate::node::report;

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
    let result = earlier::check(agent).and_then(|()| {
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

/// Makes this the only process that provisions. If that cannot be recorded, the node is provisioned
/// anyway: only `provision-wait` needs the record.
fn claim(agent: &mut Agent<'_>) -> Result<Option<RunningAgent>, String> {
    match pid_file::claim(agent.world, &agent.layout) {
        Ok(LockResult::Ours(running)) => Ok(Some(running)),
        Ok(LockResult::TakenBy(pid)) => {
            let by = pid.map_or_else(String::new, |pid| format!(" (pid {pid})"));
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

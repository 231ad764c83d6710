//! `provision`: from the node config to a bootstrapped node, or to a report that says why not.

mod checks;
mod command;
mod comparison;
mod output;

use std::path::Path;
use std::time::SystemTime;

use mooring_contract::CseStatus;

use crate::agent::Agent;
use crate::cause;
use crate::cli::ProvisionFlags;
use crate::event::Task;
use crate::go_text::{child_error, path_error};
use crate::log::Value;
use crate::paths::{Layout, PREVIOUS_REPORT, REPORT, SENTINEL};
use crate::preflight::code_name;
use crate::report;
use crate::running::{self, Claim};
use crate::world::{ChildEnd, ChildStatus, Replace, Signal, World};
use command::Prepared;
use output::Output;

/// The report's code for "the agent failed before it ran anything".
pub(crate) const NOT_STARTED: i32 = 240;

/// Why a bootstrap failed.
#[derive(Debug)]
struct Failure {
    status: Box<CseStatus>,
    exit_code: u8,
}

impl Failure {
    /// Nothing was run.
    fn before_start(error: String) -> Self {
        Self { status: Box::new(status(NOT_STARTED, error, String::new())), exit_code: 1 }
    }

    /// Nothing was run, because of what preflight found. The report begins with the code's name,
    /// since scripts use some of these numbers for other things.
    fn preflight(code: i32, summary: &str, output: String) -> Self {
        let name = code_name(code).unwrap_or("preflight");
        let status = Box::new(status(code, format!("{name}: {summary}"), output));
        Self { status, exit_code: exit_code(code) }
    }
}

/// Runs the command; the result is the process's exit code.
pub(crate) fn provision(agent: &mut Agent<'_>, flags: &ProvisionFlags) -> u8 {
    let start = agent.started(Task::Provision);
    if !flags.dry_run {
        catch_signals(agent);
        match claim(agent) {
            Ok(()) => move_stale_report_aside(agent),
            Err(taken) => return finish(agent, start, Err((&taken, 1))),
        }
    }
    match attempt(agent, flags) {
        Ok(()) => finish(agent, start, Ok(())),
        Err(failure) => {
            // A dry run may go wrong beside a `provision` that does not.
            if !flags.dry_run || !running::is_live(agent.world, &agent.layout) {
                leave_result(agent, &failure.status);
            }
            finish(agent, start, Err((&failure.status.error, failure.exit_code)))
        }
    }
}

fn finish(agent: &mut Agent<'_>, start: SystemTime, result: Result<(), (&str, u8)>) -> u8 {
    agent.finished(Task::Provision, start, result.err().map(|(error, _)| error));
    result.err().map_or(0, |(_, exit_code)| exit_code)
}

/// From here on a signal ends in a report, too.
fn catch_signals(agent: &mut Agent<'_>) {
    if let Err(error) = agent.world.catch_signals() {
        let error = error.to_string();
        agent.warn("failed to catch signals", &[("error", Value::Text(&error))]);
    }
}

/// Makes this the only process that provisions. A machine on which that cannot be recorded is
/// provisioned all the same: the record serves those who wait, not the scripts.
fn claim(agent: &mut Agent<'_>) -> Result<(), String> {
    match running::claim(agent.world, &agent.layout) {
        Ok(Claim::Ours) => Ok(()),
        Ok(Claim::TakenBy(pid)) => {
            let by = pid.map_or_else(String::new, |pid| format!(" (pid {pid})"));
            Err(format!("another provision is already running{by}"))
        }
        Err(error) => {
            let error = error.to_string();
            agent.warn("failed to record this provision", &[("error", Value::Text(&error))]);
            Ok(())
        }
    }
}

/// A report without a sentinel is of an attempt that did not come to its end. It would be taken for
/// ours, so it makes room; with a sentinel, the node's bootstrap is over and nothing is touched.
fn move_stale_report_aside(agent: &mut Agent<'_>) {
    let (report, previous) = (agent.layout.at(REPORT), agent.layout.at(PREVIOUS_REPORT));
    if agent.world.kind(&agent.layout.at(SENTINEL)).is_ok() || agent.world.kind(&report).is_err() {
        return;
    }
    if let Err(error) = agent.world.rename(&report, &previous, Replace::Yes) {
        let error = path_error("rename", REPORT.as_ref(), &error);
        agent
            .warn("failed to move a stale provision.json aside", &[("error", Value::Text(&error))]);
    }
}

fn attempt(agent: &mut Agent<'_>, flags: &ProvisionFlags) -> Result<(), Failure> {
    let prepared = command::prepare(agent, flags)?;
    if flags.dry_run {
        agent.info("dry-run", &[("cmd", Value::Text(&prepared.shown))]);
        log_finished(agent, -1, ("", ""), None);
        return Ok(());
    }
    run(agent, &prepared, flags)
}

fn run(agent: &mut Agent<'_>, prepared: &Prepared, flags: &ProvisionFlags) -> Result<(), Failure> {
    if let Some(signal) = agent.world.caught_signal() {
        let error = format!("interrupted by {} before the scripts were started", signal.name());
        return Err(Failure::before_start(error));
    }
    let mut output = Output::new(&agent.redactor);
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
            "a process that the scripts left behind keeps their output open; not waiting for it",
            &[],
        );
    }
    let Some(error) = error else { return Ok(()) };
    let exit_code = match ended {
        Ok(_) => exit_code(code),
        Err(_) => 1,
    };
    let status = Box::new(status(code, error, format!("{out}\n{err}")));
    Err(Failure { status, exit_code })
}

/// The number in the report: the child's own; a signal counts as -1, as in the Go program. A
/// bootstrap that ended well although it was told to stop did not come to its end.
fn code_of(end: &ChildEnd) -> i32 {
    match (end.status, end.forwarded) {
        (ChildStatus::Exited(0), Some(signal)) => 128 + signal.number(),
        (ChildStatus::Exited(code), _) => code,
        (ChildStatus::Signaled { .. }, _) => -1,
    }
}

fn error_of(end: &ChildEnd) -> Option<String> {
    let interrupted = |signal: Signal| format!("interrupted by {}", signal.name());
    match (child_error(end.status), end.forwarded) {
        (error, None) => error,
        (None, Some(signal)) => Some(interrupted(signal)),
        (Some(error), Some(signal)) => Some(format!("{error} ({})", interrupted(signal))),
    }
}

/// What a shell would see.
fn exit_code(code: i32) -> u8 {
    u8::try_from(code).unwrap_or(u8::MAX)
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

fn status(code: i32, error: String, output: String) -> CseStatus {
    CseStatus { exit_code: code.to_string(), error, output, ..CseStatus::default() }
}

/// Leaves the report and then the sentinel, each where there is none.
fn leave_result(agent: &mut Agent<'_>, status: &CseStatus) {
    let redact = |text: &str| agent.redactor.redact(text).into_owned();
    let status = CseStatus {
        exit_code: status.exit_code.clone(),
        error: redact(&status.error),
        output: redact(&status.output),
        diagnosis: redact(&cause::sentence(status)),
        timings: status.timings.clone(),
    };
    for (fixed, error) in report::leave(agent.world, &agent.layout, &status) {
        let name = fixed.rsplit('/').next().unwrap_or(fixed);
        let error = path_error("open", fixed.as_ref(), &error);
        let attributes = [("path", Value::Text(fixed)), ("error", Value::Text(&error))];
        agent.error(&format!("failed to write {name} file"), &attributes);
    }
}

/// Leaves the result of a `provision` that never got as far as a log. Someone waits for it, unless a
/// living `provision` will leave one of its own.
pub(crate) fn leave_early_result(world: &mut dyn World, layout: &Layout, error: &str) {
    if !running::is_live(world, layout) {
        let mut status = status(NOT_STARTED, error.to_owned(), String::new());
        status.diagnosis = cause::sentence(&status);
        let _ = report::leave(world, layout, &status);
    }
}

/// Leaves the result of a `provision` that cannot say any more. Nobody is left to tell of a failure
/// to do so.
pub(crate) fn leave_last_result(world: &mut dyn World, layout: &Layout, error: &str) {
    let _ = report::leave(world, layout, &status(NOT_STARTED, error.to_owned(), String::new()));
}

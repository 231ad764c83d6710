//! Result of the bootstrap for the end that was seen.

use mooring_contract::CseStatus;

use super::evaluate::{Verdict, evaluate};
use super::outcome::WaitOutcome;
use crate::format::go_text::read_failure;
use crate::node::agent::Agent;
use crate::node::log::LogValue::Text;
use crate::node::paths::{BASE_PREP_SENTINEL, REPORT};
use crate::node::pid_file::{self, RunningAgent};
use crate::node::report;
use crate::provision::{NOT_STARTED, status};

/// The report's code for "the time is up", as the scripts use it.
const TIMED_OUT: i32 = 124;

/// Printed report, and its evaluation.
pub(super) struct Result {
    /// The report's bytes, without the line end that follows them.
    pub(super) printed: Vec<u8>,
    pub(super) verdict: Verdict,
}

pub(super) fn result(agent: &mut Agent<'_>, outcome: &WaitOutcome) -> Result {
    match outcome {
        WaitOutcome::Complete => complete(agent),
        WaitOutcome::BasePrepComplete => {
            let note = "base_prep.complete exists: an image was baked, no node is provisioned";
            agent.info(note, &[("path", Text(BASE_PREP_SENTINEL))]);
            let report = report::read_text(agent.world, &agent.layout);
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
    let report = report::read_text(agent.world, &agent.layout);
    let is_whole = report.as_ref().is_ok_and(|report| CseStatus::read(report).is_ok());
    if !is_whole
        && let Some(recorded) = pid_file::read(agent.world, &agent.layout).and_then(|r| r.report)
    {
        agent.warn(
            "provision.json cannot be read; the result is that of the run directory",
            &[("path", Text(REPORT))],
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
fn ended(agent: &Agent<'_>, running: &RunningAgent) -> Result {
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
    let status = status(code, error.to_owned(), String::new());
    let verdict =
        Verdict { error: Some(error.to_owned()), exit_code: u8::try_from(code).unwrap_or(1) };
    Result { printed: status.to_json().into_bytes(), verdict }
}

//! Files in which a run leaves its result.

use mooring_contract::CseStatus;

use super::cause;
use super::failure::{Failure, NOT_STARTED, status};
use crate::format::go_text::path_error;
use crate::node::agent::Agent;
use crate::node::log::LogValue::Text;
use crate::node::paths::{Layout, REPORT, RUN_RECORD};
use crate::node::pid_file::{self, RunningAgent};
use crate::node::report;
use crate::world::World;

/// Writes the result of a failed run: in the record of this boot, and for later boots the report and the sentinel.
pub(super) fn leave_failure(
    agent: &mut Agent<'_>,
    failure: &Failure,
    record: Option<&mut RunningAgent>,
) {
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
        let attributes = [("path", Text(fixed)), ("error", Text(&error))];
        agent.error(&format!("failed to write {name} file"), &attributes);
    }
}

/// Writes the result of a successful run, if the scripts have not, for example because of a full disk.
pub(super) fn leave_success(agent: &mut Agent<'_>, record: Option<&mut RunningAgent>) {
    let status = status(0, String::new(), String::new());
    leave_record(agent, record, &status);
    if report::is_torn(agent.world, &agent.layout) {
        let _ = report::replace(agent.world, &agent.layout.at(REPORT), status.to_json().as_bytes());
    }
}

/// Records the result for those who wait in this boot; true if that worked.
fn leave_record(
    agent: &mut Agent<'_>,
    record: Option<&mut RunningAgent>,
    status: &CseStatus,
) -> bool {
    let Some(record) = record else { return false };
    let written = record.ended(agent.world, &agent.layout, status.to_json());
    if let Err(error) = &written {
        let error = path_error("open", RUN_RECORD.as_ref(), error);
        agent.warn("failed to record the result", &[("error", Text(&error))]);
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

//! Results of an earlier run on this node.
//!
//! The image's scripts do nothing where they find the sentinel, and report success. So a run that failed and left one is
//! not followed by another until an operator removes it.

use super::failure::{Failure, NOT_STARTED, exit_code, status};
use crate::format::go_text::path_error;
use crate::node::agent::Agent;
use crate::node::log::LogValue::Text;
use crate::node::paths::{PREVIOUS_REPORT, REPORT, SENTINEL};
use crate::node::report;
use crate::world::Replace;

/// Clears an earlier result, unless that run failed permanently. Its report is then kept as the result of this run.
pub(super) fn check(agent: &mut Agent<'_>) -> Result<(), Failure> {
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

pub(super) fn has_sentinel(agent: &mut Agent<'_>) -> bool {
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
pub(super) fn withdraw_sentinel(agent: &mut Agent<'_>) {
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

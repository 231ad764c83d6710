//! Waits, prints the report and returns its exit code.

use std::time::Duration;

use mooring_contract::CseStatus;
use mooring_contract::cse_status::EXTENSION_WINDOW;
use mooring_contract::json::lossy;

use super::evaluate::Verdict;
use super::outcome::wait;
use super::result::{Result, result};
use crate::format::event::Task;
use crate::hotfix;
use crate::node::agent::Agent;
use crate::node::log::LogValue::Text;
use crate::node::report_redaction::redact_report;
use crate::node::secrets;
use crate::provision::cause;
use crate::world::Stream;

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
    agent.info("provision-wait finished", &[("provisionOutput", Text(&shown))]);
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

//! A test of notification hooks.

use jiff::Timestamp;
use mooring_controller::notify::{RunNotification, RunState};
use mooring_workflow::published::ClusterIdentity;

use super::check::{CheckState, DoctorCheck};
use crate::workflows::runs::Hooks;

/// Sends a test to every hook of the environment.
pub(super) async fn send_test(cluster: Option<&ClusterIdentity>) -> Vec<DoctorCheck> {
    let check = |state, message: String| {
        DoctorCheck::new("config", "send-test", state, message).used_by(&["repair", "finalizers"])
    };
    let hooks = match Hooks::from_environment() {
        Ok(hooks) => hooks,
        Err(why) => {
            let why = why.lines().next().unwrap_or_default();
            return vec![check(CheckState::Failed, format!("no hook can be notified: {why}"))];
        }
    };
    let sent = hooks.send(&test(cluster)).await;
    if sent.is_empty() {
        let message = "no hook to test: MOORING_NOTIFY is not set".to_owned();
        return vec![check(CheckState::Skipped, message)];
    }
    let checks = sent.into_iter().map(|(hook, result)| match result {
        Ok(()) => check(CheckState::Ok, format!("hook {hook} accepted a test")),
        Err(why) => check(CheckState::Failed, format!("hook {hook} did not accept a test: {why}")),
    });
    checks.collect()
}

fn test(cluster: Option<&ClusterIdentity>) -> RunNotification {
    let cluster = cluster.cloned().unwrap_or_default();
    let now = Timestamp::now();
    RunNotification {
        cluster: serde_json::to_value(cluster).unwrap_or_default(),
        workflow: None,
        subject: None,
        run_id: "test".to_owned(),
        state: RunState::Test,
        started_at: now,
        ended_at: Some(now),
        message: "This is a test of the hooks by `mooring doctor --send-test`.".to_owned(),
        next: Vec::new(),
    }
}

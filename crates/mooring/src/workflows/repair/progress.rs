//! Progress of a repair.

use jiff::Timestamp;
use mooring_repair::plan::Step;
use mooring_repair::runtime::Operator;
use mooring_repair::workflow::{Decision, Run};
use mooring_workflow::published::ClusterIdentity;
use mooring_workflow::{Effect as _, Phase, Step as _};

use crate::workflows::runs::{
    Notices, ProgressEvent, ProgressLine, ProgressOutput, RunSubject, journal_flag,
};

/// Returns the progress of a run, which also notifies hooks. `what` is what the command does with the pool.
pub(super) async fn new_progress(operator: &mut Operator, what: &str) -> ProgressOutput {
    let subject = async {
        let cluster = operator.identity().await;
        let settings = operator.settings();
        let pool = settings.target.pool.clone();
        let what = format!("{what} pool {pool}");
        let flags = format!(" --pool {pool}{}", journal_flag(&settings.journal));
        let named = cluster.name.or_else(|| Some(settings.target.cluster.clone()));
        let cluster = ClusterIdentity { name: named, ..cluster };
        RunSubject { cluster, workflow: "repair", name: pool, what, flags }
    };
    ProgressOutput::new(Notices::new(subject).await)
}

pub(crate) fn show_progress(
    progress: &mut ProgressOutput,
    state: &Run,
    action: &Decision,
    now: Timestamp,
) {
    progress.start(&state.id);
    let (event, text) = match action {
        Decision::Apply(effect) => (ProgressEvent::Change, effect.key()),
        Decision::Wait { why, .. } => (ProgressEvent::Wait, format!("waiting {why}")),
        Decision::Done(evidence) => (ProgressEvent::Done, evidence.join("; ")),
        Decision::Stop(stop) => (ProgressEvent::Stop, format!("stopping: {}", stop.message)),
        Decision::Record(_) | Decision::Refresh | Decision::Finish(..) => return,
    };
    let step = state.step().filter(|_| state.phase != Phase::Aborting);
    progress.show(&ProgressLine {
        position: step
            .map_or_else(String::new, |step| format!("{}/{}", step.number(), Step::ALL.len())),
        step: step.map_or("rollback", |step| step.name()),
        event,
        seconds: now.duration_since(state.step_since()).as_secs(),
        expected_seconds: step.map(Step::expected_seconds),
        text: &text,
    });
}

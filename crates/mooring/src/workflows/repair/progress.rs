//! Progress of a repair.

use jiff::Timestamp;
use mooring_repair::runtime::Operator;
use mooring_repair::workflow::{Decision, Run};
use mooring_workflow::Effect as _;
use mooring_workflow::published::ClusterIdentity;

use crate::workflows::runs::{Notices, ProgressOutput, RunSubject, journal_flag};

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
    progress.show_decision(state, action, now, "rollback", |decision| match decision {
        Decision::Apply(effect) => Some(effect.key()),
        _ => None,
    });
}

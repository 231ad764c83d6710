//! Progress of a repair.

use mooring_repair::runtime::{CommandResult, Operator, Watcher};
use mooring_repair::workflow::Decision;
use mooring_workflow::Effect as _;
use mooring_workflow::published::ClusterIdentity;

use super::exit;
use super::formats::RunOutput;
use super::session::RepairSession;
use crate::output::failure::CommandFailure;
use crate::workflows::runs::{
    Notices, ProgressOutput, RunSubject, Signals, journal_flag, print_once,
};

impl RepairSession<'_> {
    /// Drives a run until it stops, shows its progress, and prints its report. `what` is what the command does with the
    /// pool.
    pub(crate) async fn drive(
        &mut self,
        signals: Signals,
        what: &str,
        output: &RunOutput,
        run: impl AsyncFnOnce(&mut Operator, Watcher<'_>, &mut dyn FnMut(&str)) -> CommandResult,
    ) -> Result<u8, CommandFailure> {
        let mut progress = new_progress(&mut self.operator, what).await;
        let mut say = print_once();
        // The future is large.
        let run = Box::pin(run(&mut self.operator, watcher(&mut progress), &mut say));
        let ending = signals.run(run, CommandResult::Resumable).await;
        progress.end();
        let done = exit::end(self, ending, output).await;
        progress.notify_end(&done).await;
        done
    }
}

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

/// Returns the watcher that shows the decisions of a run.
pub(crate) fn watcher(progress: &mut ProgressOutput) -> Watcher<'_> {
    Box::new(|run, decision, now| {
        progress.show_decision(run, decision, now, "rollback", |decision| match decision {
            Decision::Apply(effect) => Some(effect.key()),
            _ => None,
        });
    })
}

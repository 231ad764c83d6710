//! Progress of a repair.

use mooring_repair::runtime::{CommandResult, Operator, Watcher};

use super::exit;
use super::formats::RunOutput;
use super::session::RepairSession;
use crate::output::failure::CommandFailure;
use crate::workflows::runs::{ProgressOutput, Signals, print_once};

impl RepairSession<'_> {
    /// Drives a run until it stops, shows its progress, and prints its report.
    pub(crate) async fn drive(
        &mut self,
        signals: Signals,
        output: &RunOutput,
        run: impl AsyncFnOnce(&mut Operator, Watcher<'_>, &mut dyn FnMut(&str)) -> CommandResult,
    ) -> Result<u8, CommandFailure> {
        let mut progress = ProgressOutput::new();
        let mut say = print_once();
        // The future is large.
        let run = Box::pin(run(&mut self.operator, watcher(&mut progress), &mut say));
        let ending = signals.run(run, CommandResult::Resumable).await;
        progress.end();
        exit::end(self, ending, output).await
    }
}

/// Returns the watcher that shows the decisions of a run.
pub(crate) fn watcher(progress: &mut ProgressOutput) -> Watcher<'_> {
    Box::new(|run, decision, now| {
        progress.show_decision(run, decision, now, "rollback");
    })
}

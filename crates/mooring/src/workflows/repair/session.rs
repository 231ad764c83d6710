//! The operator of a command, and the flags that select it.

use mooring_repair::runtime::{CommandResult, Operator, Watcher};

use super::arguments::TargetArguments;
use super::exit;
use super::formats::RunOutput;
use super::progress::{new_progress, show_progress};
use crate::output::failure::CommandFailure;
use crate::workflows::runs::{ReadLimit, Signals, confirm, confirm_protected, print_once};

pub(crate) struct RepairSession<'a> {
    pub(crate) operator: Operator,
    pub(crate) target: &'a TargetArguments,
    /// The context whose changes are confirmed on a terminal, also if flags approve them.
    pub(crate) protected: Option<&'a str>,
    pub(crate) limit: Option<ReadLimit>,
}

impl RepairSession<'_> {
    /// Returns the flags of a further command on the same pool.
    pub(crate) fn flags(&self) -> String {
        self.target.repeated(&self.operator.settings().target.pool)
    }

    /// Prompts for `CLUSTER/POOL`.
    pub(crate) fn ask(&self, unattended: &str) -> Result<(), CommandFailure> {
        confirm(&self.typed_name(), &format!("mooring repair {unattended}"))
    }

    /// Prompts for `CLUSTER/POOL` although flags approve the change, if its context is protected.
    pub(crate) fn ask_protected(&self) -> Result<(), CommandFailure> {
        self.protected.map_or(Ok(()), |context| confirm_protected(&self.typed_name(), context))
    }

    fn typed_name(&self) -> String {
        let target = &self.operator.settings().target;
        format!("{}/{}", target.cluster, target.pool)
    }

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
        let watcher: Watcher<'_> =
            Box::new(|state, action, now| show_progress(&mut progress, state, action, now));
        let mut say = print_once();
        // The future is large.
        let run = Box::pin(run(&mut self.operator, watcher, &mut say));
        let ending = signals.run(run, CommandResult::Resumable).await;
        progress.end();
        let done = exit::end(self, ending, output).await;
        progress.notify_end(&done).await;
        done
    }
}

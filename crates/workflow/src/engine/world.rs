//! Everything outside the process, as a trait.

use std::rc::Rc;

use jiff::Timestamp;
use thiserror::Error;

use super::workflow::Workflow;
use crate::engine::decision::{Decision, Stop};
use crate::journal::{Record, Run};
use crate::model::effect::EffectResult;

pub type Clock = Rc<dyn Fn() -> Timestamp>;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AppendError {
    /// Another process continued the journal: stop at once.
    #[error("lock lost: another process took over this run")]
    LostLock,
    #[error("failed to write the journal: {0}")]
    Unavailable(String),
}

/// Reads, effects, the journal's store and the clock.
///
/// Dropping a future must be like killing the process: nothing runs afterward.
#[expect(async_fn_in_trait, reason = "one task drives a run; nothing goes to another thread")]
pub trait World<W: Workflow> {
    fn now(&self) -> Timestamp;
    async fn sleep_until(&mut self, until: Timestamp);
    /// Reads. A failure is a result as well.
    async fn read(&mut self, query: &W::Query) -> W::Answer;
    async fn perform(&mut self, effect: &W::Effect) -> EffectResult;
    /// Stores the run after a change durably, unless another process has stored it since.
    async fn append(&mut self, record: &Record<W>, run: &Run<W>) -> Result<(), AppendError>;
    /// Returns true if the run must stop where it can be resumed.
    fn interrupted(&self) -> bool;
    /// Returns the reason why reads are no longer valid.
    fn halted(&self) -> Option<Stop<W>> {
        None
    }
    fn progress(&mut self, run: &Run<W>, decision: &Decision<W>);
}

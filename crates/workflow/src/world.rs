//! Everything outside the process, as a trait.

use std::rc::Rc;

use jiff::Timestamp;
use thiserror::Error;

use crate::decision::{Decision, Stop};
use crate::effect::EffectResult;
use crate::journal::{Entry, Record, Run};
use crate::workflow::Workflow;

pub type Clock = Rc<dyn Fn() -> Timestamp>;

/// Why a record could not be written.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AppendError {
    /// Another process continued the journal: nothing more may be done.
    #[error("lock lost: another process took over this run")]
    LostLock,
    /// The store is not available.
    #[error("the journal cannot be written: {0}")]
    Unavailable(String),
}

/// What the engine needs: reads, effects, the journal's store and the clock.
///
/// Dropping a future in the middle must be like killing the process: nothing runs afterwards.
#[expect(async_fn_in_trait, reason = "one task drives a run; nothing goes to another thread")]
pub trait World<W: Workflow> {
    fn now(&self) -> Timestamp;
    async fn sleep_until(&mut self, until: Timestamp);
    /// Reads. Never fails: an answer can be that nothing is known.
    async fn read(&mut self, query: &W::Query) -> W::Answer;
    async fn perform(&mut self, effect: &W::Effect) -> EffectResult;
    /// Writes a record, durably, unless the journal has grown since the last one.
    async fn append(&mut self, record: &Record<Entry<W>>) -> Result<(), AppendError>;
    /// Returns true if the run must stop where it can be resumed.
    fn interrupted(&self) -> bool {
        false
    }
    /// Returns why nothing that is read counts any more.
    fn halted(&self) -> Option<Stop<W>> {
        None
    }
    /// Shows what comes next.
    fn progress(&mut self, run: &Run<W>, decision: &Decision<W>);
}

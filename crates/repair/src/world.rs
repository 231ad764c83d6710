//! Everything outside the process, behind one seam.

use jiff::Timestamp;
use thiserror::Error;

use crate::effects::{Effect, EffectResult};
use crate::journal::Record;
use crate::machine::{Action, State};
use crate::observation::{Answer, Query};

/// Why a record could not be written.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AppendError {
    /// Somebody else continued the journal: the lock was lost, and nothing more may be done.
    #[error("somebody else took the run over")]
    LostLock,
    /// The store does not answer.
    #[error("the journal cannot be written: {0}")]
    Unavailable(String),
}

/// What the driver needs: Azure, Kubernetes, the journal's store and the clock.
///
/// Dropping a future in the middle must be like killing the process: nothing runs afterwards.
#[expect(async_fn_in_trait, reason = "one task drives a run; nothing goes to another thread")]
pub trait World {
    /// The time.
    fn now(&self) -> Timestamp;
    /// Waits until then.
    async fn sleep_until(&mut self, until: Timestamp);
    /// Answers a question. Never fails: an answer can be that there is none.
    async fn observe(&mut self, query: &Query) -> Answer;
    /// Makes a change.
    async fn perform(&mut self, effect: &Effect) -> EffectResult;
    /// Writes a record, durably, unless the journal has grown meanwhile.
    async fn append(&mut self, record: &Record) -> Result<(), AppendError>;
    /// Tells a person what comes next.
    fn progress(&mut self, state: &State, action: &Action);
}

//! What a step asks for.

use jiff::Timestamp;
use mooring_workflow::{Stop, StopKind};

use crate::effects::Effect;
use crate::observation::Query;
use crate::workflow::{Decision, Fact, Finish, Reason, RepairRun as _, Run};

/// Exactly one thing to do.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Action {
    Observe(Query),
    Effect(Effect),
    /// Nothing before this instant.
    Wait {
        until: Timestamp,
        why: String,
    },
    /// Write a fact down.
    Record(Fact),
    /// The run stops before its end; `over` says how it ended if it cannot be resumed.
    Stop {
        over: Option<Finish>,
        reason: Reason,
        message: String,
    },
}

impl Action {
    pub(crate) fn resumable(reason: Reason, message: String) -> Self {
        Self::Stop { over: None, reason, message }
    }

    pub(crate) fn refused(reason: Reason, message: String) -> Self {
        Self::Stop { over: Some(Finish::Refused), reason, message }
    }

    pub(crate) fn nothing(reason: Reason, message: String) -> Self {
        Self::Stop { over: Some(Finish::NothingToDo), reason, message }
    }

    /// The decision; a read that is missing waits for it.
    pub(crate) fn decision(self, run: &Run, now: Timestamp) -> Decision {
        match self {
            Self::Observe(_) => Decision::Wait { until: now, why: "for a read".to_owned() },
            Self::Effect(effect) => Decision::Apply(Box::new(effect)),
            Self::Wait { until, why } => Decision::Wait { until, why },
            Self::Record(fact) => Decision::Record(Box::new(fact)),
            Self::Stop { over, reason, message } => {
                let kind = match over {
                    None => StopKind::Resumable,
                    Some(finish) => {
                        let mut left = run.losses_with_abort();
                        left.push(message.clone());
                        StopKind::Finished(finish, left)
                    }
                };
                Decision::Stop(Stop { kind, reason, message })
            }
        }
    }
}

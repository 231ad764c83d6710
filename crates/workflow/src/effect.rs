//! Changes as data, and their results.

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use crate::approval::Approval;
use crate::document::Document;

/// A change of something outside the process.
pub trait Effect: Document {
    /// Names the effect and its object, regardless of the attempt.
    fn key(&self) -> String;

    /// The approval that it requires.
    fn authority(&self) -> Authority;

    /// What a result means; none if it is not a refusal.
    fn refusal(&self, result: &EffectResult) -> Option<Refusal> {
        result.refusal()
    }
}

/// The approval that an effect requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authority {
    Approved,
    /// An approved plan or a rollback.
    Rollback,
    /// None: it takes nothing away.
    Harmless,
}

impl Authority {
    /// Returns true if a process with this approval may make the effect.
    pub fn is_given_by(self, approval: &Approval) -> bool {
        match approval {
            Approval::Token(_)
            | Approval::Typed(_)
            | Approval::Pipeline(_)
            | Approval::Anchored(_) => true,
            Approval::Rollback => self != Self::Approved,
            Approval::None => self == Self::Harmless,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "kebab-case")]
pub enum EffectResult {
    Done,
    /// It was accepted and is in progress.
    Started {
        /// Finds the operation again from any host.
        token: String,
    },
    /// It was done before.
    AlreadyDone,
    /// The service rejected it.
    Refused {
        status: u16,
        /// The service's error code.
        code: String,
        /// The service's message, bounded.
        message: String,
        /// The pause that the service asks for.
        retry_after: Option<SignedDuration>,
    },
    /// The response was lost: only reading shows whether it was done.
    Unknown {
        why: String,
    },
}

/// What a refusal means for the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    Later,
    /// The state was not as expected: read again.
    ReadAgain,
    /// Trying again does not help.
    Final,
}

impl EffectResult {
    /// What a refusal means by its status; none if it is not a refusal.
    pub fn refusal(&self) -> Option<Refusal> {
        match self {
            Self::Refused { status, .. } => Some(match status {
                408 | 429 | 500..=599 => Refusal::Later,
                // 404 as well: the object was deleted, which reading shows.
                404 | 409 | 410 | 412 => Refusal::ReadAgain,
                _ => Refusal::Final,
            }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusal_depends_on_the_status() {
        let of = |status| {
            let (code, message) = (String::new(), String::new());
            EffectResult::Refused { status, code, message, retry_after: None }.refusal()
        };
        for status in [408, 429, 500, 503, 599] {
            assert_eq!(of(status), Some(Refusal::Later), "{status}");
        }
        for status in [404, 409, 410, 412] {
            assert_eq!(of(status), Some(Refusal::ReadAgain), "{status}");
        }
        for status in [400, 401, 403, 405, 422, 600] {
            assert_eq!(of(status), Some(Refusal::Final), "{status}");
        }
        assert_eq!(EffectResult::Done.refusal(), None);
    }

    #[test]
    fn only_an_approved_plan_allows_everything() {
        let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let approved = Approval::Typed(hash.parse().unwrap());
        let all = [Authority::Approved, Authority::Rollback, Authority::Harmless];
        let allowed = |approval: &Approval| all.map(|one| one.is_given_by(approval));
        assert_eq!(allowed(&approved), [true, true, true]);
        assert_eq!(allowed(&Approval::Rollback), [false, true, true]);
        assert_eq!(allowed(&Approval::None), [false, false, true]);
    }
}

//! Results of changes, the approval that a change requires, and copies of objects.

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use crate::approval::Approval;
use crate::canonical;

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
    /// Returns true if a process with this approval may perform the effect.
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
    /// Accepted and in progress.
    Started {
        /// Identifies the operation from any host.
        token: String,
    },
    AlreadyDone,
    /// The service rejected it.
    Refused {
        status: u16,
        /// The service's error code.
        code: String,
        /// The service's message, truncated.
        message: String,
        /// The pause that the service requires.
        retry_after: Option<SignedDuration>,
    },
    /// The response was lost: only a read shows whether it was done.
    Unknown {
        why: String,
    },
}

/// A copy of an object. A stored run has its hash only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backup {
    pub hash: String,
    #[serde(skip)]
    pub text: String,
}

impl Backup {
    #[must_use]
    pub fn new(text: String) -> Self {
        Self { hash: canonical::hash_bytes(text.as_bytes()), text }
    }
}

/// Continuation of a run after a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    Later,
    /// The state was not as expected: read again.
    ReadAgain,
    /// Retries do not help.
    Final,
}

impl EffectResult {
    #[must_use]
    pub fn refused(status: u16, code: &str, message: impl Into<String>) -> Self {
        Self::Refused { status, code: code.to_owned(), message: message.into(), retry_after: None }
    }

    /// Returns the result of the removal of an object: done if it does not exist.
    #[must_use]
    pub fn or_gone(self) -> Self {
        match self {
            Self::Refused { status: 404, .. } => Self::AlreadyDone,
            result => result,
        }
    }

    /// Classifies a refusal by its status; none if the result is not one.
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
    fn approved_plan_allows_everything_and_others_do_not() {
        let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let approved = Approval::Typed(hash.parse().unwrap());
        let all = [Authority::Approved, Authority::Rollback, Authority::Harmless];
        let allowed = |approval: &Approval| all.map(|one| one.is_given_by(approval));
        assert_eq!(allowed(&approved), [true, true, true]);
        assert_eq!(allowed(&Approval::Rollback), [false, true, true]);
        assert_eq!(allowed(&Approval::None), [false, false, true]);
    }
}

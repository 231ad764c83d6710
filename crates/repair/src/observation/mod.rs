//! What was read from Azure and Kubernetes at one instant, as types of our own.
//!
//! Everything is built from raw JSON, leniently: an entry that lacks what makes it an entry is skipped, and
//! a member that is absent stays absent instead of becoming a zero. A query that could not be answered is
//! a [`Reading`] that says why, so that a missing permission ends as *unknown* and never as *healthy*.

mod azure;
mod budgets;
mod error_codes;
mod json;
mod kubernetes;
mod pool;
mod seen;

pub use azure::{ActivityEvent, Addresses, Cluster, Instance, Nic, Operation, ScaleSet, Status};
pub use budgets::{Hold, Pdb, Selector};
pub use error_codes::{ErrorTexts, carries, codes};
pub use kubernetes::{Controller, Node, Pod, Replicas, stranger};
pub(crate) use pool::is_windows;
pub use pool::{Pool, pool_name_of_id};
pub use seen::{Answer, Query, Seen};

use serde_json::Value;

/// The result of one query.
#[derive(Debug, Clone, PartialEq)]
pub enum Reading<T> {
    /// What the service answered.
    Known(T),
    /// The service says that there is no such thing.
    NotFound,
    /// We may not ask; the text is the service's error code.
    Denied(String),
    /// The service was asked too often, and is to be asked later; the text is its error.
    Throttled(String),
    /// No usable answer; the text says why.
    Failed(String),
}

impl<T> Reading<T> {
    /// What follows from the value, if it is known.
    pub fn map<U>(&self, what: impl FnOnce(&T) -> U) -> Reading<U> {
        match self {
            Self::Known(value) => Reading::Known(what(value)),
            Self::NotFound => Reading::NotFound,
            Self::Denied(code) => Reading::Denied(code.clone()),
            Self::Throttled(why) => Reading::Throttled(why.clone()),
            Self::Failed(why) => Reading::Failed(why.clone()),
        }
    }

    /// The value, if it is known.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            _ => None,
        }
    }

    /// The value, or none if there is no such thing; what says neither is told on.
    pub(crate) fn found<U>(self) -> Result<Option<T>, Reading<U>> {
        match self {
            Self::Known(value) => Ok(Some(value)),
            Self::NotFound => Ok(None),
            Self::Denied(code) => Err(Reading::Denied(code)),
            Self::Throttled(why) => Err(Reading::Throttled(why)),
            Self::Failed(why) => Err(Reading::Failed(why)),
        }
    }

    /// Why there is no value, in words for a person.
    pub fn missing(&self) -> Option<String> {
        match self {
            Self::Known(_) => None,
            Self::NotFound => Some("not found".to_owned()),
            Self::Denied(code) => Some(format!("not permitted ({code})")),
            Self::Throttled(why) => Some(format!("may be read later only ({why})")),
            Self::Failed(why) => Some(format!("could not be read ({why})")),
        }
    }

    /// The answer of an HTTP service: `parse` sees the body of a success.
    ///
    /// The status decides, not the body's shape: one of Azure's services wraps its errors in `error`,
    /// another does not.
    pub fn of_response(status: u16, body: &Value, parse: impl FnOnce(&Value) -> Option<T>) -> Self {
        let code = || codes(body).into_iter().next().unwrap_or_else(|| format!("HTTP {status}"));
        match status {
            200..=299 => parse(body)
                .map_or_else(|| Self::Failed("unreadable answer".to_owned()), Self::Known),
            404 => Self::NotFound,
            401 | 403 => Self::Denied(code()),
            _ => Self::Failed(code()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_status_decides_what_an_answer_means() {
        let read = |status, body| Reading::of_response(status, &body, |b: &Value| b["n"].as_i64());
        assert_eq!(read(200, json!({"n": 1})), Reading::Known(1));
        assert_eq!(read(299, json!({"n": 1})), Reading::Known(1));
        assert_eq!(read(200, json!({})), Reading::Failed("unreadable answer".into()));
        assert_eq!(read(404, json!({"code": "NotFound"})), Reading::NotFound);
        assert_eq!(
            read(403, json!({"error": {"code": "AuthorizationFailed"}})),
            Reading::Denied("AuthorizationFailed".into())
        );
        assert_eq!(read(401, json!(null)), Reading::Denied("HTTP 401".into()));
        for status in [409, 429, 500] {
            assert_eq!(read(status, json!({})), Reading::Failed(format!("HTTP {status}")));
        }
        assert_eq!(read(400, json!({"code": "Bad"})), Reading::Failed("Bad".into()));
    }

    #[test]
    fn what_is_missing_says_why() {
        assert_eq!(Reading::Known(1).missing(), None);
        assert_eq!(Reading::<()>::NotFound.missing().unwrap(), "not found");
        assert!(Reading::<()>::Denied("X".into()).missing().unwrap().contains('X'));
        assert!(Reading::<()>::Failed("Y".into()).missing().unwrap().contains('Y'));
        assert_eq!(Reading::Known(1).known(), Some(&1));
        assert_eq!(Reading::<()>::NotFound.known(), None);
    }
}

//! Approvals of a plan, and the token that an operator passes.

use std::fmt;
use std::str::FromStr;

use jiff::fmt::strtime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::plan_hash::{ApprovalError, PlanHash};

/// Time after planning within which a run may start.
pub const APPROVAL_TTL: SignedDuration = SignedDuration::from_hours(1);

const TIME: &str = "%Y%m%dT%H%M%SZ";

/// The authority by which a process executes a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", content = "plan", rename_all = "kebab-case")]
pub enum Approval {
    /// The operator passed the plan's token.
    Token(ApprovalToken),
    /// The operator typed the name of what is changed.
    Typed(PlanHash),
    /// A pipeline approved a plan that it created itself, and all of whose checks pass.
    Pipeline(PlanHash),
    /// The tag on the temporary pool vouches for an earlier approval.
    Anchored(PlanHash),
    /// A request to roll back: nothing is created, and only resources with the run's own tags are deleted.
    Rollback,
    /// Only harmless effects are allowed.
    None,
}

/// `20261115T113000Z.HASH`: approves the plan with this hash and expiry.
///
/// The expiry is part of the hashed document. A token whose time was changed is the hash of another plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalToken {
    /// The end of the approval, in whole seconds.
    pub expires: Timestamp,
    pub hash: PlanHash,
}

impl ApprovalToken {
    /// Returns the expiry of a plan that is created now.
    pub fn expiry(now: Timestamp) -> Timestamp {
        let second = Timestamp::from_second(now.as_second()).unwrap_or(now);
        second.checked_add(APPROVAL_TTL).unwrap_or(second)
    }

    /// Returns true if no run may start with it: it has expired, or expires later than any plan does.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires <= now || self.expires.duration_since(now) > APPROVAL_TTL
    }
}

impl fmt::Display for ApprovalToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.expires.strftime(TIME), self.hash)
    }
}

impl FromStr for ApprovalToken {
    type Err = ApprovalError;

    fn from_str(text: &str) -> Result<Self, ApprovalError> {
        let (time, hash) = text.split_once('.').ok_or(ApprovalError::Token)?;
        let expires = strtime::parse(TIME, time)
            .and_then(|parsed| parsed.to_datetime())
            .and_then(|time| time.to_zoned(TimeZone::UTC))
            .map_err(|_| ApprovalError::Token)?
            .timestamp();
        let token = Self { expires, hash: hash.parse()? };
        // Other spellings of the same time are rejected.
        if token.to_string() == text { Ok(token) } else { Err(ApprovalError::Token) }
    }
}

impl Serialize for ApprovalToken {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ApprovalToken {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const HASH: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn token_has_one_text() {
        let text = format!("20261115T113000Z.{HASH}");
        let token: ApprovalToken = text.parse().unwrap();
        assert_eq!(token.expires, "2026-11-15T11:30:00Z".parse().unwrap());
        assert_eq!(token.to_string(), text);
        assert_eq!(serde_json::to_value(&token).unwrap(), json!(text));
        assert_eq!(serde_json::from_value::<ApprovalToken>(json!(text)).unwrap(), token);
    }

    #[test]
    fn malformed_tokens_are_rejected() {
        let upper = HASH.to_uppercase();
        for text in [
            String::new(),
            HASH.to_owned(),
            format!("20261115T113000Z{HASH}"),
            format!("20261115T113000Z.{}", &HASH[1..]),
            format!("20261115T113000Z.{HASH}0"),
            format!("20261115T113000Z.{upper}"),
            format!("20261115T113000.{HASH}"),
            format!("20261115T113000+01.{HASH}"),
            format!("+20261115T113000Z.{HASH}"),
            format!(" 20261115T113000Z.{HASH}"),
            format!("2026-11-15T11:30:00Z.{HASH}"),
            format!("20261315T113000Z.{HASH}"),
            format!("20261115T113000Z.{HASH}\n"),
        ] {
            assert!(text.parse::<ApprovalToken>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn approval_lasts_one_hour_and_never_longer() {
        let now: Timestamp = "2026-11-15T11:30:00.7Z".parse().unwrap();
        let expires = ApprovalToken::expiry(now);
        assert_eq!(expires, "2026-11-15T12:30:00Z".parse().unwrap());
        let token = ApprovalToken { expires, hash: HASH.parse().unwrap() };
        assert!(!token.is_expired(now));
        assert!(!token.is_expired("2026-11-15T12:29:59Z".parse().unwrap()));
        assert!(token.is_expired(expires));
        assert!(!token.is_expired("2026-11-15T11:30:00Z".parse().unwrap()));
        // No plan expires that late.
        assert!(token.is_expired("2026-11-15T11:29:59Z".parse().unwrap()));
    }
}

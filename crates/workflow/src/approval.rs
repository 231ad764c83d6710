//! Approval of a plan: its hash, and an expiry for the start of a run.

use std::fmt;
use std::str::FromStr;

use jiff::fmt::strtime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

use crate::canonical;

/// Hexadecimal digits of a SHA-256.
const DIGITS: usize = 64;

/// A text that is not an approval token or plan hash.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ApprovalError {
    #[error("an approval has the form 20261115T113000Z.HASH, as `plan` prints it")]
    Token,
    #[error("a plan hash has {DIGITS} lowercase hexadecimal digits")]
    Hash,
}

/// SHA-256 of a plan document: 64 lowercase hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct PlanHash(String);

impl PlanHash {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PlanHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for PlanHash {
    type Err = ApprovalError;

    fn from_str(text: &str) -> Result<Self, ApprovalError> {
        let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        (text.len() == DIGITS && text.bytes().all(digit))
            .then(|| Self(text.to_owned()))
            .ok_or(ApprovalError::Hash)
    }
}

impl TryFrom<String> for PlanHash {
    type Error = ApprovalError;

    fn try_from(text: String) -> Result<Self, ApprovalError> {
        text.parse()
    }
}

/// Returns the hash of a document's canonical JSON.
///
/// Serialization fails only for maps whose keys are not strings, which no plan has.
pub fn hash_document(document: &impl Serialize) -> PlanHash {
    PlanHash(canonical::hash(&serde_json::to_value(document).unwrap_or_default()))
}

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

    #[test]
    fn document_hash_is_that_of_its_canonical_json() {
        let one = json!({"b": 1, "a": [true]});
        let other: serde_json::Value = serde_json::from_str(r#"{ "a": [true], "b": 1 }"#).unwrap();
        assert_eq!(hash_document(&one), hash_document(&other));
        assert_eq!(hash_document(&one).as_str(), canonical::hash(&one));
        assert_ne!(hash_document(&one), hash_document(&json!({"b": 2, "a": [true]})));
    }

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

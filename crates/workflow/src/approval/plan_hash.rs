use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::canonical;

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
}

//! Errors of failed writes and direct checks that define a wedge, from a file or built in.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::observation::ErrorTexts;

const SCHEMA: &str = "mooring.signatures/v1";
const BUILT_IN: &str = include_str!("../signatures/default.yaml");
/// Limits of a file, which is part of every plan.
const MAX_ENTRIES: usize = 16;
const MAX_TEXT: usize = 512;
/// Shorter parts occur in unrelated messages.
const MIN_MESSAGE: usize = 12;
/// Generic codes that wrap the actual error.
const WRAPPERS: [&str; 4] =
    ["ResourceOperationFailure", "ResourceDeploymentFailure", "DeploymentFailed", "Conflict"];

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Signatures {
    /// `mooring.signatures/v1`
    pub schema: String,
    /// Each can show a wedge.
    pub signatures: Vec<Signature>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Signature {
    pub name: String,
    #[serde(default)]
    pub description: String,
    /// Errors of failed writes; one is enough.
    #[serde(default)]
    pub errors: Vec<ErrorPattern>,
    /// Direct checks without counting; one is enough.
    #[serde(default)]
    pub checks: Vec<SignatureCheck>,
}

/// An error of the service; all given fields must match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ErrorPattern {
    /// Error code at any depth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Part of a message at any depth, ignoring case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Live state that shows the defect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum SignatureCheck {
    /// A network interface of an older instance has an empty list of IP addresses.
    EmptyAddresses,
    /// An older instance failed with one of the errors.
    FailedInstances,
    /// Accelerated networking is off although the pool requires it.
    AcceleratedNetworkingOff {
        /// Tag with the value `true` on pools that require it.
        pool_tag: String,
    },
}

impl Default for Signatures {
    /// Returns the built-in list, which a test parses.
    fn default() -> Self {
        static PARSED: LazyLock<Signatures> = LazyLock::new(|| {
            let none = |_| Signatures { schema: SCHEMA.to_owned(), signatures: Vec::new() };
            Signatures::parse("the built-in list", BUILT_IN).unwrap_or_else(none)
        });
        PARSED.clone()
    }
}

impl Signatures {
    /// Parses a list; `file` is its name in errors.
    pub fn parse(file: &str, text: &str) -> Result<Self, String> {
        let file = mooring_redact::identifier(file);
        let list = serde_saphyr::from_str(text).map_err(|error| error.to_string());
        list.and_then(Self::checked)
            .map_err(|why| format!("cannot read signatures from {file}: {why}"))
    }

    fn checked(self) -> Result<Self, String> {
        ensure(self.schema == SCHEMA, || {
            let schema = mooring_redact::identifier(&self.schema);
            format!("schema must be {SCHEMA}, not '{schema}'")
        })?;
        ensure((1..=MAX_ENTRIES).contains(&self.signatures.len()), || {
            format!("signatures must have 1 to {MAX_ENTRIES} entries")
        })?;
        let mut names = BTreeSet::new();
        for signature in &self.signatures {
            signature.check()?;
            let name = &signature.name;
            ensure(names.insert(name), || format!("signature '{name}' occurs twice"))?;
        }
        Ok(self)
    }
}

fn ensure(holds: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why()) }
}

impl Signature {
    pub fn matches(&self, error: &ErrorTexts) -> bool {
        self.errors.iter().any(|pattern| pattern.matches(error))
    }

    /// Returns the error codes, or the name if one has no code.
    pub fn label(&self) -> String {
        let codes: Vec<&str> =
            self.errors.iter().filter_map(|error| error.code.as_deref()).collect();
        if codes.is_empty() || codes.len() < self.errors.len() {
            format!("the errors of {}", self.name)
        } else {
            codes.join(" or ")
        }
    }

    fn check(&self) -> Result<(), String> {
        let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        ensure((1..=63).contains(&self.name.len()) && self.name.bytes().all(is_name), || {
            let name = mooring_redact::identifier(&self.name);
            format!(
                "signature name '{name}' must have 1 to 63 lowercase letters, digits and hyphens"
            )
        })?;
        self.check_content().map_err(|why| format!("signature '{}': {why}", self.name))
    }

    fn check_content(&self) -> Result<(), String> {
        let Self { errors, checks, .. } = self;
        ensure(!errors.is_empty() || !checks.is_empty(), || {
            "needs errors, checks or both".to_owned()
        })?;
        ensure(errors.len() <= MAX_ENTRIES && checks.len() <= MAX_ENTRIES, || {
            "has too many errors or checks".to_owned()
        })?;
        errors.iter().try_for_each(ErrorPattern::check)?;
        checks.iter().try_for_each(|check| match check {
            SignatureCheck::EmptyAddresses => Ok(()),
            SignatureCheck::FailedInstances => {
                ensure(!errors.is_empty(), || "the check failedInstances needs errors".to_owned())
            }
            SignatureCheck::AcceleratedNetworkingOff { pool_tag } => {
                ensure(!pool_tag.trim().is_empty() && pool_tag.len() <= MAX_TEXT, || {
                    "the check acceleratedNetworkingOff needs a poolTag".to_owned()
                })
            }
        })
    }
}

impl ErrorPattern {
    fn matches(&self, error: &ErrorTexts) -> bool {
        let code = self.code.as_ref().is_none_or(|code| error.codes.contains(code));
        let message = self.message.as_ref().is_none_or(|part| {
            let part = part.to_lowercase();
            error.messages.iter().any(|message| message.to_lowercase().contains(&part))
        });
        code && message
    }

    fn check(&self) -> Result<(), String> {
        ensure(self.code.is_some() || self.message.is_some(), || {
            "an error needs a code or a message".to_owned()
        })?;
        if let Some(code) = &self.code {
            let is_code = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
            let fits = (1..=MAX_TEXT).contains(&code.len()) && code.bytes().all(is_code);
            ensure(fits, || {
                format!("'{}' is not an error code", mooring_redact::identifier(code))
            })?;
            ensure(self.message.is_some() || !WRAPPERS.contains(&code.as_str()), || {
                format!("code {code} wraps other errors; use the inner code, or add a message")
            })?;
        }
        let length = self.message.as_ref().map_or(MIN_MESSAGE, |part| part.trim().len());
        ensure((MIN_MESSAGE..=MAX_TEXT).contains(&length), || {
            format!("a message must have {MIN_MESSAGE} to {MAX_TEXT} characters")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(rest: &str) -> Result<Signatures, String> {
        let text = format!("schema: {SCHEMA}\nsignatures:\n{rest}");
        Signatures::parse("my.yaml", &text)
    }

    #[test]
    fn built_in_list_is_valid_and_matches_the_known_defect() {
        let list = Signatures::parse("default.yaml", BUILT_IN).unwrap();
        assert_eq!(list, Signatures::default());
        let [one] = &list.signatures[..] else { panic!("{list:?}") };
        assert_eq!(one.label(), "NetworkingInternalOperationError");
        assert_eq!(one.checks.len(), 3);
    }

    #[test]
    fn signature_matches_by_code_and_message() {
        let list = list(
            "- name: a\n  errors:\n  - {code: X, message: Part Of A Text}\n  - {code: Y}\n  - {message: another text}\n",
        );
        let signature = list.unwrap().signatures.remove(0);
        let matches = |codes: &[&str], messages: &[&str]| {
            let [codes, messages] = [codes, messages]
                .map(|texts| texts.iter().map(ToString::to_string).collect::<Vec<_>>());
            signature.matches(&ErrorTexts { codes, messages })
        };
        assert!(matches(&["Y"], &[]) && matches(&["Z", "Y"], &[]));
        assert!(!matches(&["X"], &[]) && !matches(&["X"], &["other"]) && !matches(&["YY"], &[]));
        assert!(matches(&["X"], &["a part of a text here"]));
        assert!(matches(&[], &["ANOTHER TEXT"]));
        assert_eq!(signature.label(), "the errors of a");
    }

    #[test]
    fn invalid_file_is_rejected_with_the_reason() {
        for (text, why) in [
            ("- name: a\n  errors: [{code: X}]\n  chekcs: []\n", "chekcs"),
            ("- name: A b\n  errors: [{code: X}]\n", "lowercase"),
            ("- name: a\n", "needs errors, checks or both"),
            ("- name: a\n  errors: [{}]\n", "code or a message"),
            ("- name: a\n  errors: [{code: 'X Y'}]\n", "not an error code"),
            ("- name: a\n  errors: [{code: ResourceOperationFailure}]\n", "wraps other errors"),
            ("- name: a\n  errors: [{message: error}]\n", "12 to 512"),
            ("- name: a\n  checks: [failedInstances]\n", "needs errors"),
            ("- name: a\n  checks: [nosuch]\n", "nosuch"),
            ("- name: a\n  checks: [{acceleratedNetworkingOff: {poolTag: ''}}]\n", "poolTag"),
            ("- name: a\n  errors: [{code: X}]\n- name: a\n  errors: [{code: Y}]\n", "twice"),
            (" []\n", "1 to 16"),
        ] {
            let error = list(text).unwrap_err();
            assert!(error.starts_with("cannot read signatures from my.yaml: "), "{error}");
            assert!(error.contains(why), "{text}: {error}");
        }
        let other = Signatures::parse("f", "schema: v2\nsignatures: []\n").unwrap_err();
        assert!(other.contains(SCHEMA), "{other}");
        assert!(Signatures::parse("f", "nonsense").is_err());
    }
}

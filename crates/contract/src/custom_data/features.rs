//! Feature toggles for the agent's launcher, and which of them do not arrive.

use std::collections::BTreeMap;
use std::fmt;

use mooring_redact::identifier;

use super::format::Format;
use super::paths::FEATURES_PATH;

/// Feature toggles, sifted: those that a node can read, and a note about each of the others.
///
/// The launcher reads one `KEY=VALUE` per line, so a key must be an identifier and a value must not
/// break the line. Toggles that do not fit are dropped, because one bad toggle must not keep a node
/// from booting, but never in silence: see [`Features::dropped`].
///
/// Values are never shown, not even by `Debug`.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Features {
    valid: BTreeMap<String, String>,
    dropped: Vec<DroppedFeature>,
}

impl Features {
    /// No toggles at all.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// The keys that a node can read, sorted.
    pub fn valid_keys(&self) -> impl Iterator<Item = &str> {
        self.valid.keys().map(String::as_str)
    }

    /// Valid keys whose values change on the way, escaped and cut like those of dropped ones.
    ///
    /// Such a toggle is delivered, as clients of this format have always done, but the node reads
    /// another value: cloud-init takes the part at its word that it is 7-bit text and turns other
    /// characters into Latin-1 or `\u` escapes, and bash leaves NULs out of a heredoc.
    pub fn altered_keys(&self) -> impl Iterator<Item = String> {
        let arrives = |value: &str| value.bytes().all(|byte| byte.is_ascii() && byte != 0);
        self.valid.iter().filter(move |(_, value)| !arrives(value)).map(|(key, _)| identifier(key))
    }

    /// The toggles that no format can deliver, sorted by key.
    pub fn dropped(&self) -> &[DroppedFeature] {
        &self.dropped
    }

    /// The toggles that `format` does not deliver, sorted by key.
    pub(super) fn dropped_by(&self, format: Format) -> Vec<DroppedFeature> {
        let mut dropped = self.dropped.clone();
        if !format.carries_features() {
            let reason = DropReason::NotCarriedBy(format);
            dropped.extend(self.valid_keys().map(|key| DroppedFeature::new(key, reason)));
            dropped.sort();
        }
        dropped
    }

    /// The shell commands that write the toggles' file; nothing without valid toggles.
    ///
    /// The heredoc cannot end early: each of its lines has a `=`, and the word `EOF` has none.
    pub(super) fn commands(&self) -> String {
        if self.valid.is_empty() {
            return String::new();
        }
        let lines: String =
            self.valid.iter().flat_map(|(key, value)| [key, "=", value, "\n"]).collect();
        format!("cat <<'EOF' >{FEATURES_PATH}\n{lines}EOF\nchmod 0600 {FEATURES_PATH}\n")
    }
}

impl From<BTreeMap<String, String>> for Features {
    fn from(toggles: BTreeMap<String, String>) -> Self {
        let mut features = Self::none();
        for (key, value) in toggles {
            match fault(&key, &value) {
                Some(reason) => features.dropped.push(DroppedFeature::new(&key, reason)),
                None => {
                    features.valid.insert(key, value);
                }
            }
        }
        features.dropped.sort();
        features
    }
}

impl fmt::Debug for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<_> = self.valid_keys().map(identifier).collect();
        f.debug_struct("Features")
            .field("valid_keys", &keys)
            .field("dropped", &self.dropped)
            .finish_non_exhaustive()
    }
}

/// What keeps a toggle from being one line of the launcher's file.
fn fault(key: &str, value: &str) -> Option<DropReason> {
    if !is_identifier(key) {
        Some(DropReason::KeyIsNoIdentifier)
    } else if value.contains(['\n', '\r']) {
        Some(DropReason::ValueBreaksTheLine)
    } else {
        None
    }
}

/// `[a-zA-Z_][a-zA-Z0-9_]*`
fn is_identifier(key: &str) -> bool {
    key.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// A toggle that does not reach the node. It holds no value, so it can be printed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DroppedFeature {
    key: String,
    reason: DropReason,
}

impl DroppedFeature {
    fn new(key: &str, reason: DropReason) -> Self {
        Self { key: identifier(key), reason }
    }

    /// The key, escaped, and cut when it is long.
    pub fn key(&self) -> &str {
        &self.key
    }

    pub const fn reason(&self) -> DropReason {
        self.reason
    }
}

impl fmt::Display for DroppedFeature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "feature toggle `{}` is not delivered: {}", self.key, self.reason)
    }
}

/// Why a toggle does not reach the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// The key does not match `[a-zA-Z_][a-zA-Z0-9_]*`.
    KeyIsNoIdentifier,
    /// The value holds a line feed or a carriage return.
    ValueBreaksTheLine,
    /// The toggle is good, but this format has no place for toggles.
    NotCarriedBy(Format),
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeyIsNoIdentifier => f.write_str(
                "its key is not letters, digits and underscores, or starts with a digit",
            ),
            Self::ValueBreaksTheLine => f.write_str("its value holds a line break"),
            Self::NotCarriedBy(format) => write!(f, "the {format} format carries no toggles"),
        }
    }
}

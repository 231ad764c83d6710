//! The forms of custom data by name, and feature toggles for the agent's launcher.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use mooring_redact::identifier;

use crate::custom_data::documents::FEATURES_PATH;

/// A form of custom data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CustomDataForm {
    /// A multipart document whose boothook writes the files and starts the agent early in the boot.
    Boothook,
    /// A plain cloud-config with `write_files`, for images of November 2025.
    CloudConfig,
    /// An Ignition 3.4.0 document, for Flatcar; the image must enable the agent's unit itself.
    Ignition,
}

impl CustomDataForm {
    /// Every form, the current one first.
    pub const ALL: [Self; 3] = [Self::Boothook, Self::CloudConfig, Self::Ignition];

    /// Returns the name, as parsed by [`FromStr`].
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Boothook => "boothook",
            Self::CloudConfig => "cloud-config",
            Self::Ignition => "ignition",
        }
    }

    /// Returns true if this form delivers feature toggles.
    pub const fn carries_features(self) -> bool {
        matches!(self, Self::Boothook)
    }
}

impl fmt::Display for CustomDataForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for CustomDataForm {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let named = Self::ALL.into_iter().find(|format| format.as_str() == text);
        named.ok_or_else(|| UnknownFormat { given: identifier(text) })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown custom data format `{given}`\nhint: use boothook, cloud-config or ignition")]
pub struct UnknownFormat {
    /// The name, escaped and truncated.
    given: String,
}

/// Feature toggles: those that a node can read, and the reason for each dropped one.
///
/// The launcher reads one `KEY=VALUE` per line, so a key must be an identifier and a value must not
/// break the line. Toggles that do not fit are dropped, because one bad toggle must not keep a node
/// from booting, and are reported in [`Features::dropped`].
///
/// Values are never shown, not even by `Debug`.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Features {
    valid: BTreeMap<String, String>,
    dropped: Vec<DroppedFeature>,
}

impl Features {
    /// Returns the keys that a node can read, sorted.
    pub fn valid_keys(&self) -> impl Iterator<Item = &str> {
        self.valid.keys().map(String::as_str)
    }

    /// Returns valid keys whose values change in transit, escaped and truncated like those of dropped ones.
    ///
    /// Such a toggle is delivered, as clients of this format have always done, but the node reads
    /// another value: cloud-init reads the part as 7-bit text and turns other
    /// characters into Latin-1 or `\u` escapes, and bash leaves NULs out of a heredoc.
    pub fn altered_keys(&self) -> impl Iterator<Item = String> {
        let arrives = |value: &str| value.bytes().all(|byte| byte.is_ascii() && byte != 0);
        self.valid.iter().filter(move |(_, value)| !arrives(value)).map(|(key, _)| identifier(key))
    }

    /// Returns the toggles that no format can deliver, sorted by key.
    pub fn dropped(&self) -> &[DroppedFeature] {
        &self.dropped
    }

    /// Returns the toggles that `format` does not deliver, sorted by key.
    pub(super) fn dropped_by(&self, format: CustomDataForm) -> Vec<DroppedFeature> {
        let mut dropped = self.dropped.clone();
        if !format.carries_features() {
            let reason = DropReason::NotCarriedBy(format);
            dropped.extend(self.valid_keys().map(|key| DroppedFeature::new(key, reason)));
            dropped.sort();
        }
        dropped
    }

    /// Returns the shell commands that write the toggles' file; empty without valid toggles.
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
        let mut features = Self::default();
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

/// Returns the reason why a toggle cannot be a line of the launcher's file.
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
    /// Escaped and truncated.
    pub key: String,
    pub reason: DropReason,
}

impl DroppedFeature {
    fn new(key: &str, reason: DropReason) -> Self {
        Self { key: identifier(key), reason }
    }
}

impl fmt::Display for DroppedFeature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "feature toggle `{}` is not delivered: {}", self.key, self.reason)
    }
}

/// The reason why a toggle is not delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// The key does not match `[a-zA-Z_][a-zA-Z0-9_]*`.
    KeyIsNoIdentifier,
    /// The value holds a line feed or a carriage return.
    ValueBreaksTheLine,
    /// The format does not deliver toggles.
    NotCarriedBy(CustomDataForm),
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeyIsNoIdentifier => f.write_str(
                "its key is not letters, digits and underscores, or starts with a digit",
            ),
            Self::ValueBreaksTheLine => f.write_str("its value contains a line break"),
            Self::NotCarriedBy(format) => write!(f, "the {format} format carries no toggles"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_names_round_trip() {
        for format in CustomDataForm::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
    }

    #[test]
    fn unknown_format_error_lists_known_formats() {
        let answer = "Boothook\n".parse::<CustomDataForm>().unwrap_err().to_string();
        assert!(answer.contains("`Boothook\\n`"), "{answer}");
        for format in CustomDataForm::ALL {
            assert!(answer.contains(format.as_str()), "{answer}");
        }
    }
}

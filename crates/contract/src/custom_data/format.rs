//! The three forms of custom data, by name.

use std::fmt;
use std::str::FromStr;

use mooring_redact::identifier;

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

#[cfg(test)]
mod tests {
    use super::CustomDataForm;

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

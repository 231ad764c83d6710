//! The three forms of custom data, by name.

use std::fmt;
use std::str::FromStr;

use mooring_redact::identifier;

/// A form of custom data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// A multipart document whose boothook writes the files and starts the agent early in the boot.
    Boothook,
    /// A plain cloud-config with `write_files`, for images of November 2025.
    CloudConfig,
    /// An Ignition 3.4.0 document, for Flatcar; the image must enable the agent's unit itself.
    Ignition,
}

impl Format {
    /// Every form, the current one first.
    pub const ALL: [Self; 3] = [Self::Boothook, Self::CloudConfig, Self::Ignition];

    /// The name, as [`FromStr`] reads it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Boothook => "boothook",
            Self::CloudConfig => "cloud-config",
            Self::Ignition => "ignition",
        }
    }

    /// Whether feature toggles reach the node with this form.
    pub const fn carries_features(self) -> bool {
        matches!(self, Self::Boothook)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let named = Self::ALL.into_iter().find(|format| format.as_str() == text);
        named.ok_or_else(|| UnknownFormat { given: identifier(text) })
    }
}

/// No form of custom data has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no custom data format is called `{given}`\nhint: use boothook, cloud-config or ignition")]
pub struct UnknownFormat {
    /// The name, escaped and cut.
    given: String,
}

#[cfg(test)]
mod tests {
    use super::Format;

    #[test]
    fn every_format_reads_back_its_own_name() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_all_the_known_ones() {
        let answer = "Boothook\n".parse::<Format>().unwrap_err().to_string();
        assert!(answer.contains("`Boothook\\n`"), "{answer}");
        for format in Format::ALL {
            assert!(answer.contains(format.as_str()), "{answer}");
        }
    }
}

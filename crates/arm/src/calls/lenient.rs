//! Reading what Azure may spell differently tomorrow.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer};

/// `null` where a list or map is expected is an empty one.
pub(crate) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// A time; one that cannot be read is as good as none.
pub(crate) fn time<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Timestamp>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.and_then(|text| text.parse().ok()))
}

/// An enumeration that is not closed: known words in any case, and all others as they came.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($word:ident),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[allow(missing_docs, reason = "the words are Azure's own")]
        pub enum $name {
            $($word,)+
            /// A word that is not known here.
            Other(String),
        }

        impl $name {
            /// The word.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$word => stringify!($word),)+
                    Self::Other(word) => word,
                }
            }
        }

        impl From<String> for $name {
            fn from(word: String) -> Self {
                $(if word.eq_ignore_ascii_case(stringify!($word)) {
                    return Self::$word;
                })+
                Self::Other(word)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer).map(Self::from)
            }
        }
    };
}

words! {
    /// The state of a resource.
    ProvisioningState {
        Succeeded, Failed, Canceled, Canceling, Creating, Updating, Upgrading, Deleting, Scaling, Starting,
        Stopping, UpgradingNodeImageVersion,
    }
}

words! {
    /// What a pool's nodes are for.
    PoolMode { System, User, Gateway, ManagedSystem, Machines }
}

words! {
    /// Whether a cluster or pool runs.
    PowerState { Running, Stopped }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_words_in_any_case_and_unknown_ones_as_they_came() {
        let read = |word: &str| ProvisioningState::from(word.to_owned());
        assert_eq!(read("succeeded"), ProvisioningState::Succeeded);
        assert_eq!(read("Migrating"), ProvisioningState::Other("Migrating".to_owned()));
        assert_eq!(read("Migrating").to_string(), "Migrating");
    }
}

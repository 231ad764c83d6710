//! Errors of the demo.

#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// The result differs from the scenario.
    #[error("{0}")]
    Unmet(String),
    /// A failed start, read or write, or a timeout.
    #[error("{0}")]
    Broken(String),
    #[error("interrupted; everything that was started has been ended")]
    Interrupted,
}

impl DemoError {
    /// Builds an error: `what` failed because of `error`.
    pub(crate) fn broken(what: &str, error: impl std::fmt::Display) -> Self {
        Self::Broken(format!("{what}: {error}"))
    }

    pub(crate) fn with(self, more: &str) -> Self {
        match self {
            Self::Unmet(text) => Self::Unmet(format!("{text}{more}")),
            Self::Broken(text) => Self::Broken(format!("{text}{more}")),
            Self::Interrupted => Self::Interrupted,
        }
    }

    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Unmet(_) => 1,
            Self::Broken(_) | Self::Interrupted => 3,
        }
    }
}

/// Checks that the text contains all of these strings.
pub(crate) fn expect_words(what: &str, text: &str, words: &[String]) -> Result<(), DemoError> {
    match words.iter().find(|word| !text.contains(*word)) {
        None => Ok(()),
        Some(word) => Err(DemoError::Unmet(format!("{what} does not contain `{word}`"))),
    }
}

/// Checks that two values are equal.
pub(crate) fn expect<T: PartialEq + std::fmt::Display>(
    what: &str,
    found: &T,
    expected: &T,
) -> Result<(), DemoError> {
    if found == expected {
        return Ok(());
    }
    Err(DemoError::Unmet(format!("{what}: {found}, and {expected} was expected")))
}

//! Why a story did not come true.

/// Why a story did not come true.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// Something else happened than the scenario expects.
    #[error("{0}")]
    Unmet(String),
    /// Something could not be started, read or written, or took too long.
    #[error("{0}")]
    Broken(String),
    /// Somebody asked for the end.
    #[error("interrupted; everything that was started has been ended")]
    Interrupted,
}

impl Trouble {
    /// Something that failed, in words.
    pub(crate) fn broken(what: &str, error: impl std::fmt::Display) -> Self {
        Self::Broken(format!("{what}: {error}"))
    }

    /// The same, with what helps to find out more behind it.
    pub(crate) fn with(self, more: &str) -> Self {
        match self {
            Self::Unmet(text) => Self::Unmet(format!("{text}{more}")),
            Self::Broken(text) => Self::Broken(format!("{text}{more}")),
            Self::Interrupted => Self::Interrupted,
        }
    }

    /// The process's exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Unmet(_) => 1,
            Self::Broken(_) | Self::Interrupted => 3,
        }
    }
}

/// An expectation: all of these words are in the text.
pub(crate) fn expect_words(what: &str, text: &str, words: &[String]) -> Result<(), Trouble> {
    match words.iter().find(|word| !text.contains(*word)) {
        None => Ok(()),
        Some(word) => Err(Trouble::Unmet(format!("{what} does not say `{word}`"))),
    }
}

/// An expectation: these are the same.
pub(crate) fn expect<T: PartialEq + std::fmt::Display>(
    what: &str,
    found: &T,
    expected: &T,
) -> Result<(), Trouble> {
    if found == expected {
        return Ok(());
    }
    Err(Trouble::Unmet(format!("{what}: {found}, and {expected} was expected")))
}

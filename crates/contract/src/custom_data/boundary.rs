//! The line that separates the parts of a multipart document.

use std::fmt;
use std::str::FromStr;

/// 30 bytes, two digits each.
const DIGITS: usize = 60;

/// A MIME boundary: 60 lower-case hexadecimal digits.
///
/// The caller supplies the randomness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Boundary(String);

impl Boundary {
    /// Returns `random` in hexadecimal digits.
    pub fn from_random(random: [u8; DIGITS / 2]) -> Self {
        const HEX: [char; 16] =
            ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
        let nibbles = random.iter().flat_map(|byte| [byte >> 4, byte & 0x0f]);
        Self(nibbles.map(|nibble| HEX[usize::from(nibble)]).collect())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Boundary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for Boundary {
    type Err = NotABoundary;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.len() != DIGITS {
            return Err(NotABoundary::Length { bytes: text.len() });
        }
        match text.bytes().position(|byte| !matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            Some(at) => Err(NotABoundary::Digit { at }),
            None => Ok(Self(text.to_owned())),
        }
    }
}

/// The text is not 60 lower-case hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotABoundary {
    #[error("invalid boundary: {bytes} bytes instead of {DIGITS} digits")]
    Length {
        /// Length of the text.
        bytes: usize,
    },
    /// Correct length, but a byte other than `0`-`9` and `a`-`f`.
    #[error("invalid boundary: byte {at} is not a lowercase hexadecimal digit")]
    Digit { at: usize },
}

#[cfg(test)]
mod tests {
    use super::{Boundary, NotABoundary};

    #[test]
    fn thirty_random_bytes_become_sixty_lower_case_digits() {
        let mut random = [0; 30];
        random[0] = 0x0f;
        random[29] = 0xa9;
        let boundary = Boundary::from_random(random);
        assert_eq!(boundary.as_str(), format!("0f{}a9", "0".repeat(56)));
        assert_eq!(boundary.as_str().parse(), Ok(boundary));
    }

    #[test]
    fn anything_else_is_refused() {
        let refused = |text: &str| text.parse::<Boundary>().unwrap_err();
        assert_eq!(refused(""), NotABoundary::Length { bytes: 0 });
        assert_eq!(refused(&"a".repeat(61)), NotABoundary::Length { bytes: 61 });
        assert_eq!(refused(&"A".repeat(60)), NotABoundary::Digit { at: 0 });
        assert_eq!(refused(&format!("{}\r\n", "a".repeat(58))), NotABoundary::Digit { at: 58 });
        assert_eq!(refused(&"é".repeat(30)), NotABoundary::Digit { at: 0 });
    }
}

//! The line that separates the parts of a multipart document.

use std::fmt;

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

#[cfg(test)]
mod tests {
    use super::Boundary;

    #[test]
    fn thirty_random_bytes_become_sixty_lower_case_digits() {
        let mut random = [0; 30];
        random[0] = 0x0f;
        random[29] = 0xa9;
        let boundary = Boundary::from_random(random);
        assert_eq!(boundary.as_str(), format!("0f{}a9", "0".repeat(56)));
    }
}

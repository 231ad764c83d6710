//! The choice of a mask that never completes a secret.
//!
//! With the password `secret`, or with `]abc` and `abc` after another secret, a text masked with
//! `[secret]` would hold a secret again. Such a redactor uses another mask.

use memchr::memmem::find;

use super::matcher::Matcher;
use crate::MASK;

/// Sorted by preference.
const MASKS: [&str; 6] = [MASK, "***", "(hidden)", "<hidden>", "~~~", "^^^"];

/// Returns the first mask that no piece can share a byte with.
///
/// If secrets rule out all of them, it returns [`MASK`]: every byte of every match is still removed, but
/// the text around a mask may then resemble a secret.
pub(super) fn choose_mask(pieces: &Matcher) -> &'static str {
    MASKS
        .into_iter()
        .find(|mask| !pieces.iter().any(|piece| can_share(piece, mask.as_bytes())))
        .unwrap_or(MASK)
}

/// Returns true if the two can overlap in a text.
fn can_share(piece: &[u8], mask: &[u8]) -> bool {
    let may_overlap =
        [piece.first(), piece.last()].into_iter().flatten().any(|byte| mask.contains(byte));
    may_overlap
        && (1..mask.len())
            .any(|cut| piece.starts_with(&mask[cut..]) || piece.ends_with(&mask[..cut]))
        || find(piece, mask).is_some()
        || find(mask, piece).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_and_a_mask_share_bytes_in_four_ways() {
        for piece in ["]abc", "abc[", "a[secret]b", "secret", "[secret]"] {
            assert!(can_share(piece.as_bytes(), MASK.as_bytes()), "{piece}");
        }
        for piece in ["abc]d", "a[bc", "ecretary", "tokens"] {
            assert!(!can_share(piece.as_bytes(), MASK.as_bytes()), "{piece}");
        }
    }

    #[test]
    fn another_mask_is_used_only_when_required() {
        let mask = |secrets: &[&str]| {
            let mut pieces = Matcher::default();
            for secret in secrets {
                pieces.add(secret.as_bytes());
            }
            pieces.finish();
            choose_mask(&pieces)
        };
        assert_eq!(mask(&["hunter2"]), MASK);
        assert_eq!(mask(&["secret"]), "***");
        assert_eq!(mask(&["secret", "*star"]), "(hidden)");
        assert_eq!(mask(&["]]]]", "****", "))))", ">>>>", "~~~~", "^^^^"]), MASK);
    }
}

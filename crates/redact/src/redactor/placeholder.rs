//! The choice of a mask that never completes a secret.
//!
//! With the password `secret`, or with `]abc` and `abc` after another secret, a text masked with
//! `[secret]` would hold a secret again. Such a redactor uses another mask.

use super::pieces::Pieces;
use crate::MASK;

/// In order of preference.
const MASKS: [&str; 6] = [MASK, "***", "(hidden)", "<hidden>", "~~~", "^^^"];

/// The first mask that no piece can share a byte with.
///
/// If secrets rule out all of them, [`MASK`] it is: every byte of every match is still gone, only
/// the text around a mask may then look like a secret.
pub(super) fn for_pieces(pieces: &Pieces) -> &'static str {
    MASKS
        .into_iter()
        .find(|mask| !pieces.iter().any(|piece| can_share(piece, mask.as_bytes())))
        .unwrap_or(MASK)
}

/// True if some text holds both so that they have a byte in common.
fn can_share(piece: &[u8], mask: &[u8]) -> bool {
    let may_overlap =
        [piece.first(), piece.last()].into_iter().flatten().any(|byte| mask.contains(byte));
    may_overlap
        && (1..mask.len())
            .any(|cut| piece.starts_with(&mask[cut..]) || piece.ends_with(&mask[..cut]))
        || contains(piece, mask)
        || contains(mask, piece)
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    part.first().is_some_and(|first| text.contains(first))
        && text.windows(part.len()).any(|window| window == part)
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
    fn another_mask_stands_in_only_where_it_must() {
        let mask = |secrets: &[&str]| {
            let mut pieces = Pieces::default();
            for secret in secrets {
                pieces.add(secret.as_bytes());
            }
            pieces.finish();
            for_pieces(&pieces)
        };
        assert_eq!(mask(&["hunter2"]), MASK);
        assert_eq!(mask(&["secret"]), "***");
        assert_eq!(mask(&["secret", "*star"]), "(hidden)");
        assert_eq!(mask(&["]]]]", "****", "))))", ">>>>", "~~~~", "^^^^"]), MASK);
    }
}

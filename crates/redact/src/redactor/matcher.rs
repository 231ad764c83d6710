//! The patterns, cut into pieces and sorted, so that one binary search finds the longest match.
//!
//! A tree over all bytes of all patterns would cost ten times their size; a private key in all
//! its encodings has 200 KB of them. Sorted slices cost one word or two per piece.

use std::ops::Range;

/// Longer patterns are cut into equal pieces of at most this many bytes.
const PIECE: usize = 61;

/// The most bytes of a piece: a cut moves back to the start of a character, at most 3 bytes.
const MAX_PIECE: usize = PIECE + 3;

/// Every piece is at least this long; the bitmap covers this many bytes.
const HEAD: usize = 4;

/// Bits of the bitmap. At 6,000 pieces, two private keys in all forms, one lookup in 40 is a false
/// hit; 32 KiB stay in the processor's nearest cache.
const BITMAP_BITS: u32 = 18;

/// Byte strings to search for.
#[derive(Default)]
pub(super) struct Matcher {
    bytes: Vec<u8>,
    /// Sorted by their bytes, without duplicates, once finished.
    sorted: Vec<Piece>,
    /// One bit for each head that some piece has.
    heads: Vec<u64>,
}

struct Piece {
    at: Range<usize>,
    /// Its first bytes: two pieces mostly differ in these, and a number is compared at once.
    rank: u64,
    /// The longest other piece that this one starts with.
    shorter: Option<usize>,
}

impl Matcher {
    /// Adds a pattern of at least [`HEAD`] bytes; shorter ones are ignored. Call [`Self::finish`] at the end.
    pub(super) fn add(&mut self, pattern: &[u8]) {
        if pattern.len() < HEAD {
            return;
        }
        let base = self.bytes.len();
        self.bytes.extend_from_slice(pattern);
        let count = pattern.len().div_ceil(PIECE);
        let cut = |index: usize| character_start(pattern, index * pattern.len() / count);
        for index in 0..count {
            let at = base + cut(index)..base + cut(index + 1);
            let rank = rank(&self.bytes[at.clone()]);
            self.sorted.push(Piece { at, rank, shorter: None });
        }
    }

    /// Sorts and indexes the pieces.
    pub(super) fn finish(&mut self) {
        let Self { bytes, sorted, heads } = self;
        // Without secrets, as in most commands, no bitmap is needed.
        if sorted.is_empty() {
            return;
        }
        sorted.sort_unstable_by(|a, b| {
            a.rank.cmp(&b.rank).then_with(|| bytes[a.at.clone()].cmp(&bytes[b.at.clone()]))
        });
        sorted.dedup_by(|a, b| bytes[a.at.clone()] == bytes[b.at.clone()]);
        sorted.shrink_to_fit();
        bytes.shrink_to_fit();

        // A prefix of a piece sorts before it, and every piece between them has that prefix.
        let mut nested: Vec<usize> = Vec::new();
        for index in 0..sorted.len() {
            let piece = &bytes[sorted[index].at.clone()];
            while nested
                .pop_if(|&mut at| !piece.starts_with(&bytes[sorted[at].at.clone()]))
                .is_some()
            {}
            sorted[index].shorter = nested.last().copied();
            nested.push(index);
        }

        *heads = vec![0; 1 << (BITMAP_BITS - u64::BITS.ilog2())];
        for piece in &*sorted {
            if let Some(&head) = bytes[piece.at.clone()].first_chunk() {
                let (word, bit) = place(head);
                heads[word] |= bit;
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.sorted.len()).map(|index| self.piece(index))
    }

    /// Returns the length of the longest piece that `text` starts with.
    pub(super) fn longest_start_of(&self, text: &[u8]) -> Option<usize> {
        let (word, bit) = place(*text.first_chunk()?);
        if self.heads.get(word)? & bit == 0 {
            return None;
        }
        let text = &text[..text.len().min(MAX_PIECE)];
        // A prefix of `text` sorts before it, and every piece between them has that prefix: so it
        // is the last piece not after `text`, or one of those that this one starts with.
        let mut candidate = self.first_after(text).checked_sub(1)?;
        let piece = self.piece(candidate);
        let common = piece.iter().zip(text).take_while(|(a, b)| a == b).count();
        while self.sorted[candidate].at.len() > common {
            candidate = self.sorted[candidate].shorter?;
        }
        Some(self.sorted[candidate].at.len())
    }

    /// Returns true if `text` is a proper prefix of a piece.
    pub(super) fn may_become_one(&self, text: &[u8]) -> bool {
        text.len() < MAX_PIECE
            && self
                .sorted
                .get(self.first_after(text))
                .is_some_and(|piece| self.bytes[piece.at.clone()].starts_with(text))
    }

    /// Returns the size on the heap in bytes.
    #[cfg(test)]
    pub(super) fn memory(&self) -> usize {
        self.bytes.capacity()
            + self.sorted.capacity() * size_of::<Piece>()
            + self.heads.capacity() * size_of::<u64>()
    }

    /// Returns the index of the first piece that sorts after `text`.
    fn first_after(&self, text: &[u8]) -> usize {
        let rank = rank(text);
        self.sorted.partition_point(|piece| {
            piece.rank < rank || piece.rank == rank && &self.bytes[piece.at.clone()] <= text
        })
    }

    fn piece(&self, index: usize) -> &[u8] {
        &self.bytes[self.sorted[index].at.clone()]
    }
}

/// Returns the first eight bytes as a number that sorts as they do. Padding with zeros is safe: texts whose
/// numbers differ sort like these, and those with equal numbers are compared in full.
fn rank(text: &[u8]) -> u64 {
    let mut first = [0; 8];
    let length = text.len().min(first.len());
    first[..length].copy_from_slice(&text[..length]);
    u64::from_be_bytes(first)
}

/// Returns the word of the bitmap and the bit in it for a head.
fn place(head: [u8; HEAD]) -> (usize, u64) {
    // Fibonacci hashing: the upper bits of the product depend on all of the head.
    let hash = u32::from_ne_bytes(head).wrapping_mul(0x9E37_79B1) >> (u32::BITS - BITMAP_BITS);
    ((hash / u64::BITS) as usize, 1 << (hash % u64::BITS))
}

/// Returns `at`, or the start of the UTF-8 character that contains it.
fn character_start(text: &[u8], at: usize) -> usize {
    let continues = |&at: &usize| text.get(at).is_some_and(|byte| (0x80..0xC0).contains(byte));
    (at.saturating_sub(3)..=at).rev().find(|at| !continues(at)).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(patterns: &[&str]) -> Matcher {
        let mut pieces = Matcher::default();
        for pattern in patterns {
            pieces.add(pattern.as_bytes());
        }
        pieces.finish();
        pieces
    }

    #[test]
    fn longest_match_is_found_among_similar_pieces() {
        let pieces = pieces(&["abcd", "abcde", "abcdefgh", "abcdxx", "bcde"]);
        let longest = |text: &str| pieces.longest_start_of(text.as_bytes());
        assert_eq!(longest("abcdefghi"), Some(8));
        assert_eq!(longest("abcdefgx"), Some(5));
        assert_eq!(longest("abcdz"), Some(4));
        assert_eq!(longest("abcdxxz"), Some(6));
        assert_eq!(longest("abcd"), Some(4));
        assert_eq!(longest("abc"), None);
        assert_eq!(longest("abce"), None);
        assert_eq!(longest(""), None);
    }

    #[test]
    fn proper_prefixes_may_become_a_piece() {
        let pieces = pieces(&["abcd", "abcdef"]);
        let may = |text: &str| pieces.may_become_one(text.as_bytes());
        assert!(may("a") && may("abc") && may("abcd") && may("abcde"));
        assert!(!may("b") && !may("abcdef") && !may("abx") && !may("abcdefg"));
    }

    #[test]
    fn without_patterns_nothing_is_found() {
        for pieces in [pieces(&[]), pieces(&["abc"]), Matcher::default()] {
            assert_eq!(pieces.longest_start_of(b"abcdef"), None);
            assert!(!pieces.may_become_one(b"a"));
        }
    }

    #[test]
    fn long_pattern_is_cut_at_characters_into_28_to_64_bytes() {
        for length in [61, 62, 122, 123, 1000, 4096] {
            for filler in ["x", "é", "€", "\u{1F600}"] {
                let pattern: String =
                    filler.chars().cycle().take(length / filler.len() + 1).collect();
                let mut pieces = Matcher::default();
                pieces.add(pattern.as_bytes());
                let whole: Vec<u8> = pieces.iter().flatten().copied().collect();
                assert_eq!(whole, pattern.as_bytes());
                for piece in pieces.iter() {
                    assert!(std::str::from_utf8(piece).is_ok(), "cut inside {filler}");
                    assert!((28..=MAX_PIECE).contains(&piece.len()), "{}", piece.len());
                }
            }
        }
    }
}

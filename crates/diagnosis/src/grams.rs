//! Finds many phrases in one pass over a text.
//!
//! Every phrase is indexed by four of its bytes, its gram. A bitmap answers for most positions of a text that no phrase
//! has the gram found there; the few others are compared byte by byte. Building the index takes microseconds, so short
//! texts do not pay for long ones.

/// Bytes of a gram.
const GRAM: usize = 4;

/// Blanks between two words are not worth following further.
const LONGEST_GAP: usize = 80;

/// How a phrase is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compare {
    /// Byte by byte, in any case.
    Literal,
    /// The same, and a blank of the phrase stands for any number of blanks, line ends and quoting marks, or none.
    Flexible,
}

#[derive(Debug)]
struct Phrase {
    text: &'static [u8],
    compare: Compare,
    /// Where its gram begins.
    offset: usize,
}

/// Phrases ready to be found.
#[derive(Debug)]
pub(crate) struct Grams {
    phrases: Vec<Phrase>,
    /// A bit per hash of a gram.
    bitmap: Vec<u64>,
    /// The first phrase of a hash, and the next one of each phrase; one more than the index.
    first: Vec<u16>,
    next: Vec<u16>,
}

impl Grams {
    pub(crate) fn new(phrases: impl Iterator<Item = (&'static str, Compare)>) -> Self {
        let phrases: Vec<Phrase> =
            phrases.map(|(text, compare)| Phrase::new(text, compare)).collect();
        let mut bitmap = vec![0_u64; 1 << 10];
        let mut first = vec![0_u16; 1 << 12];
        let mut next = vec![0_u16; phrases.len()];
        for (index, phrase) in phrases.iter().enumerate() {
            let Some(gram) = gram(&phrase.text[phrase.offset..]) else { continue };
            let Ok(number) = u16::try_from(index + 1) else { break };
            let hash = hash(gram);
            bitmap[hash >> 6] |= 1 << (hash & 63);
            next[index] = std::mem::replace(&mut first[hash >> 4], number);
        }
        Self { phrases, bitmap, first, next }
    }

    /// Calls `found` with the index, the start and the end of every phrase in a text, in the order of their grams.
    pub(crate) fn find(&self, text: &[u8], mut found: impl FnMut(usize, usize, usize)) {
        for (at, window) in text.windows(GRAM).enumerate() {
            let gram = fold([window[0], window[1], window[2], window[3]]);
            let hash = hash(gram);
            if (self.bitmap[hash >> 6] >> (hash & 63)) & 1 == 0 {
                continue;
            }
            let mut number = usize::from(self.first[hash >> 4]);
            while let Some(index) = number.checked_sub(1) {
                if let Some((start, end)) = self.phrases[index].stands_at(text, at) {
                    found(index, start, end);
                }
                number = usize::from(self.next[index]);
            }
        }
    }
}

impl Phrase {
    fn new(text: &'static str, compare: Compare) -> Self {
        let text = text.as_bytes();
        // A gram without a blank is found whatever stands between the words.
        let whole = text.windows(GRAM).position(|window| !window.contains(&b' '));
        match (compare, whole) {
            (Compare::Flexible, Some(offset)) => Self { text, compare, offset },
            _ => Self { text, compare: Compare::Literal, offset: 0 },
        }
    }

    /// Where the phrase starts and ends, if its gram stands at `at` and the rest around it.
    fn stands_at(&self, text: &[u8], at: usize) -> Option<(usize, usize)> {
        if self.compare == Compare::Literal {
            let end = at + self.text.len();
            return text.get(at..end)?.eq_ignore_ascii_case(self.text).then_some((at, end));
        }
        let end = forward(text, at, &self.text[self.offset..])?;
        let start = backward(text, at, &self.text[..self.offset])?;
        Some((start, end))
    }
}

fn forward(text: &[u8], mut at: usize, phrase: &[u8]) -> Option<usize> {
    for byte in phrase {
        if *byte == b' ' {
            at += text[at..].iter().take(LONGEST_GAP).take_while(|byte| is_gap(**byte)).count();
        } else if text.get(at)?.eq_ignore_ascii_case(byte) {
            at += 1;
        } else {
            return None;
        }
    }
    Some(at)
}

fn backward(text: &[u8], mut at: usize, phrase: &[u8]) -> Option<usize> {
    for byte in phrase.iter().rev() {
        if *byte == b' ' {
            let gap = text[..at].iter().rev().take(LONGEST_GAP);
            at -= gap.take_while(|byte| is_gap(**byte)).count();
        } else {
            at = at.checked_sub(1)?;
            if !text[at].eq_ignore_ascii_case(byte) {
                return None;
            }
        }
    }
    Some(at)
}

fn is_gap(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'>' | b'*' | b'|')
}

fn gram(text: &[u8]) -> Option<u32> {
    text.first_chunk().copied().map(fold)
}

/// Makes letters of both cases one; what else becomes one is told apart by the comparison.
fn fold(bytes: [u8; GRAM]) -> u32 {
    u32::from_le_bytes(bytes) | 0x2020_2020
}

fn hash(gram: u32) -> usize {
    (gram.wrapping_mul(0x9e37_79b1) >> 16) as usize
}

#[cfg(test)]
mod tests {
    use super::{Compare, Grams};

    fn found(
        phrases: &'static [(&'static str, Compare)],
        text: &str,
    ) -> Vec<(usize, usize, usize)> {
        let mut all = Vec::new();
        let grams = Grams::new(phrases.iter().copied());
        grams.find(text.as_bytes(), |index, start, end| all.push((index, start, end)));
        all
    }

    #[test]
    fn phrases_are_found_in_any_case_and_where_they_overlap() {
        const PHRASES: &[(&str, Compare)] = &[
            ("Status=", Compare::Literal),
            ("exit status", Compare::Literal),
            ("tus=", Compare::Literal),
        ];
        assert_eq!(found(PHRASES, "an EXIT STATUS=5"), [(1, 3, 14), (0, 8, 15), (2, 11, 15)]);
        assert_eq!(found(PHRASES, "sta"), []);
    }

    #[test]
    fn blanks_of_a_flexible_phrase_are_any_blanks_or_none() {
        const PHRASES: &[(&str, Compare)] = &[("is not allowed in", Compare::Flexible)];
        for text in ["is not allowed in", "is  not\n> allowed in", "isnotallowedin"] {
            assert_eq!(found(PHRASES, text), [(0, 0, text.len())], "{text}");
        }
        assert_eq!(found(PHRASES, "it is never allowed in"), []);
    }

    #[test]
    fn a_phrase_at_either_end_is_found() {
        const PHRASES: &[(&str, Compare)] = &[("a scale set", Compare::Flexible)];
        assert_eq!(found(PHRASES, "a scale set"), [(0, 0, 11)]);
        assert_eq!(found(PHRASES, "scale set"), []);
    }
}

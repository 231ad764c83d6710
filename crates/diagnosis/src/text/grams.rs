//! Finds many phrases in one pass over a text.
//!
//! Every phrase is indexed by four of its bytes, its gram. A table of known grams rejects most positions of a text, four
//! at a time; the others are compared byte by byte. The index is built in microseconds, which keeps short texts cheap.

use crate::text::lexer::{MAX_GAP, is_gap};

const GRAM: usize = 4;

const HASHES: usize = 1 << 16;

/// Positions that are tested together: their grams fit into eight bytes.
const STEP: usize = 4;

/// Common log text: its grams are chosen last.
const SAMPLE: &[u8] = b"installing cached version of the container runtime containerd kubelet kubernetes version \
    reading package lists building dependency tree reading state information connected to microsoft.com port \
    azure archive ubuntu updates main packages http https error failed failure warning info started starting finished \
    systemd unit service session node pool cluster agent subscriptions resourcegroups providers message code status \
    name type time timestamp level logger controller request response server client reconcile network address default \
    \"metadata\": {\"labels\": \"nodepools/addresses\", \"conditions\": [{\"ready\": \"true\"}], \"internal-node-image-version\": \"aks-vmss";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compare {
    /// Byte by byte, in any case.
    Literal,
    /// As `Literal`, but a blank matches any number of blanks, line ends and quoting marks, or none.
    Flexible,
}

#[derive(Debug)]
struct Phrase {
    text: &'static [u8],
    compare: Compare,
    offset: usize,
    gram: u32,
}

#[derive(Debug)]
pub(crate) struct Grams {
    phrases: Vec<Phrase>,
    /// 1 for each hash of a phrase's gram.
    known: Vec<u8>,
    /// First phrase of a hash, and the next one of each phrase; one-based, 0 is none.
    first: Vec<u16>,
    next: Vec<u16>,
}

impl Grams {
    pub(crate) fn new(phrases: impl Iterator<Item = (&'static str, Compare)>) -> Self {
        // Number of phrases with a gram of each hash.
        let mut usage = vec![0_u8; HASHES];
        for gram in SAMPLE.windows(GRAM).filter_map(gram) {
            usage[hash(gram)] = usage[hash(gram)].saturating_add(4);
        }
        let phrases: Vec<Phrase> =
            phrases.map(|(text, compare)| Phrase::new(text, compare, &mut usage)).collect();
        let mut known = vec![0; HASHES];
        let mut first = vec![0_u16; 1 << 12];
        let mut next = vec![0_u16; phrases.len()];
        for (index, phrase) in phrases.iter().enumerate() {
            if phrase.text.len() < GRAM {
                continue;
            }
            let Ok(number) = u16::try_from(index + 1) else { break };
            let hash = hash(phrase.gram);
            known[hash] = 1;
            next[index] = std::mem::replace(&mut first[hash >> 4], number);
        }
        Self { phrases, known, first, next }
    }

    /// Calls `found` with the index, start and end of every phrase in a text, in the order of their grams. Stops
    /// reporting a phrase after `found` returned false for it.
    pub(crate) fn find(&self, text: &[u8], mut found: impl FnMut(usize, usize, usize) -> bool) {
        let mut done = vec![false; self.phrases.len()];
        let mut next = 0;
        while let Some((at, gram)) = self.next_candidate(text, next) {
            next = at + 1;
            let mut number = self.first[hash(gram) >> 4];
            while let Some(index) = usize::from(number).checked_sub(1) {
                number = self.next[index];
                let phrase = &self.phrases[index];
                if phrase.gram == gram && !done[index] {
                    let place = phrase.find_at(text, at);
                    done[index] = place.is_some_and(|(start, end)| !found(index, start, end));
                }
            }
        }
    }

    /// Returns the first position from `from` on whose gram may belong to a phrase.
    #[inline(never)]
    fn next_candidate(&self, text: &[u8], from: usize) -> Option<(usize, u32)> {
        let known: &[u8; HASHES] = self.known.as_slice().try_into().ok()?;
        let mut at = from;
        while let Some(bytes) = text.get(at..).and_then(<[u8]>::first_chunk) {
            let grams = grams_of(*bytes);
            if grams.iter().fold(0, |any, gram| any | known[hash(*gram)]) != 0 {
                let offset = grams.iter().position(|gram| known[hash(*gram)] != 0)?;
                return Some((at + offset, grams[offset]));
            }
            at += STEP;
        }
        let rest = text.get(at..)?.windows(GRAM).filter_map(gram).enumerate();
        let mut candidates = rest.filter(|(_, gram)| known[hash(*gram)] != 0);
        candidates.next().map(|(offset, gram)| (at + offset, gram))
    }
}

/// Returns the grams at the first four positions of eight bytes.
fn grams_of(bytes: [u8; 8]) -> [u32; STEP] {
    let folded = u64::from_le_bytes(bytes) | 0x2020_2020_2020_2020;
    [0, 8, 16, 24].map(|bits| first_four(folded >> bits))
}

#[allow(clippy::cast_possible_truncation, reason = "four of eight bytes are wanted")]
fn first_four(bytes: u64) -> u32 {
    bytes as u32
}

impl Phrase {
    fn new(text: &'static str, compare: Compare, usage: &mut [u8]) -> Self {
        let text = text.as_bytes();
        let literal = || rarest(text, usage, |_| true).map(|offset| (Compare::Literal, offset));
        // A gram without a blank matches regardless of the gaps between words.
        let flexible = || rarest(text, usage, |gram| !gram.contains(&b' ')).map(|at| (compare, at));
        let has_gaps = compare == Compare::Flexible && text.contains(&b' ');
        let chosen = if has_gaps { flexible().or_else(literal) } else { literal() };
        let (compare, offset) = chosen.unwrap_or((Compare::Literal, 0));
        let gram = gram(&text[offset..]).unwrap_or_default();
        usage[hash(gram)] = usage[hash(gram)].saturating_add(1);
        Self { text, compare, offset, gram }
    }

    /// Returns the start and end of the phrase whose gram is at `at`.
    #[inline(never)]
    fn find_at(&self, text: &[u8], at: usize) -> Option<(usize, usize)> {
        if self.compare == Compare::Literal {
            let start = at.checked_sub(self.offset)?;
            let end = start + self.text.len();
            return is_phrase(text.get(start..end)?, self.text).then_some((start, end));
        }
        let end = forward(text, at, &self.text[self.offset..])?;
        let start = backward(text, at, &self.text[..self.offset])?;
        Some((start, end))
    }
}

fn forward(text: &[u8], mut at: usize, phrase: &[u8]) -> Option<usize> {
    for byte in phrase {
        if *byte == b' ' {
            at += text[at..].iter().take(MAX_GAP).take_while(|byte| is_gap(**byte)).count();
        } else if text.get(at)?.to_ascii_lowercase() == *byte {
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
            let gap = text[..at].iter().rev().take(MAX_GAP);
            at -= gap.take_while(|byte| is_gap(**byte)).count();
        } else {
            at = at.checked_sub(1)?;
            if text[at].to_ascii_lowercase() != *byte {
                return None;
            }
        }
    }
    Some(at)
}

fn is_phrase(text: &[u8], phrase: &[u8]) -> bool {
    text.iter().zip(phrase).all(|(one, other)| one.to_ascii_lowercase() == *other)
}

/// Returns the offset of the gram that is rarest in common texts and among phrases.
fn rarest(text: &[u8], usage: &[u8], fits: impl Fn(&[u8; GRAM]) -> bool) -> Option<usize> {
    let mut best: Option<(u8, usize)> = None;
    let mut rest = text;
    while let Some(bytes) = rest.first_chunk::<GRAM>() {
        let weight = usage[hash(fold(*bytes))];
        if best.is_none_or(|(lightest, _)| weight < lightest) && fits(bytes) {
            best = Some((weight, text.len() - rest.len()));
        }
        rest = &rest[1..];
    }
    best.map(|(_, offset)| offset)
}

fn gram(text: &[u8]) -> Option<u32> {
    text.first_chunk().copied().map(fold)
}

/// Folds case; also merges some other bytes, which the full comparison distinguishes.
fn fold(bytes: [u8; GRAM]) -> u32 {
    u32::from_le_bytes(bytes) | 0x2020_2020
}

fn hash(gram: u32) -> usize {
    (gram.wrapping_mul(0x9e37_79b1) >> 16) as usize
}

#[cfg(test)]
mod tests {
    use super::{Compare, Grams, HASHES, MAX_GAP, gram, rarest};

    fn found(
        phrases: &'static [(&'static str, Compare)],
        text: &str,
    ) -> Vec<(usize, usize, usize)> {
        let mut all = Vec::new();
        let grams = Grams::new(phrases.iter().copied());
        grams.find(text.as_bytes(), |index, start, end| {
            all.push((index, start, end));
            true
        });
        all.sort_by_key(|(_, start, _)| *start);
        all
    }

    #[test]
    fn phrases_match_in_any_case_and_when_overlapping() {
        const PHRASES: &[(&str, Compare)] = &[
            ("status=", Compare::Literal),
            ("exit status", Compare::Literal),
            ("tus=", Compare::Literal),
        ];
        assert_eq!(found(PHRASES, "an EXIT STATUS=5"), [(1, 3, 14), (0, 8, 15), (2, 11, 15)]);
        assert_eq!(found(PHRASES, "sta"), []);
    }

    #[test]
    fn flexible_blank_matches_any_gap() {
        const PHRASES: &[(&str, Compare)] = &[("is not allowed in", Compare::Flexible)];
        for text in ["is not allowed in", "is  not\n> allowed in", "isnotallowedin"] {
            assert_eq!(found(PHRASES, text), [(0, 0, text.len())], "{text}");
        }
        assert_eq!(found(PHRASES, "it is never allowed in"), []);
    }

    #[test]
    fn phrase_is_found_at_every_offset_of_every_length() {
        const PHRASES: &[(&str, Compare)] = &[("status=", Compare::Literal)];
        for before in 0..20 {
            for after in 0..12 {
                let text = format!("{}Status={}", ".".repeat(before), ".".repeat(after));
                assert_eq!(found(PHRASES, &text), [(0, before, before + 7)], "{text}");
            }
        }
    }

    #[test]
    fn short_phrase_is_never_found() {
        const PHRASES: &[(&str, Compare)] =
            &[("abc", Compare::Literal), ("abcd", Compare::Literal)];
        assert_eq!(found(PHRASES, "abc abcd abc\0"), [(1, 4, 8)]);
    }

    #[test]
    fn phrase_is_not_reported_after_its_last_wanted_place() {
        let phrases = [("status=", Compare::Literal), ("exit", Compare::Literal)];
        let grams = Grams::new(phrases.into_iter());
        let mut all = Vec::new();
        grams.find(b"exit status= exit status= exit", |index, start, _| {
            all.push((index, start));
            index == 1
        });
        assert_eq!(all, [(1, 0), (0, 5), (1, 13), (1, 26)]);
    }

    #[test]
    fn gaps_have_a_limit_in_both_directions() {
        const PHRASES: &[(&str, Compare)] = &[("is zqxjzqxj in", Compare::Flexible)];
        let (most, more) = (" ".repeat(MAX_GAP), " ".repeat(MAX_GAP + 1));
        for (before, after, count) in [(&most, &most, 1), (&more, &most, 0), (&most, &more, 0)] {
            let text = format!("is{before}zqxjzqxj{after}in");
            assert_eq!(found(PHRASES, &text).len(), count, "{text}");
        }
    }

    #[test]
    fn flexible_phrase_of_short_words_is_literal() {
        const PHRASES: &[(&str, Compare)] = &[("to be or", Compare::Flexible)];
        assert_eq!(found(PHRASES, "to be or"), [(0, 0, 8)]);
        assert_eq!(found(PHRASES, "to  be or"), []);
    }

    #[test]
    fn rarest_gram_of_a_phrase_is_its_key() {
        let mut usage = vec![0; HASHES];
        assert_eq!(rarest(b"xqzj the", &usage, |_| true), Some(0), "the first of equal ones");
        assert_eq!(rarest(b"xqzj the", &usage, |gram| gram[0] == b' '), Some(4));
        assert_eq!(rarest(b"abc", &usage, |_| true), None);
        usage[super::hash(gram(b"xqzj").unwrap())] = 2;
        assert_eq!(rarest(b"xqzj the", &usage, |_| true), Some(1), "others use the first");
    }

    #[test]
    fn phrase_is_found_at_both_ends_of_the_text() {
        const PHRASES: &[(&str, Compare)] = &[("a scale set", Compare::Flexible)];
        assert_eq!(found(PHRASES, "a scale set"), [(0, 0, 11)]);
        assert_eq!(found(PHRASES, "scale set"), []);
    }
}

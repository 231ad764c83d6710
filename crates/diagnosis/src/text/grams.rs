//! Finds many phrases in one pass over a text.
//!
//! Every phrase is indexed by four of its bytes, its gram. A table rejects most positions of a text, four at a time: no
//! phrase has the gram found there. The few others are compared byte by byte. Building the index takes microseconds, so
//! short texts do not pay for long ones.

/// Bytes of a gram.
const GRAM: usize = 4;

/// Different hashes of grams.
const HASHES: usize = 1 << 16;

/// Positions that are tested together: a gram at each fits into eight bytes.
const STEP: usize = 4;

/// Words that logs are full of: their grams are the last to be chosen.
const SAMPLE: &[u8] = b"installing cached version of the container runtime containerd kubelet kubernetes version \
    reading package lists building dependency tree reading state information connected to microsoft.com port \
    azure archive ubuntu updates main packages http https error failed failure warning info started starting finished \
    systemd unit service session node pool cluster agent subscriptions resourcegroups providers message code status \
    name type time timestamp level logger controller request response server client reconcile network address default \
    \"metadata\": {\"labels\": \"nodepools/addresses\", \"conditions\": [{\"ready\": \"true\"}], \"internal-node-image-version\": \"aks-vmss";

/// Blanks between two words are not worth following further.
const LONGEST_GAP: usize = 80;

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
    offset: usize,
    gram: u32,
    /// Another gram of the same word and its distance from the first, which most other words do not have.
    check: (isize, u32),
}

/// Phrases ready to be found.
#[derive(Debug)]
pub(crate) struct Grams {
    phrases: Vec<Phrase>,
    /// The gram of each phrase.
    keys: Vec<u32>,
    /// For each hash, 1 if a phrase's gram has it.
    known: Vec<u8>,
    /// The first phrase of a hash, and the next one of each phrase; one more than the index.
    first: Vec<u16>,
    next: Vec<u16>,
}

impl Grams {
    pub(crate) fn new(phrases: impl Iterator<Item = (&'static str, Compare)>) -> Self {
        // How many phrases have a gram of this hash.
        let mut crowd = vec![0_u8; HASHES];
        for gram in SAMPLE.windows(GRAM).filter_map(gram) {
            crowd[hash(gram)] = crowd[hash(gram)].saturating_add(4);
        }
        let phrases: Vec<Phrase> =
            phrases.map(|(text, compare)| Phrase::new(text, compare, &mut crowd)).collect();
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
        let keys = phrases.iter().map(|phrase| phrase.gram).collect();
        Self { phrases, keys, known, first, next }
    }

    /// Calls `found` with the index, the start and the end of every phrase in a text, in the order of their grams. A
    /// phrase is not looked for any more when `found` has returned false for it.
    pub(crate) fn find(&self, text: &[u8], mut found: impl FnMut(usize, usize, usize) -> bool) {
        let mut done = vec![false; self.phrases.len()];
        let mut next = 0;
        while let Some((at, gram)) = self.next_candidate(text, next) {
            next = at + 1;
            let mut number = self.first[hash(gram) >> 4];
            while let Some(index) = usize::from(number).checked_sub(1) {
                number = self.next[index];
                if self.keys[index] == gram && !done[index] {
                    let place = self.phrases[index].stands_at(text, at);
                    done[index] = place.is_some_and(|(start, end)| !found(index, start, end));
                }
            }
        }
    }

    /// Returns the first place from `from` on whose gram may be a phrase's.
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

/// The grams at the first positions of eight bytes.
fn grams_of(bytes: [u8; 8]) -> [u32; STEP] {
    let folded = u64::from_le_bytes(bytes) | 0x2020_2020_2020_2020;
    [0, 8, 16, 24].map(|bits| first_four(folded >> bits))
}

#[allow(clippy::cast_possible_truncation, reason = "four of eight bytes are wanted")]
fn first_four(bytes: u64) -> u32 {
    bytes as u32
}

impl Phrase {
    fn new(text: &'static str, compare: Compare, crowd: &mut [u8]) -> Self {
        debug_assert!(!text.bytes().any(|byte| byte.is_ascii_uppercase()), "{text}");
        let text = text.as_bytes();
        let literal = || rarest(text, crowd, |_| true).map(|offset| (Compare::Literal, offset));
        // A gram without a blank is found whatever stands between the words.
        let flexible = || rarest(text, crowd, |gram| !gram.contains(&b' ')).map(|at| (compare, at));
        let chosen =
            if compare == Compare::Flexible { flexible().or_else(literal) } else { literal() };
        let (compare, offset) = chosen.unwrap_or((Compare::Literal, 0));
        let gram = gram(&text[offset..]).unwrap_or_default();
        crowd[hash(gram)] = crowd[hash(gram)].saturating_add(1);
        Self { text, compare, offset, gram, check: check(text, compare, offset) }
    }

    /// Whether the gram at `at` may be this phrase's, and no other word's that has it, too.
    fn may_stand_at(&self, text: &[u8], at: usize) -> bool {
        let (distance, wanted) = self.check;
        let other = at.checked_add_signed(distance).and_then(|at| text.get(at..));
        other.and_then(gram) == Some(wanted)
    }

    /// Where the phrase starts and ends, if its gram stands at `at` and the rest around it.
    #[inline(never)]
    fn stands_at(&self, text: &[u8], at: usize) -> Option<(usize, usize)> {
        if !self.may_stand_at(text, at) {
            return None;
        }
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
            at += text[at..].iter().take(LONGEST_GAP).take_while(|byte| is_gap(**byte)).count();
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
            let gap = text[..at].iter().rev().take(LONGEST_GAP);
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

/// Whether a text is a phrase, in any case.
fn is_phrase(text: &[u8], phrase: &[u8]) -> bool {
    text.iter().zip(phrase).all(|(one, other)| one.to_ascii_lowercase() == *other)
}

fn is_gap(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'>' | b'*' | b'|')
}

/// How often a byte is in logs and messages, roughly; letters of both cases by their frequency in English.
static COMMON: [u8; 256] = {
    let mut common = [2; 256];
    let letters = b"etaoinsrhldcumfpgwybvk";
    let (mut next, mut weight) = (0, 26);
    while next < letters.len() {
        common[letters[next] as usize] = weight;
        common[letters[next].to_ascii_uppercase() as usize] = weight;
        next += 1;
        weight -= 1;
    }
    common[b' ' as usize] = 26;
    let mut byte = 128;
    while byte < 256 {
        common[byte] = 1;
        byte += 1;
    }
    common
};

/// Where the gram begins that is the rarest in common texts and among phrases.
fn rarest(text: &[u8], crowd: &[u8], fits: impl Fn(&[u8; GRAM]) -> bool) -> Option<usize> {
    let mut best: Option<(u32, usize)> = None;
    let mut rest = text;
    while let Some(bytes) = rest.first_chunk::<GRAM>() {
        let common: u32 = bytes.iter().map(|byte| u32::from(COMMON[usize::from(*byte)])).sum();
        let weight = common + u32::from(crowd[hash(fold(*bytes))]) * 16;
        if best.is_none_or(|(lightest, _)| weight < lightest) && fits(bytes) {
            best = Some((weight, text.len() - rest.len()));
        }
        rest = &rest[1..];
    }
    best.map(|(_, offset)| offset)
}

/// The gram at the end of the word of the one at `offset` that is farther from it.
fn check(text: &[u8], compare: Compare, offset: usize) -> (isize, u32) {
    let is_end = |byte: &u8| compare == Compare::Flexible && *byte == b' ';
    let start = text[..offset].iter().rposition(is_end).map_or(0, |blank| blank + 1);
    let end = text[offset..].iter().position(is_end).map_or(text.len(), |blank| offset + blank);
    let last = end.saturating_sub(GRAM).max(start);
    let other = if offset - start > last - offset.min(last) { start } else { last };
    (other.cast_signed() - offset.cast_signed(), gram(&text[other..]).unwrap_or_default())
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
        grams.find(text.as_bytes(), |index, start, end| {
            all.push((index, start, end));
            true
        });
        all.sort_by_key(|(_, start, _)| *start);
        all
    }

    #[test]
    fn phrases_are_found_in_any_case_and_where_they_overlap() {
        const PHRASES: &[(&str, Compare)] = &[
            ("status=", Compare::Literal),
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

//! Phrases of wordings found in a text, with their positions.

include!(concat!(env!("OUT_DIR"), "/phrases.rs"));

const MAX_PLACES: usize = 32;
const MAX_URL: usize = 512;

#[derive(Clone, Debug, Default)]
pub(crate) struct Phrases {
    /// Indexed by phrase; empty if the text has no phrase.
    places: Vec<Vec<u32>>,
}

impl Phrases {
    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Adds a phrase from `start` to `end`; returns false if no more of its places are needed.
    pub(crate) fn add(&mut self, text: &[u8], index: usize, start: usize, end: usize) -> bool {
        let phrase = PHRASES[index];
        let is_name = !phrase.contains(' ');
        if is_name && (!is_word(text, phrase, start, end) || is_in_url(text, phrase, start)) {
            return true;
        }
        if self.places.is_empty() {
            self.places.resize(PHRASES.len(), Vec::new());
        }
        let places = &mut self.places[index];
        places.extend(u32::try_from(start));
        places.len() < MAX_PLACES
    }

    pub(crate) fn has_any(&self, numbers: &[usize]) -> bool {
        numbers.iter().any(|number| self.places.get(*number).is_some_and(|all| !all.is_empty()))
    }

    /// Returns the starts of a phrase, in the order of the text.
    pub(crate) fn places(&self, number: usize) -> impl Iterator<Item = usize> {
        self.places.get(number).into_iter().flatten().map(|at| *at as usize)
    }
}

/// Checks that a one-word phrase is a separate word. A phrase that starts or ends with a mark may be part of a name.
fn is_word(text: &[u8], phrase: &str, start: usize, end: usize) -> bool {
    let joins = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let open = |byte: Option<u8>| byte.is_some_and(|byte| !byte.is_ascii_alphanumeric());
    let before = start.checked_sub(1).and_then(|before| text.get(before));
    let bytes = phrase.as_bytes();
    (open(bytes.first().copied()) || !joins(before))
        && (open(bytes.last().copied()) || !joins(text.get(end)))
}

/// Checks for a link to a page about the name.
fn is_in_url(text: &[u8], phrase: &str, start: usize) -> bool {
    let names_host = phrase.contains('.') || phrase.contains('/') || phrase.contains('-');
    let before = &text[start.saturating_sub(MAX_URL)..start];
    let is_end =
        |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'(' | b'<');
    let token = before.iter().rposition(is_end).map_or(before, |end| &before[end + 1..]);
    let has = |part: &[u8]| memchr::memmem::find(token, part).is_some();
    !names_host && (has(b"://") && !has(b"management.azure.com") || has(b"aka.ms/"))
}

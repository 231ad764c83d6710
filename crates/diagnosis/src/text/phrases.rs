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
    let is_web = || has(b"http://") || has(b"https://");
    !names_host && (is_web() && !has(b"management.azure.com") || has(b"aka.ms/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrase_of_one_word_matches_whole_words() {
        for (text, phrase, expected) in [
            ("quota", "quota", true),
            ("(quota)", "quota", true),
            ("xquota", "quota", false),
            ("quota1", "quota", false),
            ("x/quota", "/quota", true),
            ("x/quotas", "/quota", false),
            ("quota:x", "quota:", true),
            ("xquota:", "quota:", false),
        ] {
            let start = text.find(phrase).unwrap();
            let found = is_word(text.as_bytes(), phrase, start, start + phrase.len());
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn name_in_a_link_is_not_evidence() {
        let far = format!("https://{}/quota", "x".repeat(MAX_URL));
        for (text, phrase, expected) in [
            ("https://docs/quota", "quota", true),
            ("aka.ms/quota", "quota", true),
            ("see (https://docs) quota", "quota", false),
            ("https://docs\"quota", "quota", false),
            ("https://docs'quota", "quota", false),
            ("https://docs(quota", "quota", false),
            ("https://docs<quota", "quota", false),
            ("https://management.azure.com/quota", "quota", false),
            ("https://docs/a.quota", "a.quota", false),
            ("https://docs/a/quota", "a/quota", false),
            ("https://docs/a-quota", "a-quota", false),
            ("docs/quota", "quota", false),
            (&far, "quota", false),
        ] {
            let start = text.find(phrase).unwrap();
            assert_eq!(is_in_url(text.as_bytes(), phrase, start), expected, "{text}");
        }
    }

    #[test]
    fn number_of_places_is_limited() {
        let phrase = PHRASES.iter().position(|phrase| phrase.contains(' ')).unwrap();
        let mut found = Phrases::default();
        assert!(found.is_empty() && !found.has_any(&[phrase]));
        let adds: Vec<bool> = (0..MAX_PLACES).map(|at| found.add(b"", phrase, at, at)).collect();
        assert!(adds[..MAX_PLACES - 1].iter().all(|more| *more) && !adds[MAX_PLACES - 1]);
        assert!(!found.is_empty() && found.has_any(&[phrase]));
        assert!(found.places(phrase).eq(0..MAX_PLACES));
    }
}

//! Reading words, numbers and quoted names where people have wrapped, indented and marked the text.

use std::ops::Range;

/// Blanks between two words are not worth following further.
const LONGEST_GAP: usize = 80;

/// Names of extensions, images and error codes are shorter.
const LONGEST_NAME: usize = 128;

/// Code, target and the beginning of a message's sentence are shorter.
const LONGEST_HEAD: usize = 320;

fn is_gap(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'>' | b'*' | b'|')
}

/// The place of the first byte that is no blank.
pub(crate) fn skip_gap(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.iter().take(LONGEST_GAP).take_while(|byte| is_gap(**byte)).count()
}

/// The end of `phrase`, if it stands at `at` in any case; one blank of it stands for any blanks.
pub(crate) fn phrase(text: &[u8], at: usize, phrase: &str) -> Option<usize> {
    let mut at = skip_gap(text, at);
    for (number, word) in phrase.split(' ').enumerate() {
        if number > 0 {
            let next = skip_gap(text, at);
            if next == at {
                return None;
            }
            at = next;
        }
        let end = at + word.len();
        if !text.get(at..end)?.eq_ignore_ascii_case(word.as_bytes()) {
            return None;
        }
        at = end;
    }
    Some(at)
}

/// Whether `phrase` ends right before `end`, but for blanks.
pub(crate) fn follows(text: &[u8], end: usize, phrase: &str) -> bool {
    let mut end = end;
    for word in phrase.rsplit(' ') {
        let gap = text[..end].iter().rev().take(LONGEST_GAP).take_while(|byte| is_gap(**byte));
        end -= gap.count();
        let Some(start) = end.checked_sub(word.len()) else { return false };
        if !text[start..end].eq_ignore_ascii_case(word.as_bytes()) {
            return false;
        }
        end = start;
    }
    true
}

/// A whole number at `at` and its end. Blanks and marks may stand before it, never a letter or a
/// point behind it.
pub(crate) fn number(text: &[u8], at: usize) -> Option<(i64, usize)> {
    let start = skip_gap(text, at);
    let rest = text.get(start..)?;
    let sign = usize::from(rest.first() == Some(&b'-'));
    let digits = rest[sign..].iter().take(12).take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 || digits > 10 {
        return None;
    }
    let end = sign + digits;
    let glued = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_';
    // A line end whose backslash was lost: `50n[stdout]`.
    let end_of_line = matches!(&rest[end..], [b'n', b'[' | b'{', ..] | [b'n', b'n', b'[', ..]);
    let decimal = rest.get(end) == Some(&b'.') && rest.get(end + 1).is_some_and(u8::is_ascii_digit);
    if rest.get(end).is_some_and(glued) && !end_of_line || decimal {
        return None;
    }
    let number = std::str::from_utf8(&rest[..end]).ok()?.parse().ok()?;
    (!may_go_on(number) || !is_cut(text, start + end)).then_some((number, start + end))
}

/// Whether digits may be missing at a code's end: no code is above 255, so 5 may be the head of 51,
/// but 50 is whole.
fn may_go_on(number: i64) -> bool {
    (1..=25).contains(&number)
}

/// Whether somebody has cut the text here and says so.
pub(crate) fn is_cut(text: &[u8], at: usize) -> bool {
    let rest = text.get(at..).unwrap_or_default();
    let marks: [&[u8]; 4] = [b"...", "\u{2026}".as_bytes(), b" ... [TRUNCATED]", b"[TRUNCATED]"];
    marks.iter().any(|mark| rest.starts_with(mark))
}

/// A number that stands in quotes, whose end is therefore known, or bare.
pub(crate) fn quoted_number(text: &[u8], at: usize) -> Option<(i64, usize)> {
    let at = skip_gap(text, at);
    match text.get(at) {
        Some(quote @ (b'"' | b'\'')) => {
            let start = at + quotes(text, at);
            let ends = |end: usize| text.get(skip_gap(text, end)) == Some(quote);
            number(text, start).filter(|(_, end)| ends(*end)).or_else(|| halves(text, start, ends))
        }
        _ => number(text, at),
    }
}

/// A number that a line end has cut in two, if what follows shows that it ends there and not before.
pub(crate) fn halves(text: &[u8], at: usize, ends: impl Fn(usize) -> bool) -> Option<(i64, usize)> {
    let digits = |at: usize| {
        let rest = text.get(at..).unwrap_or_default();
        rest.iter().take(4).take_while(|byte| byte.is_ascii_digit()).count()
    };
    let middle = at + digits(at);
    let second = skip_gap(text, middle);
    let end = second + digits(second);
    let len = (middle - at) + (end - second);
    let cut = text[middle..second].contains(&b'\n') && middle > at && end > second && len <= 3;
    if !cut || !ends(end) {
        return None;
    }
    let both = [&text[at..middle], &text[second..end]].concat();
    Some((std::str::from_utf8(&both).ok()?.parse().ok()?, end))
}

/// What stands in quotes, or the next word where there are none.
pub(crate) fn name(text: &[u8], at: usize) -> Option<Range<usize>> {
    let at = skip_gap(text, at);
    let (start, quote) = match text.get(at) {
        Some(quote @ (b'"' | b'\'')) => {
            let doubled = text.get(at + 2).is_some_and(u8::is_ascii_alphanumeric);
            (at + if doubled { quotes(text, at) } else { 1 }, Some(*quote))
        }
        _ => (at, None),
    };
    let rest = text.get(start..)?;
    let mut inside = rest.iter().take(LONGEST_NAME);
    let len = match quote {
        Some(quote) => inside.position(|byte| *byte == quote)?,
        None => inside.take_while(|byte| is_name(**byte)).count(),
    };
    (len > 0).then_some(start..start + len)
}

/// The word around a place: letters, digits and what names are joined with.
pub(crate) fn word_around(text: &[u8], at: usize, joins: &[u8]) -> Range<usize> {
    let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || joins.contains(byte);
    let before = text[..at].iter().rev().take(LONGEST_NAME).take_while(is_word).count();
    let behind = text[at..].iter().take(LONGEST_NAME).take_while(is_word).count();
    at - before..at + behind
}

/// Where the value of a key starts: behind its closing quote and a colon or an equals sign. CSV and
/// YAML write a quote inside of quotes twice.
pub(crate) fn value(text: &[u8], end: usize) -> Option<usize> {
    let at = skip_gap(text, end + quotes(text, end));
    matches!(text.get(at), Some(b':' | b'=')).then_some(at + 1)
}

/// How many quotes of one kind stand here: none, one, or one that is written twice.
fn quotes(text: &[u8], at: usize) -> usize {
    match text.get(at..) {
        Some([b'"', b'"', ..] | [b'\'', b'\'', ..]) => 2,
        Some([b'"' | b'\'', ..]) => 1,
        _ => 0,
    }
}

/// Whether an object of a JSON list begins shortly before `at`, and another one before it.
pub(crate) fn follows_in_list(text: &[u8], at: usize) -> bool {
    let before = &text[at.saturating_sub(LONGEST_HEAD)..at];
    let Some(start) = memchr::memrchr(b'{', before) else { return false };
    let (outside, inside) = (before[..start].trim_ascii_end(), &before[start..]);
    let behind_another = outside.strip_suffix(b",").map(<[u8]>::trim_ascii_end);
    behind_another.is_some_and(|outside| outside.ends_with(b"}"))
        && !inside.contains(&b'}')
        && memchr::memmem::find(inside, b"\"message\"").is_some()
}

/// A name for keeping, without the full stop of its sentence.
pub(crate) fn owned(text: &[u8], range: Range<usize>) -> String {
    String::from_utf8_lossy(&text[range]).trim_end_matches('.').to_owned()
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

#[cfg(test)]
mod tests {
    use super::{follows, follows_in_list, name, number, phrase, quoted_number};

    #[test]
    fn a_phrase_is_found_across_wrapped_and_quoted_lines() {
        let text = b"failed to execute \n> command: x";
        assert_eq!(phrase(text, 0, "failed to execute command:"), Some(29));
        assert!(follows(text, 28, "to execute command"));
        assert!(!follows(text, 28, "to run command"));
    }

    #[test]
    fn a_number_ends_where_no_word_goes_on() {
        assert_eq!(number(b" *50*", 0), Some((50, 4)));
        assert_eq!(number(b"-1 ", 0), Some((-1, 2)));
        for no in [&b"5x"[..], b"5.5", b"x", b"12345678901", b""] {
            assert_eq!(number(no, 0), None);
        }
        assert_eq!(quoted_number(b"\"51\"", 0), Some((51, 3)));
        assert_eq!(quoted_number(b"\"\"51\"\"", 0), Some((51, 4)));
        assert_eq!(quoted_number(b"\"5", 0), None);
        assert_eq!(quoted_number(b"\"2\n11\"", 0), Some((211, 5)));
        assert_eq!(quoted_number(b"\"2\n11 x\"", 0), None);
    }

    #[test]
    fn a_number_that_may_be_cut_is_none() {
        for (text, code) in [("5...", None), ("5 ... [TRUNCATED]", None), ("21\u{2026}", None)] {
            assert_eq!(number(text.as_bytes(), 0).map(|(code, _)| code), code, "{text}");
        }
        for (text, code) in [("50...", 50), ("124...", 124), ("5 ...", 5), ("5", 5)] {
            assert_eq!(number(text.as_bytes(), 0).map(|(code, _)| code), Some(code), "{text}");
        }
    }

    #[test]
    fn an_item_of_a_list_is_told_from_a_repetition() {
        let list = br#"[{"message": "a"}, {"code": "c", "message": "processing"#;
        assert!(follows_in_list(list, list.len() - 10));
        for other in
            [&br#"[{"code": "c", "message": "processing"#[..], br#"}, "error": {"message": "x"#]
        {
            assert!(!follows_in_list(other, other.len()));
        }
    }

    #[test]
    fn a_name_stands_in_quotes_or_is_a_word() {
        assert_eq!(name(b" 'a b'", 0), Some(2..5));
        assert_eq!(name(b" cse-agent-0 has", 0), Some(1..12));
        assert_eq!(name(b"''a''", 0), Some(2..3));
        assert_eq!(name(b" 'open", 0), None);
    }
}

//! Reads words, numbers and quoted names in text that was wrapped, indented or marked up.

use std::ops::Range;

/// Limit of the blanks between two words.
pub(super) const MAX_GAP: usize = 80;

/// Limit of names of extensions, images and error codes.
const MAX_NAME: usize = 128;

/// Limit of the code, target and beginning of a message.
const MAX_HEAD: usize = 320;

pub(super) fn is_gap(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'>' | b'*' | b'|')
}

/// Returns the position of the first byte after blanks and quoting marks.
pub(crate) fn skip_gap(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.iter().take(MAX_GAP).take_while(|byte| is_gap(**byte)).count()
}

/// Returns the end of `phrase` at `at`, in any case; a blank matches any blanks.
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

/// Checks that `phrase` precedes `end`, ignoring blanks.
pub(crate) fn follows(text: &[u8], end: usize, phrase: &str) -> bool {
    let mut end = end;
    for word in phrase.rsplit(' ') {
        let gap = text[..end].iter().rev().take(MAX_GAP).take_while(|byte| is_gap(**byte));
        end -= gap.count();
        let Some(start) = end.checked_sub(word.len()) else { return false };
        if !text[start..end].eq_ignore_ascii_case(word.as_bytes()) {
            return false;
        }
        end = start;
    }
    true
}

/// Reads an integer and returns it with its end. Skips blanks and marks before it; rejects letters and decimals after it.
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
    (!may_be_cut(number) || !is_cut(text, start + end)).then_some((number, start + end))
}

/// Returns true if digits may be missing: no code exceeds 255, so 5 may be the start of 51, but 50 is complete.
fn may_be_cut(number: i64) -> bool {
    (1..=25).contains(&number)
}

/// Checks for an ellipsis or another mark of truncation.
pub(crate) fn is_cut(text: &[u8], at: usize) -> bool {
    let rest = text.get(at..).unwrap_or_default();
    let marks: [&[u8]; 4] = [b"...", "\u{2026}".as_bytes(), b" ... [TRUNCATED]", b"[TRUNCATED]"];
    marks.iter().any(|mark| rest.starts_with(mark))
}

/// Reads a number in quotes, which show its end, or a bare one.
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

/// Reads a number that a line end splits, if the text after it shows its end.
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

/// Returns the range of a quoted name or of the next word.
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
    let mut inside = rest.iter().take(MAX_NAME);
    let len = match quote {
        Some(quote) => inside.position(|byte| *byte == quote)?,
        None => inside.take_while(|byte| is_name(**byte)).count(),
    };
    (len > 0).then_some(start..start + len)
}

/// Returns the word around a position: letters, digits and `joins`.
pub(crate) fn word_around(text: &[u8], at: usize, joins: &[u8]) -> Range<usize> {
    let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || joins.contains(byte);
    let before = text[..at].iter().rev().take(MAX_NAME).take_while(is_word).count();
    let after = text[at..].iter().take(MAX_NAME).take_while(is_word).count();
    at - before..at + after
}

/// Returns the start of a key's value, after its closing quote, which CSV and YAML double, and a colon or equals sign.
pub(crate) fn value(text: &[u8], end: usize) -> Option<usize> {
    let at = skip_gap(text, end + quotes(text, end));
    matches!(text.get(at), Some(b':' | b'=')).then_some(at + 1)
}

/// Counts quotes: none, one, or a doubled one.
fn quotes(text: &[u8], at: usize) -> usize {
    match text.get(at..) {
        Some([b'"', b'"', ..] | [b'\'', b'\'', ..]) => 2,
        Some([b'"' | b'\'', ..]) => 1,
        _ => 0,
    }
}

/// Checks that a JSON object begins shortly before `at`, after another object of the same list.
pub(crate) fn follows_in_list(text: &[u8], at: usize) -> bool {
    let before = &text[at.saturating_sub(MAX_HEAD)..at];
    let Some(start) = memchr::memrchr(b'{', before) else { return false };
    let (outside, inside) = (before[..start].trim_ascii_end(), &before[start..]);
    let before_comma = outside.strip_suffix(b",").map(<[u8]>::trim_ascii_end);
    before_comma.is_some_and(|outside| outside.ends_with(b"}"))
        && !inside.contains(&b'}')
        && memchr::memmem::find(inside, b"\"message\"").is_some()
}

/// Returns a name as a string, without the period that ends its sentence.
pub(crate) fn owned(text: &[u8], range: Range<usize>) -> String {
    String::from_utf8_lossy(&text[range]).trim_end_matches('.').to_owned()
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

#[cfg(test)]
mod tests {
    use super::{
        MAX_GAP, MAX_HEAD, MAX_NAME, follows, follows_in_list, halves, name, number, owned, phrase,
        quoted_number, skip_gap, value, word_around,
    };

    #[test]
    fn phrase_matches_across_wrapped_and_quoted_lines() {
        let text = b"failed to execute \n> command: x";
        assert_eq!(phrase(text, 0, "failed to execute command:"), Some(29));
        assert!(follows(text, 28, "to execute command"));
        assert!(!follows(text, 28, "to run command"));
        assert_eq!(phrase(b"exit  status", 0, "exit status"), Some(12));
        assert_eq!(phrase(b"exitstatus", 0, "exit status"), None);
        assert_eq!(phrase(b"exit stat", 0, "exit status"), None);
        assert!(follows(b"exit ", 5, "exit") && !follows(b"xit ", 4, "exit"));
        assert!(!follows(b"no exit", 7, "to exit"));
    }

    #[test]
    fn gap_is_limited_and_has_blanks_and_quoting_marks() {
        assert_eq!(skip_gap(b"a \t\n>*|b", 1), 7);
        assert_eq!((skip_gap(b"a", 0), skip_gap(b"a", 5)), (0, 5));
        let blanks = vec![b' '; MAX_GAP + 1];
        assert_eq!((skip_gap(&blanks, 0), skip_gap(&blanks, 1)), (MAX_GAP, MAX_GAP + 1));
    }

    #[test]
    fn number_may_be_followed_by_a_line_end_without_backslash() {
        for text in ["50n[stdout]", "50n{", "50nn[", "50.", "50,", "50 n["] {
            assert_eq!(number(text.as_bytes(), 0), Some((50, 2)), "{text}");
        }
        for text in ["50n", "50nx", "50nn{", "50_", "50.1", "-", "-x"] {
            assert_eq!(number(text.as_bytes(), 0), None, "{text}");
        }
        assert_eq!(number(b"1234567890", 0), Some((1_234_567_890, 10)));
        assert_eq!(number(b"x  51 ", 1), Some((51, 5)));
    }

    #[test]
    fn halves_of_a_number_have_three_digits_and_a_known_end() {
        let read =
            |text: &str| halves(text.as_bytes(), 0, |end| text.as_bytes().get(end) == Some(&b']'));
        assert_eq!(read("2\n11]"), Some((211, 4)));
        assert_eq!(read("21\n> 1]"), Some((211, 6)));
        for text in ["2 11]", "21\n11]", "\n11]", "2\n]", "2\n11", "211]"] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(halves(b"x5\n0]", 1, |end| end == 4), Some((50, 4)));
        for four in ["1\n234]", "12\n34]", "123\n4]"] {
            assert_eq!(read(four), None, "{four}");
        }
    }

    #[test]
    fn value_follows_a_key_with_or_without_quotes() {
        for (text, at) in [("\": 5", 2), ("'= 5", 2), ("\"\" : 5", 4), ("'': 5", 3), (":5", 1)] {
            assert_eq!(value(text.as_bytes(), 0), Some(at), "{text}");
        }
        for text in [" 5", "\" 5", "'\": 5", ""] {
            assert_eq!(value(text.as_bytes(), 0), None, "{text}");
        }
    }

    #[test]
    fn words_and_names_have_limits() {
        assert_eq!(word_around(b"a b-c d", 3, b"-"), 2..5);
        assert_eq!(word_around(b"a b-c d", 3, b""), 2..3);
        assert_eq!(word_around(&[b'a'; 400], 200, b""), 200 - MAX_NAME..200 + MAX_NAME);
        assert_eq!(owned(b"ab.cd. ", 0..6), "ab.cd");
        let quoted = |len: usize| name(format!("'{}'", "a".repeat(len)).as_bytes(), 0);
        assert_eq!(quoted(MAX_NAME - 1), Some(1..MAX_NAME));
        assert_eq!((quoted(MAX_NAME), quoted(0)), (None, None));
        assert_eq!(name(&[b'a'; 400], 0), Some(0..MAX_NAME));
    }

    #[test]
    fn number_is_rejected_when_letters_follow() {
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
        assert_eq!(quoted_number(b" '51 '", 0), Some((51, 4)));
        assert_eq!(quoted_number(b"\"51'", 0), None);
        assert_eq!(quoted_number(b" 51", 0), Some((51, 3)));
    }

    #[test]
    fn possibly_truncated_number_is_rejected() {
        for text in ["5...", "5 ... [TRUNCATED]", "5[TRUNCATED]", "21\u{2026}", "1...", "25..."] {
            assert_eq!(number(text.as_bytes(), 0), None, "{text}");
        }
        for (text, code) in
            [("26...", 26), ("124...", 124), ("0...", 0), ("-1...", -1), ("5 ...", 5), ("5", 5)]
        {
            assert_eq!(number(text.as_bytes(), 0).map(|(code, _)| code), Some(code), "{text}");
        }
    }

    #[test]
    fn list_item_is_distinguished_from_a_repetition() {
        let list = br#"[{"message": "a"}, {"code": "c", "message": "processing"#;
        assert!(follows_in_list(list, list.len() - 10));
        for other in
            [&br#"[{"code": "c", "message": "processing"#[..], br#"}, "error": {"message": "x"#]
        {
            assert!(!follows_in_list(other, other.len()));
        }
        let long = |len: usize| {
            let head = r#"{"message": ""#;
            format!("[{{}}, {head}{}", "x".repeat(len - head.len()))
        };
        for (text, is_item) in [
            (long(MAX_HEAD - 3), true),
            (long(MAX_HEAD + 1), false),
            (r#"{}, {"code": "c"#.to_owned(), false),
            (r#"{} {"message": "m"#.to_owned(), false),
            (r#"{}, {"message": "m"}"#.to_owned(), false),
            (r#"[1, {"message": "m"#.to_owned(), false),
        ] {
            assert_eq!(follows_in_list(text.as_bytes(), text.len()), is_item, "{text}");
        }
    }

    #[test]
    fn name_is_quoted_or_a_word() {
        assert_eq!(name(b" 'a b'", 0), Some(2..5));
        assert_eq!(name(b" cse-agent-0 has", 0), Some(1..12));
        assert_eq!(name(b"a_b.c-d e", 0), Some(0..7));
        assert_eq!(name(b"'-a'", 0), Some(1..3));
        assert_eq!((name(b"''", 0), name(b"/a", 0)), (None, None));
        assert_eq!(name(b"''a''", 0), Some(2..3));
        assert_eq!(name(b" 'open", 0), None);
    }
}

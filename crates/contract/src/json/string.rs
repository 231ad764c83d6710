//! Strings: escapes, surrogates and UTF-8.

use std::borrow::Cow;

use super::{Dialect, Error, Problem};

const REPLACEMENT: char = '\u{FFFD}';

/// Reads the string with its opening quote at `start`; returns it and the offset after the closing quote. `text` is the
/// whole input, if that is UTF-8.
pub(super) fn read<'a>(
    input: &'a [u8],
    text: Option<&'a str>,
    start: usize,
    dialect: Dialect,
) -> Result<(Cow<'a, str>, usize), Error> {
    let mut at = start + 1;
    let mut owned: Option<String> = None;
    loop {
        let run_start = at;
        at += plain_len(&input[at..]);
        let run = match text.and_then(|text| text.get(run_start..at)) {
            Some(run) => Cow::Borrowed(run),
            None => decode_utf8(&input[run_start..at], run_start, dialect)?,
        };
        match input.get(at) {
            Some(b'"') => {
                let text = match owned {
                    None => run,
                    Some(before) => Cow::Owned(before + &run),
                };
                return Ok((text, at + 1));
            }
            Some(b'\\') => {
                let text = owned.get_or_insert_default();
                text.push_str(&run);
                let (character, behind) = read_escape(input, at, dialect)?;
                text.push(character);
                at = behind;
            }
            end => return Err(no_end(end, at)),
        }
    }
}

/// Passes over a string, whose text is not needed, as [`read`] does: returns the offset after it.
pub(super) fn skip(input: &[u8], start: usize, dialect: Dialect) -> Result<usize, Error> {
    let mut at = start + 1;
    loop {
        at += plain_len(&input[at..]);
        match input.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => at = read_escape(input, at, dialect)?.1,
            end => return Err(no_end(end, at)),
        }
    }
}

fn no_end(found: Option<&u8>, at: usize) -> Error {
    match found {
        None => Problem::UnexpectedEnd.at(at),
        Some(_) => Problem::Syntax("no raw control character inside a string").at(at),
    }
}

/// The number of bytes before the first quote, backslash or control character, eight at a time.
fn plain_len(bytes: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // The lowest marked byte is right; a borrow can only mark bytes above it.
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word & HIGH;
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let quotes = below(word ^ (ONES * u64::from(b'"')), 1);
        let backslashes = below(word ^ (ONES * u64::from(b'\\')), 1);
        let found = quotes | backslashes | below(word, b' ');
        if found != 0 {
            return index * 8 + (found.trailing_zeros() / 8) as usize;
        }
    }
    let is_plain = |byte: &&u8| !matches!(**byte, b'"' | b'\\' | 0..b' ');
    words.len() * 8 + rest.iter().take_while(is_plain).count()
}

fn decode_utf8(run: &[u8], offset: usize, dialect: Dialect) -> Result<Cow<'_, str>, Error> {
    match dialect {
        Dialect::Go => Ok(lossy(run)),
        Dialect::Protobuf => std::str::from_utf8(run)
            .map(Cow::Borrowed)
            .map_err(|error| Problem::NotUtf8.at(offset + error.valid_up_to())),
    }
}

/// Returns bytes as text, with U+FFFD for every byte that is not part of a character, as in Go.
pub fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    mooring_redact::lossy(bytes, REPLACEMENT)
}

/// Reads the escape with its backslash at `at`.
fn read_escape(input: &[u8], at: usize, dialect: Dialect) -> Result<(char, usize), Error> {
    let simple = match input.get(at + 1) {
        None => return Err(Problem::UnexpectedEnd.at(input.len())),
        Some(&byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{C}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return read_unicode_escape(input, at, dialect),
        Some(_) => return Err(Problem::Syntax("a known escape after the backslash").at(at)),
    };
    Ok((simple, at + 2))
}

fn read_unicode_escape(input: &[u8], at: usize, dialect: Dialect) -> Result<(char, usize), Error> {
    let unit = hex_unit(input, at)?;
    let behind = at + 6;
    if let Some(character) = char::from_u32(unit) {
        return Ok((character, behind));
    }
    // Half of a surrogate pair: the other half must follow at once.
    let low = match input.get(behind..behind + 2) {
        Some(b"\\u") => hex_unit(input, behind).ok(),
        _ => None,
    };
    match (low, dialect) {
        (Some(low @ 0xDC00..=0xDFFF), _) if unit < 0xDC00 => {
            let code = 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
            Ok((char::from_u32(code).unwrap_or(REPLACEMENT), behind + 6))
        }
        (_, Dialect::Go) => Ok((REPLACEMENT, behind)),
        (_, Dialect::Protobuf) => {
            Err(Problem::Syntax("a pair of surrogate escapes, not half of one").at(at))
        }
    }
}

/// Returns the four hexadecimal digits of the `\u` at `at`.
fn hex_unit(input: &[u8], at: usize) -> Result<u32, Error> {
    let digits = input.get(at + 2..at + 6).ok_or_else(|| Problem::UnexpectedEnd.at(input.len()))?;
    digits.iter().try_fold(0, |unit, &byte| {
        let digit = char::from(byte)
            .to_digit(16)
            .ok_or_else(|| Problem::Syntax("four hexadecimal digits after \\u").at(at))?;
        Ok(unit * 16 + digit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protobuf(text: &[u8]) -> Result<String, Problem> {
        read(text, None, 0, Dialect::Protobuf).map(|(s, _)| s.into_owned()).map_err(|e| e.problem)
    }

    fn go(text: &[u8]) -> Result<String, Problem> {
        read(text, None, 0, Dialect::Go).map(|(s, _)| s.into_owned()).map_err(|e| e.problem)
    }

    #[test]
    fn a_plain_string_is_borrowed() {
        assert!(matches!(
            read(b"\"abc\"", None, 0, Dialect::Protobuf),
            Ok((Cow::Borrowed("abc"), 5))
        ));
    }

    #[test]
    fn escapes_and_surrogate_pairs_are_decoded() {
        assert_eq!(
            protobuf(br#""a\"\\\/\b\f\n\r\t\u0041\ud83d\ude00\u0000""#).unwrap(),
            "a\"\\/\u{8}\u{c}\n\r\tA\u{1F600}\0"
        );
    }

    #[test]
    fn lone_surrogate_is_rejected_by_protobuf_replaced_by_go() {
        for half in [
            r#""\ud800""#,
            r#""\udc00""#,
            r#""\ud800\u0041""#,
            r#""\ud800x12345""#,
            r#""\udc00\udc00""#,
            r#""\udc01\ude00""#,
        ] {
            assert!(matches!(protobuf(half.as_bytes()), Err(Problem::Syntax(_))), "{half}");
        }
        assert_eq!(go(br#""\ud800""#).unwrap(), "\u{FFFD}");
        assert_eq!(go(br#""\ud800\u0041""#).unwrap(), "\u{FFFD}A");
        assert_eq!(go(br#""\udc00\udc00""#).unwrap(), "\u{FFFD}\u{FFFD}");
        assert_eq!(go(br#""\ud800\ud83d\ude00""#).unwrap(), "\u{FFFD}\u{1F600}");
    }

    #[test]
    fn invalid_utf8_is_rejected_by_protobuf_replaced_by_go() {
        assert_eq!(read(b"\"a\xff\"", None, 0, Dialect::Protobuf), Err(Problem::NotUtf8.at(2)));
        assert_eq!(go(b"\"a\xe2\x82b\"").unwrap(), "a\u{FFFD}\u{FFFD}b");
    }

    #[test]
    fn a_string_ends_at_the_same_byte_whether_it_is_read_or_skipped() {
        for special in
            ['"', '\\', '\u{1}', '\u{1f}', ' ', '\u{7f}', '\u{80}', 'é', '\u{FFFD}', '!', '#']
        {
            for before in 0..20 {
                let text = format!("\"{}{special}n{}\"", "~".repeat(before), "x".repeat(9));
                let bytes = text.as_bytes();
                let read_end = read(bytes, Some(&text), 0, Dialect::Go).map(|(_, end)| end);
                assert_eq!(skip(bytes, 0, Dialect::Go), read_end, "{text:?}");
                let plain = bytes[1..].iter().position(|&b| matches!(b, b'"' | b'\\' | 0..b' '));
                assert_eq!(Some(plain_len(&bytes[1..])), plain, "{text:?}");
            }
        }
    }

    #[test]
    fn unterminated_string_is_an_unexpected_end() {
        for cut in ["\"", "\"a", "\"a\\", "\"\\u12", "\"\\ud800"] {
            let problem = protobuf(cut.as_bytes()).unwrap_err();
            assert!(matches!(problem, Problem::UnexpectedEnd | Problem::Syntax(_)), "{cut}");
        }
    }
}

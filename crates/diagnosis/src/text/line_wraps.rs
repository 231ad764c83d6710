//! Repairs lines that a terminal, a mail client or a form wrapped at its width.
//!
//! Most readers skip line ends. Words and numbers that are split by one need more: numbers at the end of one line and
//! the start of the next are usually separate, so they are joined only if the lines were wrapped at a fixed width.

use std::borrow::Cow;

/// Longer texts are not from a terminal.
const MAX_BYTES: usize = 1 << 16;

/// Shorter lines have equal lengths too often.
const MIN_WIDTH: usize = 40;

const MAX_DIGITS: usize = 3;

/// Joins the halves of split numbers.
pub(crate) fn join_numbers(input: &[u8]) -> Cow<'_, [u8]> {
    if input.len() > MAX_BYTES {
        return Cow::Borrowed(input);
    }
    let lines: Vec<&[u8]> = input.split(|byte| *byte == b'\n').collect();
    let mut out: Vec<u8> = Vec::new();
    let mut copied = 0;
    let mut start = 0;
    for index in 0..lines.len() {
        let end = start + lines[index].len();
        if let Some(marks) = split_number_marks(&lines, index) {
            out.extend_from_slice(&input[copied..start + trim_cr(lines[index]).len()]);
            copied = end + 1 + marks;
        }
        start = end + 1;
    }
    if copied == 0 {
        return Cow::Borrowed(input);
    }
    out.extend_from_slice(&input[copied..]);
    Cow::Owned(out)
}

/// Returns the number of quoting marks before the second half of a number that this line end splits.
fn split_number_marks(lines: &[&[u8]], index: usize) -> Option<usize> {
    let line = trim_cr(lines[index]);
    if line.len() < MIN_WIDTH || !line.last()?.is_ascii_digit() {
        return None;
    }
    let next = trim_cr(lines.get(index + 1)?);
    let marks = next.iter().take_while(|byte| matches!(byte, b'>' | b' ')).count();
    // Indented but not quoted: a separate line.
    let marks = if next[..marks].contains(&b'>') || marks == 0 { marks } else { return None };
    let head = line.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let tail = next[marks..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_number = (1..MAX_DIGITS).contains(&tail) && head + tail <= MAX_DIGITS;
    // A date, a time, an address or a decimal number starts a separate line.
    let continues = next.get(marks + tail).is_some_and(|byte| b":-./,%".contains(byte));
    // Lines that were wrapped at a width have equal lengths.
    let before = index.checked_sub(1).map(|before| trim_cr(lines[before]).len());
    let is_full = before == Some(line.len()) || next.len() == line.len();
    (is_number && !continues && is_full).then_some(marks)
}

fn trim_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Joins all lines, except between two digits: see [`join_numbers`].
pub(crate) fn join_lines(text: &[u8]) -> Option<Vec<u8>> {
    if text.len() > MAX_BYTES || memchr::memchr(b'\n', text).is_none() {
        return None;
    }
    let is_digit =
        |at: Option<usize>| at.and_then(|at| text.get(at)).is_some_and(u8::is_ascii_digit);
    let stays = |at: usize| is_digit(at.checked_sub(1)) && is_digit(Some(at + 1));
    let kept = |(at, byte): (usize, &u8)| (*byte != b'\n' || stays(at)).then_some(*byte);
    Some(text.iter().enumerate().filter_map(kept).collect())
}

#[cfg(test)]
mod tests {
    use super::{MAX_BYTES, join_lines, join_numbers};

    fn wrapped(text: &str, width: usize, mark: &str) -> Vec<u8> {
        let lines: Vec<String> = text
            .as_bytes()
            .chunks(width)
            .map(|line| format!("{mark}{}", String::from_utf8_lossy(line)))
            .collect();
        lines.join("\n").into_bytes()
    }

    #[test]
    fn number_split_by_a_line_wrap_is_joined() {
        let text = format!("{}status=50 {}", "a".repeat(40), "b".repeat(60));
        for mark in ["", "> "] {
            let input = wrapped(&text, 48, mark);
            let joined = join_numbers(&input).into_owned();
            assert!(joined.windows(10).any(|part| part == b"status=50 "), "{mark}");
        }
    }

    #[test]
    fn separate_numbers_stay_separate() {
        let line = "x".repeat(50);
        for (one, two) in [
            (format!("{line} status=5"), "0 errors found".to_owned()),
            (format!("{line} status=5"), format!("08:35:29 {line}")),
            (format!("{line} status=5"), format!("2026 {line}  ..")),
            (format!("{line} status=251"), format!("1 {line}        ")),
            ("status=5".to_owned(), "0 errors".to_owned()),
        ] {
            let input = format!("{one}\n{two}\n");
            assert_eq!(&*join_numbers(input.as_bytes()), input.as_bytes());
        }
    }

    #[test]
    fn number_is_joined_only_between_lines_of_one_width() {
        let line = |len: usize, end: &str| format!("{}{end}", "x".repeat(len - end.len()));
        let begin = |len: usize, start: &str| format!("{start}{}", "y".repeat(len - start.len()));
        let is_joined = |lines: &[String]| {
            let input = lines.join("\n");
            join_numbers(input.as_bytes()).len() < input.len()
        };
        for (first, second, expected) in [
            (line(40, "=5"), begin(40, "0 "), true),
            (line(39, "=5"), begin(39, "0 "), false),
            (line(40, "=5"), begin(41, "0 "), false),
            (line(40, "=2"), begin(40, "11 "), true),
            (line(40, "=21"), begin(40, "1 "), true),
            (line(40, "=21"), begin(40, "11 "), false),
            (line(40, "="), begin(40, "211 "), false),
            (line(40, "=5"), begin(40, "0:"), false),
            (line(40, "=5"), begin(40, "0."), false),
            (line(40, "=5"), begin(40, "x"), false),
            (line(40, "=x"), begin(40, "0 "), false),
            (line(40, "=5"), begin(40, " 0 "), false),
            (line(40, "=5"), begin(40, "> 0 "), true),
            (line(40, "=5") + "\r", begin(40, "0 ") + "\r", true),
            (line(40, "=211"), begin(40, "1 "), false),
        ] {
            assert_eq!(is_joined(&[first.clone(), second.clone()]), expected, "{first} {second}");
        }
        // The line before has the same width.
        let last = "0".to_owned();
        assert!(is_joined(&[begin(40, ""), line(40, "=5"), last.clone()]));
        assert!(!is_joined(&[begin(41, ""), line(40, "=5"), last]));
        assert_eq!(&*join_numbers(b"a\n"), b"a\n");
    }

    #[test]
    fn lines_are_joined_if_a_terminal_wrapped_them() {
        let wrapped = format!("{}5\n0{}\n", "x".repeat(49), "y".repeat(49));
        let filled = |len: usize| {
            let mut text = wrapped.clone().into_bytes();
            text.resize(len, b'z');
            text
        };
        let (short, long) = (filled(MAX_BYTES), filled(MAX_BYTES + 1));
        assert_eq!(
            (join_numbers(&short).len(), join_numbers(&long).len()),
            (MAX_BYTES - 1, MAX_BYTES + 1)
        );
        assert_eq!(
            (join_lines(&short).map(|text| text.len()), join_lines(&long)),
            (Some(MAX_BYTES - 1), None)
        );
    }

    #[test]
    fn lines_are_joined_except_between_digits() {
        assert_eq!(join_lines(b"sta\ntus=5\n0").unwrap(), b"status=5\n0");
        assert_eq!(join_lines(b"one line"), None);
        assert_eq!(join_lines(b"\n1\na\n2\n").unwrap(), b"1a2");
    }
}

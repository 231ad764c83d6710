//! Lines that nobody wrote: a terminal, a mail or a form has cut the text at its width.
//!
//! Most readers here step over line ends anyway. Two things need more: a word that is cut in two, and
//! a number that is. Two numbers that stand at the end of one line and the beginning of the next are
//! most often just that, so they are joined only where the lines show that they were cut at a width.

use std::borrow::Cow;

/// Only what fits on somebody's screen was cut by a terminal.
const LONGEST: usize = 1 << 16;

/// No screen is narrower, and shorter lines are alike by chance.
const NARROWEST: usize = 40;

/// No exit code has more digits.
const MOST_DIGITS: usize = 3;

/// The text with the halves of cut numbers together again.
pub(crate) fn rejoined(input: &[u8]) -> Cow<'_, [u8]> {
    if input.len() > LONGEST {
        return Cow::Borrowed(input);
    }
    let lines: Vec<&[u8]> = input.split(|byte| *byte == b'\n').collect();
    let mut out: Vec<u8> = Vec::new();
    let mut copied = 0;
    let mut start = 0;
    for index in 0..lines.len() {
        let end = start + lines[index].len();
        if let Some(marks) = cuts_a_number(&lines, index) {
            out.extend_from_slice(&input[copied..start + shown(lines[index]).len()]);
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

/// If the end of this line cuts a number, how many quoting marks stand before its second half.
fn cuts_a_number(lines: &[&[u8]], index: usize) -> Option<usize> {
    let line = shown(lines[index]);
    if line.len() < NARROWEST || !line.last()?.is_ascii_digit() {
        return None;
    }
    let next = shown(lines.get(index + 1)?);
    let marks = next.iter().take_while(|byte| matches!(byte, b'>' | b' ')).count();
    // Indented, not quoted: a new line of its own.
    let marks = if next[..marks].contains(&b'>') || marks == 0 { marks } else { return None };
    let head = line.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let tail = next[marks..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_number = (1..MOST_DIGITS).contains(&tail) && head + tail <= MOST_DIGITS;
    // A date, a time, an address or a decimal begins a line of its own.
    let goes_on = next.get(marks + tail).is_some_and(|byte| b":-./,%".contains(byte));
    // Lines that were cut at a width are as long as their neighbours.
    let before = index.checked_sub(1).map(|before| shown(lines[before]).len());
    let is_full = before == Some(line.len()) || next.len() == line.len();
    (is_number && !goes_on && is_full).then_some(marks)
}

fn shown(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// All lines in one, but for the line ends between two digits: see [`rejoined`].
pub(crate) fn joined(text: &[u8]) -> Option<Vec<u8>> {
    if text.len() > LONGEST || memchr::memchr(b'\n', text).is_none() {
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
    use super::{joined, rejoined};

    fn wrapped(text: &str, width: usize, mark: &str) -> Vec<u8> {
        let lines: Vec<String> = text
            .as_bytes()
            .chunks(width)
            .map(|line| format!("{mark}{}", String::from_utf8_lossy(line)))
            .collect();
        lines.join("\n").into_bytes()
    }

    #[test]
    fn a_number_cut_at_the_width_of_its_lines_is_whole_again() {
        let text = format!("{}status=50 {}", "a".repeat(40), "b".repeat(60));
        for mark in ["", "> "] {
            let input = wrapped(&text, 48, mark);
            let joined = rejoined(&input).into_owned();
            assert!(joined.windows(10).any(|part| part == b"status=50 "), "{mark}");
        }
    }

    #[test]
    fn numbers_that_were_two_stay_two() {
        let line = "x".repeat(50);
        for (one, two) in [
            (format!("{line} status=5"), "0 errors found".to_owned()),
            (format!("{line} status=5"), format!("08:35:29 {line}")),
            (format!("{line} status=5"), format!("2026 {line}  ..")),
            (format!("{line} status=251"), format!("1 {line}        ")),
            ("status=5".to_owned(), "0 errors".to_owned()),
        ] {
            let input = format!("{one}\n{two}\n");
            assert_eq!(&*rejoined(input.as_bytes()), input.as_bytes());
        }
    }

    #[test]
    fn words_are_joined_and_numbers_are_not() {
        assert_eq!(joined(b"sta\ntus=5\n0").unwrap(), b"status=5\n0");
        assert_eq!(joined(b"one line"), None);
    }
}

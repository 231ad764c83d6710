//! Text for conditions, events and records: printable, redacted, short.

use mooring_redact::{Limit, mask_line, one_line, truncated};

/// Returns `text` on one line, with likely secrets redacted, of at most `max` bytes.
pub fn safe(text: &str, max: usize) -> String {
    bounded(&mask_line(&one_line(text)), max)
}

/// Returns the last lines of a text on one line, with likely secrets redacted, of at most `max` bytes.
pub fn safe_tail(text: &str, lines: usize, max: usize) -> String {
    let shown: Vec<String> = text
        .lines()
        .rev()
        .map(|line| mask_line(&one_line(line)).into_owned())
        .filter(|line| !line.is_empty())
        .take(lines)
        .collect();
    let joined = shown.into_iter().rev().collect::<Vec<_>>().join(" | ");
    if joined.len() <= max {
        return joined;
    }
    let start = joined.ceil_char_boundary(joined.len() - max.saturating_sub(ELLIPSIS.len()));
    format!("{ELLIPSIS}{}", &joined[start..])
}

const ELLIPSIS: &str = "…";

/// Returns `text`, cut to at most `max` bytes; an ellipsis marks the cut.
pub fn bounded(text: &str, max: usize) -> String {
    truncated(text, Limit::Bytes(max)).into_owned()
}

/// Returns FNV-1a with 64 bits over parts, each terminated by a byte that UTF-8 text cannot contain.
///
/// Implemented here because event names must be the same in every version: a library's hash may change, and
/// an upgrade would then duplicate events.
pub fn hash(parts: &[&str]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0xff]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Returns a number in `0.0..1.0`, evenly spread for different parts.
#[expect(clippy::cast_precision_loss, reason = "32 bits are exact in an f64")]
pub fn fraction(parts: &[&str]) -> f64 {
    // FNV mixes its high bits badly for short texts; one round of multiply and shift spreads them.
    let mut mixed = hash(parts);
    mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    ((mixed >> 32) as f64) / 4_294_967_296.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_is_bounded_in_bytes() {
        assert_eq!(
            safe("one  two\nthree password=hunter2", 100),
            "one two three password=[secret]"
        );
        assert_eq!(safe("one two three", 10), "one two…");
        for max in 3..40 {
            assert!(safe_tail("ééééééééé\nüüüüüüüüü\n", 2, max).len() <= max);
        }
    }

    #[test]
    fn tail_is_the_last_lines_in_order() {
        assert_eq!(safe_tail("a\nb\n\nc\n", 2, 100), "b | c");
        assert_eq!(safe_tail("", 2, 100), "");
        assert_eq!(safe_tail("a\nbcdefg\n", 1, 6), "bcdefg");
        assert_eq!(safe_tail("a\nbcdefgh\n", 1, 6), "…fgh");
    }

    #[test]
    fn hash_is_stable_and_separates_parts() {
        assert_eq!(hash(&["a", "bc"]), 0xa0a3_542c_19b9_00ab);
        assert_ne!(hash(&["a", "bc"]), hash(&["ab", "c"]));
    }

    /// The times of reads are derived from it, so that a restart does not move them.
    #[test]
    fn fraction_is_stable() {
        for (parts, expected) in
            [(&["u", "1"][..], 3_348_697_726_u32), (&["u", "quick", "1"], 2_095_212_210)]
        {
            let difference = fraction(parts) * 4_294_967_296.0 - f64::from(expected);
            assert!(difference.abs() < 0.5, "{parts:?}: {difference}");
        }
    }

    #[test]
    fn fractions_are_spread_over_the_whole_range() {
        let mut tenths = [0_u32; 10];
        for claim in 0..1000 {
            let fraction = fraction(&[&format!("default-{claim}"), "1"]);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0..10")]
            let tenth = (fraction * 10.0) as usize;
            tenths[tenth] += 1;
        }
        assert!(tenths.iter().all(|count| (60..140).contains(count)), "{tenths:?}");
    }
}

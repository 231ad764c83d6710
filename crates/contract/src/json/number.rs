//! Numbers, with the rules of Go's protobuf JSON tokenizer.

use super::Dialect;

/// Returns true for bytes that continue a number or a literal.
pub(super) fn continues_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.' | b'_')
}

/// Returns the length of the number at the start of `input`.
///
/// Quirk of the Go tokenizer, kept because *valid* means what that parser accepts: in
/// [`Dialect::Protobuf`] an exponent may lack its digits if another byte follows.
pub(super) fn token_len(input: &[u8], dialect: Dialect) -> Option<usize> {
    let digits = |from: usize| {
        input.get(from..).unwrap_or_default().iter().take_while(|b| b.is_ascii_digit()).count()
    };
    let mut at = usize::from(input.first() == Some(&b'-'));
    match input.get(at)? {
        b'0' => at += 1,
        b'1'..=b'9' => at += digits(at),
        _ => return None,
    }
    if input.get(at) == Some(&b'.') && digits(at + 1) > 0 {
        at += 1 + digits(at + 1);
    }
    let has_exponent = matches!(input.get(at), Some(b'e' | b'E')) && input.len() > at + 1;
    if has_exponent {
        at += 1;
        if matches!(input.get(at), Some(b'+' | b'-')) {
            at += 1;
            input.get(at)?;
        }
        let exponent_digits = digits(at);
        if exponent_digits == 0 && dialect == Dialect::Go {
            return None;
        }
        at += exponent_digits;
    }
    match input.get(at) {
        Some(&next) if continues_token(next) => None,
        _ => Some(at),
    }
}

/// A well-formed number outside the range of its type.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotRepresentable;

/// Parses a 32-bit integer: `5`, `5.0`, `50e-1` and `-0` are integers.
pub(crate) fn read_int32(token: &str) -> Result<i32, NotRepresentable> {
    let (negative, rest) = match token.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, token),
    };
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        // `1e` reads as 1, see `token_len`.
        Some((mantissa, "")) => (mantissa, 0),
        // A sign without digits is an error even there, and so is an exponent beyond 32 bits, but
        // only if it matters: zero is zero regardless of its exponent.
        Some((_, "+" | "-")) => return Err(NotRepresentable),
        Some((mantissa, digits)) => (mantissa, digits.parse::<i32>().unwrap_or(i32::MAX)),
        None => (rest, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let whole = whole.strip_prefix('0').unwrap_or(whole);
    let fraction = fraction.trim_end_matches('0');
    if whole.is_empty() && fraction.is_empty() {
        return Ok(0);
    }
    let digits = shift_point(whole, fraction, exponent)?;
    // One sign, then digits only: `parse` also checks the range.
    format!("{}{digits}", if negative { "-" } else { "" }).parse().map_err(|_| NotRepresentable)
}

/// Returns `whole.fraction × 10^exponent` as plain digits, if it is an integer of at most `MAX_DIGITS`.
fn shift_point(whole: &str, fraction: &str, exponent: i32) -> Result<String, NotRepresentable> {
    // The limit of the Go parser: digits before the point plus a positive exponent.
    const MAX_DIGITS: usize = 20;
    let shift = usize::try_from(exponent.unsigned_abs()).map_err(|_| NotRepresentable)?;
    if exponent >= 0 {
        if fraction.len() > shift || whole.len().saturating_add(shift) > MAX_DIGITS {
            return Err(NotRepresentable);
        }
        return Ok(format!("{whole}{fraction}{}", "0".repeat(shift - fraction.len())));
    }
    let kept = whole.len().checked_sub(shift).ok_or(NotRepresentable)?;
    let dropped_only_zeros = whole.bytes().skip(kept).all(|digit| digit == b'0');
    if !fraction.is_empty() || !dropped_only_zeros {
        return Err(NotRepresentable);
    }
    Ok(whole[..kept].to_owned())
}

/// Parses a 64-bit float; one that is too small becomes zero, one that is too large is an error.
pub(crate) fn read_double(token: &str) -> Result<f64, NotRepresentable> {
    match token.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err(NotRepresentable),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(text: &str) -> Option<&str> {
        token_len(text.as_bytes(), Dialect::Protobuf).map(|len| &text[..len])
    }

    #[test]
    fn a_number_ends_at_the_first_foreign_byte() {
        assert_eq!(token("5,x"), Some("5"));
        assert_eq!(token("-0.50e+3 "), Some("-0.50e+3"));
        assert_eq!(token("1/2"), Some("1"));
        for bad in ["01", "+5", ".5", "5.", "0x10", "5x", "5_0", "-", "", "1e+", "5.e1", "--1"] {
            assert_eq!(token(bad), None, "{bad}");
        }
    }

    #[test]
    fn an_exponent_may_lack_its_digits_if_a_byte_follows() {
        assert_eq!(token("1e,"), Some("1e"));
        assert_eq!(token("1e+,"), Some("1e+"));
        assert_eq!(token("1e"), None);
        assert_eq!(token_len(b"1e,", Dialect::Go), None);
        assert_eq!(token_len(b"1e5,", Dialect::Go), Some(3));
    }

    #[test]
    fn integers_may_be_written_as_floats() {
        for (text, value) in [
            ("5", 5),
            ("5.0", 5),
            ("50e-1", 5),
            ("1e3", 1000),
            ("0.05e2", 5),
            ("1e", 1),
            ("-0", 0),
            ("0e99999999999", 0),
            ("0.000e-5", 0),
            ("-2147483648", i32::MIN),
            ("2147483647", i32::MAX),
            ("1e-0", 1),
            ("1200E-2", 12),
            ("0.00000000000000000005e20", 5),
        ] {
            assert_eq!(read_int32(text), Ok(value), "{text}");
        }
        for text in [
            "1.5",
            "2147483648",
            "-2147483649",
            "1e20",
            "1e99999999999",
            "5e-1",
            "1e+",
            "1e-99999999999",
            "0.5",
            "1.5e0",
            "15e-1",
            "10.5e-1",
            "15e-1.0",
            "0.000000000000000000005e21",
        ] {
            assert_eq!(read_int32(text), Err(NotRepresentable), "{text}");
        }
    }

    #[test]
    fn doubles_overflow_loudly_and_underflow_quietly() {
        assert_eq!(read_double("1e400"), Err(NotRepresentable));
        assert_eq!(read_double("1e"), Err(NotRepresentable));
        assert_eq!(read_double("1e-400"), Ok(0.0));
        assert_eq!(read_double("-2.5e1"), Ok(-25.0));
    }
}

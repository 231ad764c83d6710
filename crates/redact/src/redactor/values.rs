//! Values that are derived from a secret before it is encoded.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// A secret of fewer bytes, white space around it not counted, is not searched for: `a` or `on` are everywhere.
pub const MIN_VALUE: usize = 4;

/// A line of a secret counts as one from this many bytes on; shorter ones, such as `}` or `data:`, are not secrets.
const MIN_LINE: usize = 16;

/// Anything that decodes to less is taken for text which happens to be valid base64.
const MIN_DECODED: usize = 8;

/// As lenient as the tools that a script may use.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Returns the secrets and the values derived from them, without duplicates.
pub(super) fn all(secrets: impl IntoIterator<Item: AsRef<[u8]>>) -> BTreeSet<Vec<u8>> {
    let mut values = BTreeSet::new();
    for secret in secrets {
        let secret = secret.as_ref();
        add(&mut values, secret);
        if let Some(decoded) = percent_decoded(secret) {
            add(&mut values, &decoded);
        }
        // By contract the service principal's secret and the client key are base64, and the scripts decode them.
        if let Some(decoded) = base64_decoded(secret) {
            add(&mut values, &decoded);
        }
    }
    values
}

/// Adds a value and its long lines, trimmed.
///
/// An untrimmed pattern would find nothing more: the rest of it is white space.
fn add(values: &mut BTreeSet<Vec<u8>>, value: &[u8]) {
    let is_text = std::str::from_utf8(value).is_ok();
    let whole = if is_text { value.trim_ascii() } else { value };
    if whole.len() >= MIN_VALUE {
        values.insert(whole.to_vec());
    }
    if is_text {
        let lines = value.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
        values.extend(lines.filter(|line| line.len() >= MIN_LINE).map(<[u8]>::to_vec));
    }
}

fn base64_decoded(value: &[u8]) -> Option<Vec<u8>> {
    let standard: Vec<u8> = value
        .iter()
        .filter(|byte| !byte.is_ascii_whitespace())
        .map(|&byte| match byte {
            b'-' => b'+',
            b'_' => b'/',
            other => other,
        })
        .collect();
    BASE64.decode(standard).ok().filter(|decoded| decoded.len() >= MIN_DECODED)
}

/// A proxy's password is escaped in its URL, but decoded in the header that `curl -v` shows.
fn percent_decoded(value: &[u8]) -> Option<Vec<u8>> {
    let mut decoded = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some((&first, behind)) = rest.split_first() {
        let (byte, behind) = escaped_byte(rest).unwrap_or((first, behind));
        decoded.push(byte);
        rest = behind;
    }
    (decoded.len() < value.len()).then_some(decoded)
}

/// Decodes a leading `%41`; returns the byte and the rest.
fn escaped_byte(text: &[u8]) -> Option<(u8, &[u8])> {
    let (&[percent, high, low], behind) = text.split_first_chunk()?;
    let byte = hex_digit(high)? << 4 | hex_digit(low)?;
    (percent == b'%').then_some((byte, behind))
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(secret: &str) -> Vec<String> {
        all([secret]).into_iter().map(|value| String::from_utf8_lossy(&value).into()).collect()
    }

    #[test]
    fn a_value_counts_without_the_white_space_around_it() {
        assert_eq!(values(" token.1 \n"), ["token.1"]);
        assert_eq!(values("  abc "), [""; 0]);
        assert_eq!(values("abc"), [""; 0]);
        assert_eq!(values(""), [""; 0]);
    }

    #[test]
    fn long_lines_count_by_themselves_and_short_ones_do_not() {
        assert_eq!(
            values("{\r\n  \"a-rather-long-line\"\r\n}"),
            ["\"a-rather-long-line\"", "{\r\n  \"a-rather-long-line\"\r\n}"]
        );
    }

    #[test]
    fn base64_of_any_alphabet_and_padding_is_decoded() {
        for encoded in ["fn5+fj8/Pz8xMjM0NQ==", "fn5-fj8_Pz8xMjM0NQ", "fn5+fj8/\nPz8xMjM0NQ==\n"] {
            assert!(values(encoded).contains(&"~~~~????12345".to_owned()), "{encoded}");
        }
        assert_eq!(values("c2hvcnQ="), ["c2hvcnQ="], "decodes to less than eight bytes");
    }

    #[test]
    fn a_decoded_file_counts_by_its_lines_too() {
        let encoded =
            "LS0tLS1CRUdJTiBLRVktLS0tLQpNSUlFb3dJQkFBS0NBUUVBCi0tLS0tRU5EIEtFWS0tLS0tCg==";
        let values = values(encoded);
        for line in ["-----BEGIN KEY-----", "MIIEowIBAAKCAQEA", "-----END KEY-----"] {
            assert!(values.contains(&line.to_owned()), "{line}");
        }
    }

    #[test]
    fn an_escaped_password_counts_unescaped() {
        assert_eq!(values("user:p%40ss%2"), ["user:p%40ss%2", "user:p@ss%2"]);
        assert_eq!(values("100%zz%"), ["100%zz%"]);
    }
}

//! Versions, letters and numbers as the upstream Go agent reads and prints them.

const CAPITAL_I_WITH_DOT: char = '\u{130}';
const LONG_S: char = '\u{17F}';
const KELVIN: char = '\u{212A}';

/// Lower-cased character by character, for comparison with ASCII text: other letters stay.
pub(super) fn lower(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            CAPITAL_I_WITH_DOT => 'i',
            KELVIN => 'k',
            other => other.to_ascii_lowercase(),
        })
        .collect()
}

/// True if a text is this ASCII name under simple case folding. Unlike in [`lower`], a long s is an
/// `s` and a dotted capital I is no `i`.
pub(super) fn is_ignoring_case(text: &str, name: &str) -> bool {
    let fold = |character| match character {
        LONG_S => 's',
        KELVIN => 'k',
        other => other.to_ascii_lowercase(),
    };
    text.chars().map(fold).eq(name.chars().map(fold))
}

/// Formats a double like Go's `%g`: the shortest text that parses as the same number, in
/// scientific form below 10⁻⁴ and from 10⁶ on.
pub(super) fn double(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let split = scientific.split_once('e');
    match split.and_then(|(digits, exponent)| Some((digits, exponent.parse::<i32>().ok()?))) {
        Some((digits, exponent)) if !(-4..6).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
        }
        _ => value.to_string(),
    }
}

/// Thousandths of a CPU as a percentage of one, with one decimal: 2008 is `200.8%`.
pub(super) fn percent_of_cpu(milli_cores: i32) -> String {
    format!("{:.1}%", f64::from(milli_cores) / 10.0)
}

/// A version: `v?N[.N][.N][-PRE][+BUILD]`, where missing numbers are zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version {
    pub major: u64,
    pub minor: u64,
    pub patch: u64,
    /// True if a pre-release is named, which comes before the release of the same numbers.
    pub is_pre_release: bool,
}

impl Version {
    /// Reads a version; `None` if any part of the text does not fit.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix('v').unwrap_or(text);
        // A build may hold a `-`, but no pre-release holds a `+`: the build goes first.
        let (text, build) = split_optional(text, '+');
        let (numbers, pre_release) = split_optional(text, '-');
        if !build.is_none_or(|build| build.split('.').all(is_identifier))
            || !pre_release.is_none_or(|pre| pre.split('.').all(is_pre_release_identifier))
        {
            return None;
        }
        let mut numbers = numbers.split('.');
        let version = Self {
            major: number(numbers.next()?)?,
            minor: numbers.next().map_or(Some(0), number)?,
            patch: numbers.next().map_or(Some(0), number)?,
            is_pre_release: pre_release.is_some(),
        };
        numbers.next().is_none().then_some(version)
    }

    /// True if this version is the given release or comes after it.
    pub fn is_at_least(&self, major: u64, minor: u64, patch: u64) -> bool {
        let (ours, theirs) = ((self.major, self.minor, self.patch), (major, minor, patch));
        ours > theirs || (ours == theirs && !self.is_pre_release)
    }
}

pub(super) fn is_at_least(text: &str, major: u64, minor: u64, patch: u64) -> bool {
    Version::parse(text).is_some_and(|version| version.is_at_least(major, minor, patch))
}

/// One or more digits of a value below 2⁶⁴; leading zeros are fine.
fn number(digits: &str) -> Option<u64> {
    // The check keeps out the `+5` that `parse` accepts.
    if is_digits(digits) { digits.parse().ok() } else { None }
}

fn split_optional(text: &str, separator: char) -> (&str, Option<&str>) {
    text.split_once(separator).map_or((text, None), |(left, right)| (left, Some(right)))
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// As in a build, except that a number must not begin with a superfluous zero.
fn is_pre_release_identifier(text: &str) -> bool {
    is_identifier(text) && !(text.len() > 1 && text.starts_with('0') && is_digits(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lower_casing_maps_one_to_one() {
        assert_eq!(lower("\u{130}\u{212A}\u{17F}\u{FF21}AZ"), "ik\u{17F}\u{FF21}az");
    }

    #[test]
    fn folding_knows_the_long_s_and_the_kelvin_sign() {
        for same in ["akscustom", "AKSCUSTOM", "ak\u{17F}custom", "a\u{212A}sCustom"] {
            assert!(is_ignoring_case(same, "akscustom"), "{same}");
        }
        for other in ["", "akscustom ", " akscustom", "akscusto", "akscustom2", "akscus\u{FB06}om"]
        {
            assert!(!is_ignoring_case(other, "akscustom"), "{other}");
        }
        assert!(!is_ignoring_case("\u{130}", "i"));
        assert!(!is_ignoring_case("\u{131}", "i"));
    }

    #[test]
    fn doubles_print_as_in_go() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (10.0, "10"),
            (1.5, "1.5"),
            (-2.25, "-2.25"),
            (100_000.0, "100000"),
            (999_999.5, "999999.5"),
            (1_000_000.0, "1e+06"),
            (-1_000_000.0, "-1e+06"),
            (123_456_789.0, "1.23456789e+08"),
            (1e21, "1e+21"),
            (1.5e300, "1.5e+300"),
            (0.1 + 0.2, "0.30000000000000004"),
            (0.000_123_45, "0.00012345"),
            (0.0001, "0.0001"),
            (0.000_01, "1e-05"),
            (0.000_099_999, "9.9999e-05"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "+Inf"),
            (f64::NEG_INFINITY, "-Inf"),
        ] {
            assert_eq!(double(value), text);
        }
    }

    fn release(major: u64, minor: u64, patch: u64) -> Version {
        Version { major, minor, patch, is_pre_release: false }
    }

    #[test]
    fn the_loose_form_is_read() {
        for (text, expected) in [
            ("1", release(1, 0, 0)),
            ("1.34", release(1, 34, 0)),
            ("v1.34.2", release(1, 34, 2)),
            ("001.034.0002", release(1, 34, 2)),
            ("202604.01.1", release(202_604, 1, 1)),
            ("1.34.1+01", release(1, 34, 1)),
            ("1.34.1+a-b.0", release(1, 34, 1)),
            ("18446744073709551615.0.0", release(u64::MAX, 0, 0)),
            ("000000000000000000000000000000001", release(1, 0, 0)),
        ] {
            assert_eq!(Version::parse(text), Some(expected), "{text}");
        }
        for text in
            ["1.35-1", "1-a", "1.34.1-0", "1.34.1-00a", "1.34.1-a.b-c.0", "1.34.1--", "1.2.3-a+b-c"]
        {
            assert!(Version::parse(text).unwrap().is_pre_release, "{text}");
        }
    }

    #[test]
    fn anything_else_is_not() {
        for text in [
            "",
            "v",
            "V1.2.3",
            "vv1.2.3",
            " 1.2.3",
            "1.2.3 ",
            "1.2.3\n",
            "1.2.3.4",
            "1..3",
            "1.2.",
            ".1",
            "1.x",
            "+1",
            "1.+2",
            "-1",
            "1.35.0-",
            "1.34.0+",
            "1.34.0-+b",
            "1.34.0-a_b",
            "1.34.0-beta..1",
            "1.34.0+a+b",
            "1.34.0+a..b",
            "1.34.1-01",
            "1.34.1-0.00",
            "18446744073709551616.0.0",
            "1.18446744073709551616",
            "\u{0661}.2.3",
            "1.2.3-\u{e9}",
        ] {
            assert_eq!(Version::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_pre_release_comes_before_its_release() {
        for (text, expected) in [
            ("1.34.0", true),
            ("1.34", true),
            ("v1.34.0+build", true),
            ("1.34.1-alpha", true),
            ("1.35", true),
            ("2", true),
            ("1.34.0-alpha.1", false),
            ("1.33.99", false),
            ("1.9.0", false),
            ("", false),
            ("nonsense", false),
        ] {
            assert_eq!(is_at_least(text, 1, 34, 0), expected, "{text}");
        }
    }
}

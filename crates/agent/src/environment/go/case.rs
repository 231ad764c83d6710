//! Letters as the upstream Go agent compares them.
//!
//! It knows all of Unicode's simple case mappings, but every name it compares with is ASCII. Only
//! three characters outside ASCII map to an ASCII letter, so they are all that is needed here.

const CAPITAL_I_WITH_DOT: char = '\u{130}';
const LONG_S: char = '\u{17F}';
const KELVIN: char = '\u{212A}';

/// Lower-cased character by character, for comparison with ASCII text: other letters stay.
pub(in crate::environment) fn lower(text: &str) -> String {
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
pub(in crate::environment) fn is_ignoring_case(text: &str, name: &str) -> bool {
    let fold = |character| match character {
        LONG_S => 's',
        KELVIN => 'k',
        other => other.to_ascii_lowercase(),
    };
    text.chars().map(fold).eq(name.chars().map(fold))
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
}

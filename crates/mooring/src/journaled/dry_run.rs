//! `DRY_RUN` and `--dry-run`.

use super::progress::write;
use crate::failure::Failure;

const VARIABLE: &str = "DRY_RUN";

/// Parses the value of `DRY_RUN`. A word that is neither yes nor no is an error: a typo must not start a real run.
pub(crate) fn parse(value: Option<&str>) -> Result<bool, Failure> {
    let value = value.unwrap_or_default();
    match value.trim().to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" | "y" | "t" => Ok(true),
        "" | "false" | "0" | "no" | "off" | "n" | "f" => Ok(false),
        _ => Err(Failure::usage(format!(
            "invalid value '{}' for {VARIABLE}\nhint: use true, 1, yes, on, y or t for a dry run; false, 0, no, off, n, f or empty for none",
            mooring_redact::identifier(value)
        ))),
    }
}

/// Returns true if the environment requests a dry run.
pub(crate) fn from_environment() -> Result<bool, Failure> {
    // Text that is not UTF-8 is an invalid value, not an unset variable.
    let value = std::env::var_os(VARIABLE);
    parse(value.as_ref().map(|value| value.to_string_lossy()).as_deref())
}

/// Prints the first line of a dry run, if this is one.
pub(crate) fn announce(dry_run: bool) {
    if dry_run {
        write("Dry run: nothing will be changed\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_for_yes_is_a_dry_run() {
        for word in ["true", "1", "yes", "on", "y", "t", "TRUE", "On", "Y", " Yes ", "T\n"] {
            assert_eq!(parse(Some(word)).ok(), Some(true), "{word:?}");
        }
    }

    #[test]
    fn every_word_for_no_and_empty_is_a_real_run() {
        assert_eq!(parse(None).ok(), Some(false));
        for word in ["", "  ", "false", "0", "no", "off", "n", "f", "FALSE", "Off", "N"] {
            assert_eq!(parse(Some(word)).ok(), Some(false), "{word:?}");
        }
    }

    #[test]
    fn any_other_word_is_a_usage_error_that_quotes_it() {
        for word in ["2", "enabled", "ja", "tru", "yes please", "-1", "true;false"] {
            let failure = parse(Some(word)).unwrap_err();
            assert!(format!("{failure:?}").contains("exit_code: 2"), "{word}");
            assert!(failure.text().contains(word), "{}", failure.text());
        }
        assert!(parse(Some("\u{fffd}")).is_err(), "text that is not UTF-8");
    }
}

//! `DRY_RUN` and `--dry-run`.

use super::messages::write;
use crate::output::failure::CommandFailure;

const VARIABLE: &str = "DRY_RUN";

/// Parses the value of `DRY_RUN`. Any other value is an error: a typo must not start a real run.
pub(crate) fn parse(value: Option<&str>) -> Result<bool, CommandFailure> {
    let value = value.unwrap_or_default();
    match value.trim().to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" | "y" | "t" => Ok(true),
        "" | "false" | "0" | "no" | "off" | "n" | "f" => Ok(false),
        _ => Err(CommandFailure::usage(format!(
            "invalid value '{}' for {VARIABLE}\nhint: use true, 1, yes, on, y or t for a dry run; false, 0, no, off, n, f or empty for none",
            mooring_redact::identifier(value)
        ))),
    }
}

/// Returns true if the environment requests a dry run.
pub(crate) fn from_environment() -> Result<bool, CommandFailure> {
    // Text that is not UTF-8 is an invalid value, not an unset variable.
    let value = std::env::var_os(VARIABLE);
    parse(value.as_ref().map(|value| value.to_string_lossy()).as_deref())
}

pub(crate) fn announce(dry_run: bool) {
    if dry_run {
        write("Dry run: nothing will be changed\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn true_values_request_a_dry_run() {
        for value in ["true", "1", "yes", "on", "y", "t", "TRUE", "On", "Y", " Yes ", "T\n"] {
            assert_eq!(parse(Some(value)).ok(), Some(true), "{value:?}");
        }
    }

    #[test]
    fn false_values_and_empty_are_a_real_run() {
        assert_eq!(parse(None).ok(), Some(false));
        for value in ["", "  ", "false", "0", "no", "off", "n", "f", "FALSE", "Off", "N"] {
            assert_eq!(parse(Some(value)).ok(), Some(false), "{value:?}");
        }
    }

    #[test]
    fn other_values_are_usage_errors_that_quote_them() {
        for value in ["2", "enabled", "ja", "tru", "yes please", "-1", "true;false"] {
            let failure = parse(Some(value)).unwrap_err();
            assert!(format!("{failure:?}").contains("exit_code: 2"), "{value}");
            assert!(failure.text().contains(value), "{}", failure.text());
        }
        assert!(parse(Some("\u{fffd}")).is_err(), "text that is not UTF-8");
    }
}

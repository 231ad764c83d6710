//! Exit codes by number or name.

use mooring_codes::{Date, ExitCode, Os, by_name, code_names, lookup};
use mooring_diagnosis::find_codes;
use mooring_redact::identifier;

use crate::output::failure::CommandFailure;
use mooring_terminal::suggest;

/// Returns the codes with this number or name, or an error with similar names.
pub(super) fn find(
    what: &str,
    os: Option<Os>,
    image: Option<Date>,
) -> Result<Vec<&'static ExitCode>, CommandFailure> {
    let found: Vec<&'static ExitCode> = if let Some(code) = parse_code(what) {
        meanings(code, os, image)
    } else {
        let named = by_name(what);
        let of_cause = if named.is_empty() { find_codes(what) } else { Vec::new() };
        let all = named.into_iter().chain(of_cause);
        all.filter(|code| os.is_none_or(|os| code.os == os)).collect()
    };
    if found.is_empty() { Err(unknown_code(what)) } else { Ok(found) }
}

/// Returns the error for a code or name that does not exist, with similar names.
pub(crate) fn unknown_code(what: &str) -> CommandFailure {
    let hint = suggest::hint(what, code_names(), "mooring codes show").unwrap_or_else(|| {
        "hint: `mooring codes list --all` lists all codes, `mooring codes search WORDS` finds them \
         by their texts"
            .to_owned()
    });
    CommandFailure::unknown_name(format!("unknown exit code `{}`\n{hint}", identifier(what)))
}

/// Parses `211` or `0xD3`.
pub(crate) fn parse_code(text: &str) -> Option<i32> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => i32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Returns all meanings of a code, on all systems unless `os` is given.
fn meanings(code: i32, os: Option<Os>, image: Option<Date>) -> Vec<&'static ExitCode> {
    systems(os).flat_map(|os| lookup(os, code, image)).collect()
}

/// Returns the meanings of a code in reports of current nodes.
pub(crate) fn likely_meanings(
    code: i32,
    os: Option<Os>,
    image: Option<Date>,
) -> Vec<&'static ExitCode> {
    systems(os).flat_map(|os| lookup(os, code, image).likely()).collect()
}

fn systems(os: Option<Os>) -> impl Iterator<Item = Os> {
    [Os::Linux, Os::Windows].into_iter().filter(move |system| os.is_none_or(|os| os == *system))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_decimal_or_hexadecimal() {
        assert_eq!(parse_code("211"), Some(211));
        assert_eq!(parse_code("0xD3"), Some(211));
        assert_eq!(parse_code("-1"), Some(-1));
        assert_eq!(parse_code("ERR"), None);
        assert_eq!(parse_code("0x"), None);
    }
}

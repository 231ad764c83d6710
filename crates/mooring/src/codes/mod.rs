//! `mooring codes`.

use mooring_codes::{Date, ExitCode, Os, Reach, Status, all, by_name, lookup, page};
use mooring_contract::json::{Escape, Layout, Writer};
use mooring_redact::identifier;

use crate::cli::{CodesArguments, CodesCommand, ListFormat};
use crate::failure::Failure;
use crate::show;

pub(crate) fn codes(arguments: &CodesArguments) -> Result<(), Failure> {
    match &arguments.command {
        CodesCommand::List { os, all, output } => {
            let os = os.map(Os::from);
            let codes: Vec<_> = select_codes(os, *all).collect();
            show::print(
                match output {
                    ListFormat::Table => table(&codes),
                    ListFormat::Json => json(&codes),
                }
                .as_bytes(),
            )
        }
        CodesCommand::Show { what, os, image } => {
            let os = os.map(Os::from);
            let found = match parse_code(what) {
                Some(code) => meanings(code, os, *image),
                None => by_name(what)
                    .iter()
                    .copied()
                    .filter(|c| os.is_none_or(|os| c.os == os))
                    .collect(),
            };
            if found.is_empty() {
                let what = identifier(what);
                return Err(Failure::io(format!(
                    "unknown code `{what}`\nhint: `mooring codes list --all` lists all codes"
                )));
            }
            let pages: Vec<_> = found.iter().map(|code| page(code)).collect();
            show::print(pages.join("\n").as_bytes())
        }
    }
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

fn select_codes(os: Option<Os>, everything: bool) -> impl Iterator<Item = &'static ExitCode> {
    let is_current = |code: &ExitCode| {
        matches!(code.status, Status::Agent | Status::Current | Status::Raw)
            && matches!(code.reach, Reach::Node | Reach::Raw)
    };
    all().filter(move |code| os.is_none_or(|os| code.os == os) && (everything || is_current(code)))
}

fn table(codes: &[&'static ExitCode]) -> String {
    let rows = codes.iter().map(|code| {
        let meaning = code.meaning.split_inclusive(". ").next().unwrap_or(code.meaning);
        let (os, number, name) = (code.os.as_str(), code.number, code.name);
        format!("{os:<8}{number:>4}  {name:<48} {:<9} {}\n", code.owner.as_str(), meaning.trim())
    });
    format!("{:<8}{:>4}  {:<48} {:<9} meaning\n", "os", "code", "name", "owner")
        + &rows.collect::<String>()
}

fn json(codes: &[&'static ExitCode]) -> String {
    let mut json = Writer::new(Layout::Indented(2), Escape::Minimal);
    json.open_object();
    json.name("schema");
    json.string("mooring.codes/v1");
    json.name("codes");
    json.open_array();
    for code in codes {
        json.open_object();
        json.name("os");
        json.string(code.os.as_str());
        json.name("code");
        json.integer(i64::from(code.number));
        for (name, value) in [
            ("name", code.name),
            ("status", code.status.as_str()),
            ("reach", code.reach.as_str()),
            ("category", code.category.as_str()),
            ("owner", code.owner.as_str()),
            ("transient", code.transient.as_str()),
            ("meaning", code.meaning),
            ("cause", code.cause),
            ("action", code.action),
        ] {
            json.name(name);
            json.string(value);
        }
        json.close_object();
    }
    json.close_array();
    json.close_object();
    json.finish() + "\n"
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

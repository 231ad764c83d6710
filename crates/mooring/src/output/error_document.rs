//! Errors as documents, schema `mooring.error/v1`: for commands with `-o json` or `-o yaml`.

use std::ffi::OsStr;
use std::process::ExitCode;

use clap::ValueEnum as _;
use jiff::Timestamp;
use serde::Serialize;

use crate::output::failure::CommandFailure;
use crate::output::{self, AnswerFormat, show};

const SCHEMA: &str = "mooring.error/v1";

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ErrorDocument<'a> {
    schema: &'static str,
    generated_at: String,
    code: &'a str,
    message: &'a str,
    hint: Option<&'a str>,
    exit: u8,
}

/// Returns the format of documents that the command line requests. Usage errors are reported before it is parsed.
pub(crate) fn requested() -> Option<AnswerFormat> {
    find_format(std::env::args_os().skip(1))
}

fn find_format(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Option<AnswerFormat> {
    let mut format = None;
    let mut is_value = false;
    for argument in arguments {
        let argument = argument.as_ref().to_str().unwrap_or_default();
        let value = if is_value {
            Some(argument)
        } else if argument == "--" {
            break;
        } else {
            argument
                .strip_prefix("--output=")
                .or_else(|| argument.strip_prefix("-o=").or_else(|| argument.strip_prefix("-o")))
                .filter(|value| !value.is_empty())
        };
        is_value = !is_value && matches!(argument, "-o" | "--output");
        if let Some(value) = value {
            let found = AnswerFormat::from_str(value, false).ok();
            format = found.filter(|format| format.is_document());
        }
    }
    format
}

/// Returns the time of a document.
pub(crate) fn generated_at() -> String {
    format!("{:.0}", Timestamp::now())
}

impl CommandFailure {
    /// Prints the error, as a document if the command prints documents.
    pub(crate) fn report(&self) -> ExitCode {
        let document = || ErrorDocument {
            schema: SCHEMA,
            generated_at: generated_at(),
            code: self.code(),
            message: &self.message,
            hint: self.hint(),
            exit: self.exit_code,
        };
        let printed = match requested() {
            Some(AnswerFormat::Yaml) => output::yaml(&document()),
            Some(_) => show::json(&document()),
            None => Ok(format!("error: {}", self.text())),
        };
        show::print_note(printed.unwrap_or_else(|_| self.text()).trim_end());
        ExitCode::from(self.exit_code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_is_found_in_every_notation() {
        let find = |line: &str| find_format(line.split(' '));
        for line in ["why x -o json", "why -ojson", "-o=json", "--output json", "--output=json x"] {
            assert_eq!(find(line), Some(AnswerFormat::Json), "{line}");
        }
        assert_eq!(find("why -o yaml"), Some(AnswerFormat::Yaml));
        for line in ["why", "why json", "why -o table", "explain -- -o json", "-o"] {
            assert_eq!(find(line), None, "{line}");
        }
        assert_eq!(find("-o json -o table"), None, "the last one counts");
    }
}

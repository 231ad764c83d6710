//! Evaluation of a report, with the rules and messages of the upstream Go agent.

use mooring_contract::json::{Error, MAX_DEPTH, ValueKind};

use crate::format::go_text::{json_error, quote};
use crate::format::json::{checked, members, set_string};

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    /// Returns the error; `None` for a bootstrapped node.
    pub(super) error: Option<String>,
    pub(super) exit_code: u8,
}

impl Verdict {
    pub(super) fn failed(error: String) -> Self {
        Self { error: Some(error), exit_code: 1 }
    }
}

/// Reads the verdict out of a report; `redact` cleans the texts in it, which are the scripts' own.
pub(super) fn evaluate(report: &[u8], redact: impl Fn(&str) -> String) -> Verdict {
    let members = match read_members(report) {
        Ok(members) => members,
        Err(error) => return Verdict::failed(format!("parse provision.json: {error}")),
    };
    let text = members.exit_code;
    if text.is_empty() {
        return Verdict::failed("missing ExitCode in provision.json".to_owned());
    }
    match text.parse::<i64>() {
        Err(_) => Verdict::failed(format!("invalid ExitCode in provision.json: {}", redact(&text))),
        Ok(0) => Verdict { error: None, exit_code: 0 },
        Ok(code) => Verdict {
            error: Some(format!(
                "provision failed: exitCode={code} error={} output={}",
                redact(&members.error),
                quote(&redact(&members.output))
            )),
            exit_code: u8::try_from(code).unwrap_or(1),
        },
    }
}

#[derive(Default)]
struct Members {
    exit_code: String,
    error: String,
    output: String,
}

/// Reads string members only: a number is not an exit code, as in the upstream Go agent. Names match in any
/// case, the last one wins, null keeps the earlier value.
fn read_members(report: &[u8]) -> Result<Members, String> {
    let go_error = |error: Error| json_error(report, &error);
    let mut reader = checked(report).map_err(go_error)?;
    let mut read = Members::default();
    match reader.peek().map_err(go_error)? {
        ValueKind::Object => {}
        ValueKind::Null => return Ok(read),
        other => {
            let found = go_kind(other);
            return Err(format!(
                "json: cannot unmarshal {found} into Go value of type main.ProvisionResult"
            ));
        }
    }
    let mut wrong_type = None;
    members(&mut reader, &mut |reader, name| {
        let named = [
            ("ExitCode", &mut read.exit_code),
            ("Error", &mut read.error),
            ("Output", &mut read.output),
        ]
        .into_iter()
        .find(|(wanted, _)| name.eq_ignore_ascii_case(wanted));
        match (named, reader.peek()?) {
            (Some((_, member)), ValueKind::String) => return set_string(reader, member),
            (Some((wanted, _)), kind) if kind != ValueKind::Null => {
                wrong_type.get_or_insert((wanted, kind));
            }
            _ => {}
        }
        reader.skip(MAX_DEPTH)
    })
    .map_err(go_error)?;
    match wrong_type {
        None => Ok(read),
        Some((wanted, kind)) => Err(format!(
            "json: cannot unmarshal {} into Go struct field ProvisionResult.{wanted} of type string",
            go_kind(kind)
        )),
    }
}

fn go_kind(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Null => "null",
        ValueKind::Bool => "bool",
        ValueKind::Number => "number",
        ValueKind::String => "string",
        ValueKind::Array => "array",
        ValueKind::Object => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_is_that_of_the_report() {
        let exit_code = |code: &str| {
            evaluate(format!("{{\"ExitCode\":\"{code}\"}}").as_bytes(), str::to_owned).exit_code
        };
        assert_eq!(exit_code("0"), 0);
        assert_eq!(exit_code("50"), 50);
        assert_eq!(exit_code("+5"), 5);
        assert_eq!(exit_code("255"), 255);
        for odd in ["256", "-1", "99999999999999999999", " 7", "x", ""] {
            assert_eq!(exit_code(odd), 1, "{odd}");
        }
    }

    #[test]
    fn a_report_that_cannot_be_read_is_a_failure_with_a_reason() {
        for (report, expected) in [
            ("", "parse provision.json: unexpected end of JSON input"),
            (
                "[]",
                "parse provision.json: json: cannot unmarshal array into Go value of type main.ProvisionResult",
            ),
            ("null", "missing ExitCode in provision.json"),
            ("{\"ExitCode\":null}", "missing ExitCode in provision.json"),
            (
                "{\"Output\":true,\"ExitCode\":7}",
                "parse provision.json: json: cannot unmarshal bool into Go struct field ProvisionResult.Output of type string",
            ),
        ] {
            let verdict = evaluate(report.as_bytes(), str::to_owned);
            assert_eq!((verdict.error.as_deref(), verdict.exit_code), (Some(expected), 1));
        }
    }
}

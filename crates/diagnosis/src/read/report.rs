//! The node's report in a message, possibly incomplete.

use std::ops::Range;

use mooring_contract::CseStatus;

use crate::read::message::ExtensionMessage;

/// Reads the report of a message. Its quotes are no longer escaped, so a member ends where the next one starts.
pub(crate) fn status(text: &[u8], message: &ExtensionMessage) -> Option<CseStatus> {
    let code = message.report?;
    let body = text.get(code.at..message.span.end)?;
    let mut status = CseStatus { exit_code: code.value.to_string(), ..CseStatus::default() };
    status.output = member(body, b"Output").unwrap_or_default();
    status.error = member(body, b"Error").unwrap_or_default();
    status.diagnosis = member(body, b"Diagnosis").unwrap_or_default();
    status.hotfix = member(body, b"Hotfix").unwrap_or_default();
    status.timings.exec_duration = message.duration.map(|seconds| seconds.to_string());
    status.timings.kernel_start_time = member(body, b"KernelStartTime");
    status.timings.cse_start_time = member(body, b"CSEStartTime");
    if let Some(kubelet) = member(body, b"KubeletStartTime") {
        status.timings.boot_datapoints.insert("KubeletStartTime".to_owned(), kubelet);
    }
    Some(status)
}

/// Returns the position of a non-empty `Error`.
pub(crate) fn error_at(text: &[u8], message: &ExtensionMessage) -> Option<usize> {
    let error = value_in(text, message, b"Error")?;
    (!text[error.clone()].trim_ascii().is_empty()).then_some(error.start)
}

/// Returns the position of the last line of a non-empty `Output`.
pub(crate) fn output_end_at(text: &[u8], message: &ExtensionMessage) -> Option<usize> {
    let output = value_in(text, message, b"Output")?;
    let lines = text[output.clone()].trim_ascii_end();
    let last = memchr::memrchr(b'\n', lines).map_or(0, |end| end + 1);
    (!lines.is_empty()).then_some(output.start + last)
}

fn value_in(text: &[u8], message: &ExtensionMessage, name: &[u8]) -> Option<Range<usize>> {
    let code = message.report?;
    let value = range(text.get(code.at..message.span.end)?, name)?;
    Some(code.at + value.start..code.at + value.end)
}

fn member(body: &[u8], name: &[u8]) -> Option<String> {
    range(body, name).map(|range| String::from_utf8_lossy(&body[range]).into_owned())
}

/// Returns the text after `"name": "` up to a quote that ends a member.
fn range(body: &[u8], name: &[u8]) -> Option<Range<usize>> {
    let key = memchr::memmem::find_iter(body, name).find(|at| {
        let before = at.checked_sub(1).map(|before| body[before]);
        let after = body.get(at + name.len());
        matches!(before, Some(b'"' | b'\'')) && matches!(after, Some(b'"' | b'\''))
    })?;
    let rest = body[key + name.len() + 1..].trim_ascii_start().strip_prefix(b":")?;
    let rest = rest.trim_ascii_start();
    let quote = *rest.first().filter(|byte| matches!(byte, b'"' | b'\''))?;
    let rest = &rest[1..];
    let ends = |at: &usize| {
        let after = rest[at + 1..].trim_ascii_start();
        match after.first() {
            None | Some(b'}') => true,
            Some(b',') => after[1..].trim_ascii_start().first() == Some(&quote),
            _ => false,
        }
    };
    let end = memchr::memchr_iter(quote, rest).find(ends).unwrap_or(rest.len());
    let start = body.len() - rest.len();
    Some(start..start + end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::message::{Located, Opener};

    #[test]
    fn member_ends_at_a_quote_before_the_next_one() {
        for (body, expected) in [
            (r#""Error": "x"}"#, Some("x")),
            (r#""Error": "x" , "Next": """#, Some("x")),
            (r#""Error":"x""#, Some("x")),
            ("'Error' : 'x'}", Some("x")),
            (r#""Error": "a "b" c", "Next": "y""#, Some(r#"a "b" c"#)),
            (r#""Error": "a", b", "Next": "y""#, Some(r#"a", b"#)),
            (r#""Error": "cut"#, Some("cut")),
            (r#""Error": """#, Some("")),
            (r#""MyError": "x"}"#, None),
            (r#""Errors": "x"}"#, None),
            (r#""Error" "x"}"#, None),
            (r#""Error": 5}"#, None),
            (r#""MyError": "x", "Error": "y"}"#, Some("y")),
        ] {
            assert_eq!(member(body.as_bytes(), b"Error").as_deref(), expected, "{body}");
        }
    }

    /// Returns the rest of a report from the place that is found in it.
    fn rest(
        find: fn(&[u8], &ExtensionMessage) -> Option<usize>,
        member: &str,
        value: &str,
    ) -> Option<String> {
        let text = format!(r#"log {{"ExitCode": "50", "{member}": "{value}"}}"#);
        let report = Some(Located { value: 50, at: 6 });
        let span = 0..text.len();
        let message = ExtensionMessage { span, report, ..ExtensionMessage::new(Opener::Report, 0) };
        find(text.as_bytes(), &message).map(|at| text[at..].to_owned())
    }

    #[test]
    fn error_is_found_in_its_report_unless_it_is_empty() {
        let at = |error| rest(error_at, "Error", error);
        assert_eq!(at("ERR_X").as_deref(), Some("ERR_X\"}"));
        assert_eq!((at(""), at(" ")), (None, None));
    }

    #[test]
    fn last_line_of_an_output_is_found() {
        let at = |output| rest(output_end_at, "Output", output);
        assert_eq!(at("one\ntwo\n").as_deref(), Some("two\n\"}"));
        assert_eq!(at("one").as_deref(), Some("one\"}"));
        assert_eq!((at(""), at("\n")), (None, None));
    }
}

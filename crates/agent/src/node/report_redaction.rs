//! Reports of the scripts, without secrets.

use std::borrow::Cow;

use mooring_contract::json;
use mooring_redact::Redactor;

use crate::format::json::checked;

/// Returns a report of the scripts with a mask in place of every known and every likely secret. Of a JSON document
/// only the strings that hold one change, so that it remains valid.
pub(crate) fn redact_report(redactor: &Redactor, report: &[u8]) -> Vec<u8> {
    let report = redactor.redact_bytes(report);
    if checked(&report).is_err() {
        return redactor.mask_likely(&json::lossy(&report)).into_bytes();
    }
    let mut out = Vec::with_capacity(report.len());
    let mut rest = &*report;
    // Outside of strings, JSON has no quotes.
    while let Some(start) = rest.iter().position(|&byte| byte == b'"') {
        let (before, string) = rest.split_at(start);
        out.extend_from_slice(before);
        let length = string_length(string);
        let (string, behind) = string.split_at(length);
        out.extend_from_slice(&redact_string(redactor, string));
        rest = behind;
    }
    out.extend_from_slice(rest);
    out
}

/// A string of JSON, quotes included.
fn redact_string<'s>(redactor: &Redactor, string: &'s [u8]) -> Cow<'s, [u8]> {
    let Ok(text) = json::Reader::new(string, json::Dialect::Go).string() else {
        return Cow::Borrowed(string);
    };
    let redacted = redactor.mask_likely(&text);
    if redacted == *text {
        return Cow::Borrowed(string);
    }
    let mut quoted = String::from("\"");
    json::escape_into(&mut quoted, &redacted, json::Escape::HtmlReplaced);
    quoted.push('"');
    Cow::Owned(quoted.into_bytes())
}

/// Returns the length of the string of JSON at the start of `text`, quotes included.
fn string_length(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_keeps_its_shape_and_loses_its_secrets() {
        let redactor = Redactor::new(["known-secret-value"]);
        let report = br#"{ "ExitCode": "50",  "Output": "+ TOKEN=hunter-two\n+ x \u003cknown-secret-value", "BootDatapoints": {"A": "\u003c"} }"#;
        let shown = String::from_utf8(redact_report(&redactor, report)).unwrap();
        assert_eq!(
            shown,
            r#"{ "ExitCode": "50",  "Output": "+ TOKEN=[secret]\n+ x \u003c[secret]", "BootDatapoints": {"A": "\u003c"} }"#
        );
        let plain = br#"{"ExitCode":"0","Output":"a\/b \u00e9","Error":""}"#;
        assert_eq!(redact_report(&redactor, plain), plain);
        assert_eq!(
            redact_report(&redactor, b"not json TOKEN=hunter-two"),
            b"not json TOKEN=[secret]"
        );
        assert_eq!(redact_report(&redactor, b""), b"");
    }
}

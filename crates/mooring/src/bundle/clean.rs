//! A node's texts without its secrets.

use mooring_contract::json::{Dialect, Escape, Kind, Layout, Reader, Writer};
use mooring_redact::{MASK, Redactor, mask_line, names_secret};

/// A text without secrets.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cleaned {
    pub(crate) bytes: Vec<u8>,
    pub(crate) redactions: usize,
}

/// Twice: first every known secret in every encoding, then whatever looks like one. JSON stays JSON, so that a bundle
/// can be read by programs.
pub(crate) fn clean(redactor: &Redactor, bytes: &[u8]) -> Cleaned {
    let before = masks(&String::from_utf8_lossy(bytes));
    let known = redactor.redact_bytes(bytes);
    let text = String::from_utf8_lossy(&known);
    let cleaned = document(&text).unwrap_or_else(|| lines(&text));
    // Rewritten JSON has lost its escapes, behind which a secret may have stood.
    let cleaned = redactor.redact(&cleaned).into_owned();
    Cleaned { redactions: masks(&cleaned).saturating_sub(before), bytes: cleaned.into_bytes() }
}

fn masks(text: &str) -> usize {
    text.matches(MASK).count()
}

fn lines(text: &str) -> String {
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// A line of a log, which may be JSON of its own.
fn line(line: &str) -> String {
    document(line).unwrap_or_else(|| mask_line(line).into_owned())
}

/// A text that is one JSON object or array: every string in it is cleaned, what stands behind the name of a secret goes
/// whole, all else stays, in its order.
fn document(text: &str) -> Option<String> {
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let mut reader = Reader::new(text.as_bytes(), Dialect::Go);
    let mut writer = Writer::new(Layout::Compact, Escape::Minimal);
    copy(&mut reader, &mut writer, 0)?;
    reader.end().ok()?;
    let end = if text.ends_with('\n') { "\n" } else { "" };
    Some(writer.finish() + end)
}

/// Files of a node are flat; what is deeper is cleaned as a text.
const DEEPEST: usize = 32;

fn copy(reader: &mut Reader<'_>, writer: &mut Writer, depth: usize) -> Option<()> {
    match reader.peek().ok().filter(|_| depth < DEEPEST)? {
        Kind::Object => {
            let mut members = reader.object().ok()?;
            writer.open_object();
            while let Some(name) = members.next(reader).ok()? {
                writer.name(&line(&name.text));
                // Whether something is set, and a flag, tell no secret.
                let may_tell = !matches!(reader.peek().ok()?, Kind::Null | Kind::Bool);
                if may_tell && names_secret(&name.text) {
                    reader.skip(DEEPEST).ok()?;
                    writer.string(MASK);
                } else {
                    copy(reader, writer, depth + 1)?;
                }
            }
            writer.close_object();
        }
        Kind::Array => {
            let mut elements = reader.array().ok()?;
            writer.open_array();
            while elements.next(reader).ok()? {
                copy(reader, writer, depth + 1)?;
            }
            writer.close_array();
        }
        Kind::String => writer.string(&lines(&reader.string().ok()?)),
        Kind::Number => writer.raw(reader.number().ok()?),
        Kind::Bool => writer.boolean(reader.boolean().ok()?),
        Kind::Null => {
            reader.null().ok()?;
            writer.raw("null");
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn cleaned(text: &str) -> (String, usize) {
        let cleaned = clean(&Redactor::new(["hunter2-is-known"]), text.as_bytes());
        (String::from_utf8(cleaned.bytes).unwrap(), cleaned.redactions)
    }

    #[test]
    fn known_and_likely_secrets_are_masked_and_the_rest_stays() {
        assert_eq!(
            cleaned("+ echo hunter2-is-known\n+ TLS_BOOTSTRAP_TOKEN=abc x\n+ exit 50\n"),
            ("+ echo [secret]\n+ TLS_BOOTSTRAP_TOKEN=[secret] x\n+ exit 50\n".to_owned(), 2)
        );
    }

    #[test]
    fn json_stays_json() {
        let report = r#"{"Output":"+ curl https://u:p@proxy/\n+ TOKEN=abc","ExitCode":"50"}"#;
        let (text, count) = cleaned(report);
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["Output"], "+ curl https://[secret]@proxy/\n+ TOKEN=[secret]");
        assert_eq!((value["ExitCode"].as_str(), count), (Some("50"), 2));
        let (text, _) = cleaned(r#"{"Output":"hunter2\u002dis-known"}"#);
        assert_eq!(text, r#"{"Output":"[secret]"}"#, "an escape hides nothing");
        let (text, _) = cleaned("{\"msg\":\"a\",\"access_token\":\"abc\"}\nplain\n");
        assert_eq!(text, "{\"msg\":\"a\",\"access_token\":\"[secret]\"}\nplain\n");
    }
    #[test]
    fn whatever_stands_behind_the_name_of_a_secret_goes_whole() {
        let (text, count) = cleaned(
            r#"{"tokens":["a",["b"]],"credentials":{"user":"c","x":[1]},"pwd":12345678,"passwordExpired":false,"secret":null,"n":5}"#,
        );
        assert_eq!(
            text,
            r#"{"tokens":"[secret]","credentials":"[secret]","pwd":"[secret]","passwordExpired":false,"secret":null,"n":5}"#
        );
        assert_eq!(count, 3);
    }

    #[test]
    fn user_information_reaches_to_the_last_at_sign() {
        for text in [
            r#"{"proxy":"http://user:hunter-two/x@proxy:3128"}"#,
            r#"["user:hunter-two@proxy:3128"]"#,
            "http_proxy=http://user:hunter-two@x/y@proxy:3128",
            "{\"cut\": 1, \"client_secret\": \"hunter-two and more",
        ] {
            let (text, count) = cleaned(text);
            assert!(!text.contains("hunter-two") && count == 1, "{text}");
        }
    }
}

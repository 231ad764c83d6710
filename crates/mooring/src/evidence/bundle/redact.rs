//! Redaction of secrets in the files of a node.

use mooring_contract::json::{Dialect, Escape, JsonLayout, Reader, ValueKind, Writer};
use mooring_redact::{MASK, Redactor, mask_line, names_secret};

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Redacted {
    pub(crate) bytes: Vec<u8>,
    pub(crate) redactions: usize,
}

/// Redacts known secrets in every encoding, then text that looks like a secret. JSON stays valid JSON.
pub(crate) fn redact(redactor: &Redactor, bytes: &[u8]) -> Redacted {
    let before = count_masks(&String::from_utf8_lossy(bytes));
    let known = redactor.redact_bytes(bytes);
    let text = String::from_utf8_lossy(&known);
    let redacted = redact_json(&text).unwrap_or_else(|| redact_lines(&text));
    // Rewriting JSON decodes escapes, which may have hidden a known secret.
    let redacted = redactor.redact(&redacted).into_owned();
    Redacted {
        redactions: count_masks(&redacted).saturating_sub(before),
        bytes: redacted.into_bytes(),
    }
}

fn count_masks(text: &str) -> usize {
    text.matches(MASK).count()
}

fn redact_lines(text: &str) -> String {
    text.split('\n').map(redact_line).collect::<Vec<_>>().join("\n")
}

/// Redacts a line of a log, which may be JSON.
fn redact_line(line: &str) -> String {
    redact_json(line).unwrap_or_else(|| mask_line(line).into_owned())
}

/// Redacts a JSON object or array: every string, and the complete value of members whose name announces a secret. Returns
/// `None` for other text.
fn redact_json(text: &str) -> Option<String> {
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let mut reader = Reader::new(text.as_bytes(), Dialect::Go);
    let mut writer = Writer::new(JsonLayout::Compact, Escape::Minimal);
    copy(&mut reader, &mut writer, 0)?;
    reader.end().ok()?;
    let end = if text.ends_with('\n') { "\n" } else { "" };
    Some(writer.finish() + end)
}

/// Returns true for an id of Azure, which is as long as a key, and names the image of a node. A segment that looks like a
/// secret is one.
fn is_resource_id(text: &str) -> bool {
    const STARTS: [&str; 3] =
        ["/subscriptions/", "azure:///subscriptions/", "/communitygalleries/"];
    let lower = text.to_ascii_lowercase();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._/:".contains(c);
    STARTS.iter().any(|start| lower.starts_with(start))
        && text.chars().all(is_plain)
        && text.split('/').all(|segment| mask_line(segment) == segment)
}

/// Deeper JSON is redacted as text; the files of a node are flat.
const MAX_DEPTH: usize = 32;

fn copy(reader: &mut Reader<'_>, writer: &mut Writer, depth: usize) -> Option<()> {
    match reader.peek().ok().filter(|_| depth < MAX_DEPTH)? {
        ValueKind::Object => {
            let mut members = reader.object().ok()?;
            writer.open_object();
            while let Some(name) = members.next(reader).ok()? {
                writer.name(&redact_line(&name.text));
                // Null and booleans are not secrets.
                let may_be_secret =
                    !matches!(reader.peek().ok()?, ValueKind::Null | ValueKind::Bool);
                if may_be_secret && names_secret(&name.text) {
                    reader.skip(MAX_DEPTH).ok()?;
                    writer.string(MASK);
                } else {
                    copy(reader, writer, depth + 1)?;
                }
            }
            writer.close_object();
        }
        ValueKind::Array => {
            let mut elements = reader.array().ok()?;
            writer.open_array();
            while elements.next(reader).ok()? {
                copy(reader, writer, depth + 1)?;
            }
            writer.close_array();
        }
        ValueKind::String => {
            let text = reader.string().ok()?;
            let is_plain = is_resource_id(&text);
            writer.string(&if is_plain { text.to_string() } else { redact_lines(&text) });
        }
        ValueKind::Number => writer.raw(reader.number().ok()?),
        ValueKind::Bool => writer.boolean(reader.boolean().ok()?),
        ValueKind::Null => {
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

    fn redacted(text: &str) -> (String, usize) {
        let redacted = redact(&Redactor::new(["hunter2-is-known"]), text.as_bytes());
        (String::from_utf8(redacted.bytes).unwrap(), redacted.redactions)
    }

    #[test]
    fn known_and_likely_secrets_are_redacted_and_nothing_else() {
        assert_eq!(
            redacted("+ echo hunter2-is-known\n+ TLS_BOOTSTRAP_TOKEN=abc x\n+ exit 50\n"),
            ("+ echo [secret]\n+ TLS_BOOTSTRAP_TOKEN=[secret] x\n+ exit 50\n".to_owned(), 2)
        );
    }

    #[test]
    fn redacted_json_stays_valid() {
        let report = r#"{"Output":"+ curl https://u:p@proxy/\n+ TOKEN=abc","ExitCode":"50"}"#;
        let (text, count) = redacted(report);
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["Output"], "+ curl https://[secret]@proxy/\n+ TOKEN=[secret]");
        assert_eq!((value["ExitCode"].as_str(), count), (Some("50"), 2));
        let (text, _) = redacted(r#"{"Output":"hunter2\u002dis-known"}"#);
        assert_eq!(text, r#"{"Output":"[secret]"}"#, "an escape hides nothing");
        let (text, _) = redacted("{\"msg\":\"a\",\"access_token\":\"abc\"}\nplain\n");
        assert_eq!(text, "{\"msg\":\"a\",\"access_token\":\"[secret]\"}\nplain\n");
    }
    #[test]
    fn ids_of_azure_are_kept_without_secrets_in_them() {
        let image = "/subscriptions/10945678-1234-1234-1234-123456789012/resourceGroups/AKS-AzureLinux/providers/Microsoft.Compute/galleries/AKSAzureLinux/images/V3gen2/versions/202601.27.0";
        let text = format!(r#"{{"imageID":"{image}"}}"#);
        assert_eq!(redacted(&text), (text.clone(), 0));
        let secret = "CanaryAccountKey0123456789CanaryAccountKey0123456789ab";
        for text in [
            format!(r#"{{"x":"/subscriptions/1/x/{secret}"}}"#),
            format!(r#"{{"x":"/subscriptions/1 password={secret}"}}"#),
        ] {
            assert!(!redacted(&text).0.contains(secret), "{text}");
        }
    }

    #[test]
    fn complete_values_of_secret_members_are_redacted() {
        let (text, count) = redacted(
            r#"{"tokens":["a",["b"]],"credentials":{"user":"c","x":[1]},"pwd":12345678,"passwordExpired":false,"secret":null,"n":5}"#,
        );
        assert_eq!(
            text,
            r#"{"tokens":"[secret]","credentials":"[secret]","pwd":"[secret]","passwordExpired":false,"secret":null,"n":5}"#
        );
        assert_eq!(count, 3);
    }

    #[test]
    fn deep_json_is_redacted_as_text() {
        let array = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert_eq!(redact_json(&array(MAX_DEPTH)), Some(array(MAX_DEPTH)));
        assert_eq!(redact_json(&array(MAX_DEPTH + 1)), None);
        let object = |depth: usize| r#"{"a":"#.repeat(depth) + "1" + &"}".repeat(depth);
        assert_eq!(redact_json(&object(MAX_DEPTH - 1)), Some(object(MAX_DEPTH - 1)));
        assert_eq!(redact_json(&object(MAX_DEPTH)), None);
        assert_eq!(redact_json("[1]\n").as_deref(), Some("[1]\n"));
    }

    #[test]
    fn user_information_ends_at_the_last_at_sign() {
        for text in [
            r#"{"proxy":"http://user:hunter-two/x@proxy:3128"}"#,
            r#"["user:hunter-two@proxy:3128"]"#,
            "http_proxy=http://user:hunter-two@x/y@proxy:3128",
            "{\"cut\": 1, \"client_secret\": \"hunter-two and more",
        ] {
            let (text, count) = redacted(text);
            assert!(!text.contains("hunter-two") && count == 1, "{text}");
        }
    }
}

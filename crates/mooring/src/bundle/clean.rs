//! A node's texts without its secrets.

use mooring_agent::redact::Redactor;
use mooring_contract::MASK;
use mooring_diagnosis::masked;
use serde_json::Value;

/// A text without secrets.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cleaned {
    pub(crate) bytes: Vec<u8>,
    /// How many masks were put in.
    pub(crate) redactions: usize,
}

/// Twice: first every known secret in every encoding, then whatever looks like one. JSON stays JSON, so that a bundle
/// can be read by programs.
pub(crate) fn clean(redactor: &Redactor, bytes: &[u8]) -> Cleaned {
    let before = masks(&String::from_utf8_lossy(bytes));
    let known = redactor.redact_bytes(bytes);
    let text = String::from_utf8_lossy(&known);
    let cleaned = match document(&text) {
        Some(cleaned) => cleaned,
        None => text.split('\n').map(line).collect::<Vec<_>>().join("\n"),
    };
    Cleaned { redactions: masks(&cleaned).saturating_sub(before), bytes: cleaned.into_bytes() }
}

fn masks(text: &str) -> usize {
    text.matches(MASK).count()
}

/// A line of a log, which may be JSON of its own.
fn line(line: &str) -> String {
    document(line).unwrap_or_else(|| masked(line))
}

/// A text that is one JSON object or array.
fn document(text: &str) -> Option<String> {
    let mut value: Value =
        serde_json::from_str(text).ok().filter(|_| text.trim_start().starts_with(['{', '[']))?;
    clean_value(&mut value);
    let end = if text.ends_with('\n') { "\n" } else { "" };
    Some(format!("{value}{end}"))
}

fn clean_value(value: &mut Value) {
    match value {
        Value::String(text) => *text = text.split('\n').map(line).collect::<Vec<_>>().join("\n"),
        Value::Array(elements) => elements.iter_mut().for_each(clean_value),
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                if member.is_string() && masked(&format!("{name}=x")).contains(MASK) {
                    *member = MASK.into();
                } else {
                    clean_value(member);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
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
        let (text, _) = cleaned("{\"msg\":\"a\",\"access_token\":\"abc\"}\nplain\n");
        assert_eq!(text, "{\"access_token\":\"[secret]\",\"msg\":\"a\"}\nplain\n");
    }
}

//! Output to stdout and stderr, and human-readable diagnoses.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use mooring_diagnosis::{CausePage, Diagnosis, Recognized};
use mooring_redact::{Lines, is_hidden, markdown as escape, markdown_code, printable_lines};
use serde::Serialize;

use crate::failure::Failure;

/// Prints text to stdout, without terminal control characters, since much of it comes from elsewhere. A closed pipe is
/// not an error.
pub(crate) fn print(text: &[u8]) -> Result<(), Failure> {
    print_raw(printable_lines(&String::from_utf8_lossy(text)).as_bytes())
}

/// Prints binary data, or text that is already safe, to stdout.
pub(crate) fn print_raw(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => Ok(written?),
    }
}

/// Prints a message to stderr, without terminal control characters.
#[expect(clippy::print_stderr, reason = "messages go to stderr")]
pub(crate) fn print_note(text: &str) {
    eprintln!("{}", printable_lines(text));
}

pub(crate) fn print_warning(text: &str) {
    if crate::output::is_quiet() {
        return;
    }
    print_note(&format!("warning: {text}"));
}

pub(crate) fn json(value: &impl Serialize) -> Result<String, Failure> {
    let text =
        serde_json::to_string_pretty(value).map_err(|error| Failure::io(error.to_string()))?;
    Ok(escape_hidden(&text) + "\n")
}

/// Escapes hidden characters in JSON strings.
pub(crate) fn escape_hidden(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for character in json.chars() {
        if character != '\n' && is_hidden(character) {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                let _ = write!(safe, "\\u{unit:04x}");
            }
        } else {
            safe.push(character);
        }
    }
    safe
}

/// Describes input in which no failure was recognized.
pub(crate) fn no_failure(recognized: &Recognized) -> String {
    let mut lines = Lines::default();
    let parts = recognized.parts.join(", ");
    lines.line(match parts.as_str() {
        "" => "No failure recognized.".to_owned(),
        parts => format!("No failure recognized. The input is or contains {parts}."),
    });
    for next in &recognized.next {
        lines.line(format_args!("hint: explain {next}"));
    }
    lines.into()
}

pub(crate) fn cause(page: &CausePage) -> String {
    let mut lines = Lines::default();
    lines.line(format_args!("{}: {}", page.reason, page.summary));
    lines.line("");
    let mut row = |name: &str, value: &str| lines.line(format_args!("{name:<11} {value}"));
    row("Stage", &format!("{}: {}", page.stage, page.stage.description()));
    row("Owner", page.owner.as_str());
    for (index, phrase) in page.phrases.iter().enumerate() {
        row(if index == 0 { "Evidence" } else { "" }, &format!("\"{phrase}\""));
    }
    for (index, action) in page.actions.iter().enumerate() {
        row(if index == 0 { "Next steps" } else { "" }, &format!("{}. {action}", index + 1));
    }
    if !page.codes.is_empty() {
        let codes: Vec<String> = page.codes.iter().map(i32::to_string).collect();
        row("Exit codes", &codes.join(", "));
    }
    lines.into()
}

pub(crate) fn table(diagnoses: &[Diagnosis]) -> String {
    let entries: Vec<String> = diagnoses.iter().map(entry).collect();
    entries.join("\n")
}

fn entry(diagnosis: &Diagnosis) -> String {
    let mut lines = Lines::default();
    lines.line(&diagnosis.summary);
    let mut row = |name: &str, value: String| lines.line(format_args!("  {name:<11} {value}"));
    row("reported", reported(diagnosis));
    if diagnosis.effective.code != diagnosis.reported.code {
        row("actual", code(diagnosis.effective.code, diagnosis.effective.name.as_deref()));
    }
    row("reason", format!("{} ({} confidence)", diagnosis.reason, diagnosis.confidence.as_str()));
    row("owner", diagnosis.owner.as_str().to_owned());
    row("stage", format!("{}: {}", diagnosis.stage, diagnosis.stage.description()));
    for evidence in &diagnosis.evidence {
        row("evidence", format!("{}: {}", evidence.place, evidence.line));
    }
    for (index, action) in diagnosis.actions.iter().enumerate() {
        row(if index == 0 { "next steps" } else { "" }, format!("{}. {action}", index + 1));
    }
    for (name, value) in [("image", &diagnosis.image_version), ("extension", &diagnosis.extension)]
    {
        if let Some(value) = value {
            row(name, value.clone());
        }
    }
    lines.into()
}

pub(crate) fn markdown(diagnoses: &[Diagnosis]) -> String {
    let mut lines = Vec::new();
    for diagnosis in diagnoses {
        lines.push(format!("### {}", escape(&diagnosis.summary)));
        lines.push(String::new());
        lines.push(format!("- **Reported:** {}", escape(&reported(diagnosis))));
        let effective = code(diagnosis.effective.code, diagnosis.effective.name.as_deref());
        lines.push(format!("- **Cause:** `{}`, {}", diagnosis.reason, escape(&effective)));
        let confidence = diagnosis.confidence.as_str();
        lines.push(format!(
            "- **Confidence:** {confidence}; **owner:** {}; **stage:** {}",
            diagnosis.owner.as_str(),
            diagnosis.stage
        ));
        for evidence in &diagnosis.evidence {
            let line = markdown_code(&evidence.line);
            lines.push(format!("- {}: {line}", escape(&evidence.place)));
        }
        lines.push(String::new());
        lines.extend(
            diagnosis.actions.iter().enumerate().map(|(n, action)| format!("{}. {action}", n + 1)),
        );
        lines.push(String::new());
    }
    lines.join("\n")
}

fn reported(diagnosis: &Diagnosis) -> String {
    let code = code(diagnosis.reported.code, diagnosis.reported.name.as_deref());
    match diagnosis.reported.found_by {
        Some(found_by) => format!("{code}, by {}", found_by.as_str()),
        None => code,
    }
}

fn code(number: Option<i32>, name: Option<&str>) -> String {
    match (number, name) {
        (Some(number), Some(name)) => format!("{number} {name}"),
        (Some(number), None) => number.to_string(),
        (None, Some(name)) => name.to_owned(),
        (None, None) => "no code".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::code;

    #[test]
    fn code_is_shown_as_number_and_name() {
        assert_eq!(code(Some(50), Some("OUTBOUND_CONN_FAIL")), "50 OUTBOUND_CONN_FAIL");
        assert_eq!(code(Some(50), None), "50");
        assert_eq!(code(None, Some("OUTBOUND_CONN_FAIL")), "OUTBOUND_CONN_FAIL");
        assert_eq!(code(None, None), "no code");
    }
}

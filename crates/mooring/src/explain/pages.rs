//! Pages of causes, exit codes and diagnoses.

use mooring_codes::{ExitCode, KnownImage, Section, Transient, sections, title};
use mooring_diagnosis::{ANOTHER_IMAGE, BootstrapOutcome, CausePage, Diagnosis, Recognized};
use mooring_nodes::Advice;
use mooring_redact::Lines;
use mooring_terminal::{Mark, Text};
use mooring_workflow::published::Next;

use crate::output::page::TextPage;

/// Returns the expected result of a retry after a failure with this cause or error code.
pub(super) fn retry(reason: &str) -> Option<Transient> {
    mooring_diagnosis::retry(reason).or_else(|| Some(mooring_catalog::find(reason)?.retry))
}

/// Returns the page of a cause. The steps of the cluster replace the general ones.
pub(super) fn cause_page(cause: &CausePage, advice: &[Advice]) -> TextPage {
    let mut page =
        TextPage::new(Text::default().bold(cause.reason).plain(": ").plain(cause.summary));
    page.row("You see", Text::new(&cause.symptom));
    if !cause.known_by.is_empty() {
        let signs: Vec<String> = cause.known_by.iter().map(|phrases| quote(phrases)).collect();
        page.row("Known by", Text::new(signs.join(", ")));
    }
    page.row("Stage", Text::new(format!("{}: {}", cause.stage, cause.stage.description())));
    page.row("Owner", Text::new(format!("{}: {}", cause.owner, cause.owner.role())));
    if advice.is_empty() {
        steps(&mut page, &cause.actions);
    }
    for (at, step) in advice.iter().enumerate() {
        page.row(if at == 0 { "Do first" } else { "Then" }, Text::new(&step.text));
        if let Some(command) = &step.command {
            page.literal("Command", command);
        }
        if let Some(undo) = &step.undo {
            page.literal("To undo", undo);
        }
    }
    page.row("Retry?", Text::new(cause.retry.description()));
    if !cause.codes.is_empty() {
        page.row("Codes", list_codes(&cause.codes));
    }
    page
}

/// Returns `"a" with "b" and "c"`.
fn quote(phrases: &[String]) -> String {
    let quoted: Vec<String> = phrases.iter().map(|phrase| format!("\"{phrase}\"")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [one, others @ ..] => format!("{one} with {}", others.join(" and ")),
    }
}

fn steps(page: &mut TextPage, actions: &[impl AsRef<str>]) {
    for (at, action) in actions.iter().enumerate() {
        page.row(if at == 0 { "Do first" } else { "Then" }, Text::new(action));
    }
}

fn list_codes(codes: &[&ExitCode]) -> Text {
    let mut text = Text::default();
    for (at, code) in codes.iter().enumerate() {
        text = if at == 0 { text } else { text.plain(", ") };
        text = match code.doc_url {
            Some(url) => text.link(code.to_string(), url),
            None => text.plain(code.to_string()),
        };
    }
    text
}

pub(super) fn code_page(code: &ExitCode) -> TextPage {
    let sentence = Text::default().bold(title(code)).plain(": ").plain(code.meaning);
    let mut page = TextPage::new(sentence);
    for (section, texts) in sections(code) {
        let label = match section {
            Section::Cause => "Cause",
            Section::Action => "Do first",
            Section::Owner => "Owner",
            Section::Retry => "Retry?",
            Section::Source => "Source",
            Section::Others => "Or",
            Section::AksNames => "AKS names",
            Section::Documentation => "Docs",
        };
        for text in texts {
            match section {
                Section::Documentation => page.literal(label, text),
                _ => page.row(label, Text::new(text)),
            }
        }
    }
    page
}

pub(super) fn image_page(image: &KnownImage) -> TextPage {
    let sentence = format!("Known-bad image: {} {}", image.name, image.fault);
    let mut page = TextPage::new(Text::new(sentence)).marked(Mark::Warning);
    page.row("Do first", Text::new(ANOTHER_IMAGE));
    page
}

pub(super) fn diagnosis_page(diagnosis: &Diagnosis) -> TextPage {
    let mark = match diagnosis.outcome {
        BootstrapOutcome::Failed | BootstrapOutcome::NoCode => Mark::Bad,
        BootstrapOutcome::Succeeded => Mark::Good,
        BootstrapOutcome::NotABootstrap => Mark::None,
    };
    let mut page = TextPage::new(Text::new(&diagnosis.summary)).marked(mark);
    let cause = Text::default().bold(&diagnosis.reason);
    page.row("Cause", cause.plain(format!(" ({} confidence)", diagnosis.confidence)));
    if let Some(component) = diagnosis.component {
        page.row("Component", Text::new(component));
    }
    page.row("Reported", Text::new(reported(diagnosis)));
    let effective = &diagnosis.effective;
    if effective.code != diagnosis.reported.code {
        page.row("Actual", Text::new(number_and_name(effective.code, effective.name.as_deref())));
    }
    for evidence in &diagnosis.evidence {
        page.literal("Evidence", format!("{}: {}", evidence.place, evidence.line));
    }
    let stage = diagnosis.stage;
    page.row("Stage", Text::new(format!("{stage}: {}", stage.description())));
    if diagnosis.outcome != BootstrapOutcome::Succeeded {
        let owner = diagnosis.owner;
        page.row("Owner", Text::new(format!("{owner}: {}", owner.role())));
    }
    steps(&mut page, &diagnosis.actions);
    if let Some(retry) = retry(&diagnosis.reason) {
        page.row("Retry?", Text::new(retry.description()));
    }
    for (label, value) in [("Image", &diagnosis.image_version), ("Extension", &diagnosis.extension)]
    {
        if let Some(value) = value {
            page.row(label, Text::new(value));
        }
    }
    if let Some(next) = next(diagnosis) {
        page.literal("Next", next.command);
    }
    page
}

/// Returns the command that continues from a diagnosis.
pub(super) fn next(diagnosis: &Diagnosis) -> Option<Next> {
    retry(&diagnosis.reason)?;
    Some(Next::new(format!("mooring explain {}", diagnosis.reason), "the page of the cause"))
}

fn reported(diagnosis: &Diagnosis) -> String {
    let code = number_and_name(diagnosis.reported.code, diagnosis.reported.name.as_deref());
    match diagnosis.reported.found_by {
        Some(found_by) => format!("{code}, by {}", found_by.as_str()),
        None => code,
    }
}

fn number_and_name(number: Option<i32>, name: Option<&str>) -> String {
    match (number, name) {
        (Some(number), Some(name)) => format!("{number} {name}"),
        (Some(number), None) => number.to_string(),
        (None, Some(name)) => name.to_owned(),
        (None, None) => "no code".to_owned(),
    }
}

/// Describes input in which no failure was recognized.
pub(super) fn no_failure(recognized: &Recognized) -> String {
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

#[cfg(test)]
mod tests {
    use super::{number_and_name, quote};

    #[test]
    fn phrases_that_are_required_together_are_listed_together() {
        let shown = |phrases: &[&str]| {
            quote(&phrases.iter().map(|phrase| (*phrase).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(shown(&["a"]), "\"a\"");
        assert_eq!(shown(&["a", "b", "c"]), "\"a\" with \"b\" and \"c\"");
    }

    #[test]
    fn code_is_shown_as_number_and_name() {
        let name = Some("OUTBOUND_CONN_FAIL");
        assert_eq!(number_and_name(Some(50), name), "50 OUTBOUND_CONN_FAIL");
        assert_eq!(number_and_name(Some(50), None), "50");
        assert_eq!(number_and_name(None, name), "OUTBOUND_CONN_FAIL");
        assert_eq!(number_and_name(None, None), "no code");
    }
}

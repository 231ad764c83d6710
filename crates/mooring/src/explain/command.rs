//! The command: it reads the subject, and the cluster if there is one, and prints the explanation.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use mooring_codes::{known_image_page, page};
use mooring_diagnosis::{ANOTHER_IMAGE, Hints};
use mooring_nodes::DocsUrl;
use mooring_redact::identifier;
use mooring_terminal::{Screen, Text};

use super::occurrences::{self, Occurrences};
use super::pages::{cause_page, code_page, diagnosis_page, image_page, no_failure};
use super::subject::{explain_argument, explain_text};
use super::{ExplainArguments, Explanation, document};
use crate::cluster::config;
use crate::output::failure::CommandFailure;
use crate::output::page::{TextPage, markdown, screen};
use crate::output::{AnswerFormat, print_document, print_screen, published, show};

/// Exits with 3 if the cluster was asked and could not be read.
pub(crate) fn explain(arguments: &ExplainArguments) -> Result<ExitCode, CommandFailure> {
    let hints = Hints {
        os: arguments.os,
        image_date: arguments.image,
        catalog: mooring_catalog::rows(),
        ..Hints::default()
    };
    let explanation = match arguments.what.as_deref() {
        None | Some("-") => {
            let stdin = io::stdin();
            if stdin.is_terminal() {
                show::print_note(
                    "Reading from the terminal: paste a message, then press Ctrl-D on an empty line.",
                );
            }
            explain_text(&mut stdin.lock(), "stdin", None, arguments.output, hints)?
        }
        Some(what) => explain_argument(what, arguments.output, hints)?,
    };
    match explanation {
        Some(mut explanation) => {
            // Names have no place for facts of a cluster.
            let shows_cluster = arguments.output != AnswerFormat::Name;
            if let (Some(cause), true) = (explanation.causes.first(), shows_cluster) {
                explanation.occurrences = occurrences::read(&arguments.kube, cause.reason)?;
            }
            print(&explanation, arguments)?;
            let occurrences = explanation.occurrences.as_ref();
            Ok(ExitCode::from(occurrences.map_or(0, Occurrences::exit_code)))
        }
        None => Ok(ExitCode::SUCCESS),
    }
}

fn print(explanation: &Explanation, arguments: &ExplainArguments) -> Result<(), CommandFailure> {
    let what = arguments.what.as_deref().unwrap_or("-");
    match arguments.output {
        AnswerFormat::Json | AnswerFormat::Yaml => {
            let occurrences = explanation.occurrences.as_ref();
            let document = published::document(
                document::SCHEMA,
                occurrences.and_then(Occurrences::identity),
                occurrences.map(Occurrences::sources).unwrap_or_default(),
                document::content(explanation),
            );
            print_document(&document, arguments.output == AnswerFormat::Yaml)
        }
        AnswerFormat::Name => {
            show::print_names(explanation.diagnoses.iter().map(|one| one.reason.as_str()))
        }
        AnswerFormat::Table | AnswerFormat::Wide => {
            print_pages(what, explanation, &config::docs_url()?)
        }
        AnswerFormat::Markdown => {
            show::print(in_markdown(explanation, &config::docs_url()?).as_bytes())
        }
    }
}

fn print_pages(
    what: &str,
    explanation: &Explanation,
    docs: &DocsUrl,
) -> Result<(), CommandFailure> {
    let mut all: Vec<TextPage> = explanation.known_image.map(image_page).into_iter().collect();
    all.extend(cause_pages(explanation, docs));
    let codes = explanation.codes.iter();
    all.extend(codes.map(|code| linked(code_page(code), docs.code(code.number))));
    if explanation.causes.is_empty() && explanation.codes.is_empty() {
        all.extend(diagnosis_pages(explanation, docs));
    }
    if all.is_empty() {
        return show::print(no_failure(&explanation.recognized).as_bytes());
    }
    if explanation.codes.len() > 1 {
        // Ambiguity is reported, never guessed.
        let mut ambiguous = Screen::default();
        ambiguous.prose(
            0,
            Text::new(format!(
                "{} has {} meanings. Select one with --os (operating system) or --image (node \
                 image version).",
                identifier(what),
                explanation.codes.len()
            )),
        );
        ambiguous.blank();
        print_screen(&ambiguous)?;
    }
    print_screen(&screen(&all))
}

/// Returns the pages of causes, with their failures in the cluster.
fn cause_pages(explanation: &Explanation, docs: &DocsUrl) -> impl Iterator<Item = TextPage> {
    explanation.causes.iter().map(|cause| {
        let advice = explanation.occurrences.as_ref().map_or(&[][..], Occurrences::advice);
        let mut page = cause_page(cause, advice);
        if let Some(occurrences) = &explanation.occurrences {
            page.row(occurrences.label(), Text::new(occurrences.sentence()));
            for mitigation in occurrences.mitigations() {
                page.row("In effect", Text::new(mitigation.message));
                page.literal("Undo", mitigation.undo);
            }
        }
        linked(page, docs.cause(cause.reason))
    })
}

fn diagnosis_pages(explanation: &Explanation, docs: &DocsUrl) -> impl Iterator<Item = TextPage> {
    let diagnoses = explanation.diagnoses.iter();
    diagnoses.map(|one| linked(diagnosis_page(one), docs.failure(&one.reason, one.effective.code)))
}

/// Adds the address of the published page, if there is one.
fn linked(mut page: TextPage, url: Option<String>) -> TextPage {
    if let Some(url) = url {
        page.literal("More", url);
    }
    page
}

fn in_markdown(explanation: &Explanation, docs: &DocsUrl) -> String {
    let Explanation { diagnoses, causes, codes, .. } = explanation;
    let known = explanation.known_image.map(|image| known_image_page(image, ANOTHER_IMAGE));
    let codes: Vec<String> = codes.iter().map(|code| page(code)).collect();
    match (causes.as_slice(), codes.as_slice()) {
        ([], []) if diagnoses.is_empty() => no_failure(&explanation.recognized),
        ([], []) => markdown(&diagnosis_pages(explanation, docs).collect::<Vec<_>>()),
        (_, []) => markdown(&cause_pages(explanation, docs).collect::<Vec<_>>()),
        (_, codes) => known.unwrap_or_default() + &codes.join("\n"),
    }
}

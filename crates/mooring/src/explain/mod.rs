//! `mooring explain`.

mod arguments;
pub(crate) mod codes;
mod document;
mod explanation;
mod input;
mod occurrences;
mod pages;

use std::fs::File;
use std::io::{self, IsTerminal as _, Read};
use std::path::Path;

use mooring_codes::{ExitCode, Meanings, Os, by_name, known_image, known_image_page, page};
use mooring_diagnosis::{
    ANOTHER_IMAGE, Diagnosis, Hints, Situation, StreamDiagnoses, cause_page, diagnose,
    diagnose_code, find_codes, recognize, to_json,
};
use mooring_redact::identifier;
use mooring_terminal::{Screen, Text};

use crate::about::schema::is_former;
use crate::arguments::suggest;
use crate::explain::codes::{likely_meanings, parse_code, unknown_code};
use crate::output::failure::Failure;
use crate::output::page::{Page, markdown, screen};
use crate::output::published;
use crate::output::show;
use crate::output::{AnswerFormat, print_document, print_screen};
use explanation::Explanation;
use input::unreadable;
use occurrences::Occurrences;

pub(crate) use arguments::{CodesArguments, EXPLAIN_EXAMPLES, ExplainArguments};

pub(crate) fn explain(arguments: &ExplainArguments) -> Result<(), Failure> {
    let schema = arguments.schema.as_deref().unwrap_or(document::SCHEMA);
    let hints = Hints { os: arguments.os.map(Into::into), image_date: arguments.image };
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
        Some(what) => Some(explain_argument(what, arguments.output, hints)?).flatten(),
    };
    match explanation {
        Some(mut explanation) => {
            if let (Some(cause), true) = (explanation.causes.first(), shows_cluster(arguments)) {
                explanation.occurrences = occurrences::read(&arguments.kube, cause.reason)?;
            }
            print(&explanation, arguments, schema)
        }
        None => Ok(()),
    }
}

/// Returns true unless the output has no place for facts of a cluster.
fn shows_cluster(arguments: &ExplainArguments) -> bool {
    arguments.output != AnswerFormat::Name
        && !is_former(arguments.schema.as_deref(), document::SCHEMA)
}

fn explain_argument(
    what: &str,
    format: AnswerFormat,
    hints: Hints,
) -> Result<Option<Explanation>, Failure> {
    if let Some(code) = parse_code(what) {
        let codes = likely_meanings(code, hints.os, hints.image_date);
        if codes.is_empty() {
            return Err(unknown_code(what));
        }
        return Ok(Some(Explanation {
            diagnoses: diagnose_code(code, hints),
            codes,
            known_image: known_image(code, hints.image_date)
                .filter(|_| hints.os != Some(Os::Windows)),
            ..Explanation::default()
        }));
    }
    let path = Path::new(what);
    if path.is_dir() {
        return Err(unreadable(what, "is a directory; pass a file in it, such as provision.json"));
    }
    if path.exists() {
        let mut file = File::open(path).map_err(|error| unreadable(what, &error.to_string()))?;
        return explain_text(&mut file, what, Some(what), format, hints);
    }
    explain_name(what, hints).map(Some)
}

fn explain_name(what: &str, hints: Hints) -> Result<Explanation, Failure> {
    if let Some(page) = cause_page(what) {
        let diagnoses = vec![document::diagnose_cause(&page)];
        return Ok(Explanation { diagnoses, causes: vec![page], ..Explanation::default() });
    }
    let named = by_name(what);
    if !named.is_empty() {
        let codes = named.as_slice().to_vec();
        let diagnoses = named_diagnoses(named, hints);
        return Ok(Explanation { diagnoses, codes, ..Explanation::default() });
    }
    // A name of Azure that has no code, such as that of a timeout; or a pasted message.
    let mut diagnoses = diagnose(what.as_bytes(), hints);
    let is_name = !what.contains(char::is_whitespace);
    if is_name {
        // A misspelled name of a code is not a message that lost its code.
        diagnoses.retain(|one| one.situation != Some(Situation::CodeLost));
    }
    let codes = find_codes(what);
    if diagnoses.is_empty() && codes.is_empty() {
        if is_name {
            return Err(unknown_name(what));
        }
        let recognized = recognize(what.as_bytes());
        return Ok(Explanation { recognized, ..Explanation::default() });
    }
    let of_codes = |codes: &[&'static ExitCode]| {
        let each = codes.iter().flat_map(|code| by_name(code.name));
        named_diagnoses(each.collect(), hints)
    };
    Ok(if diagnoses.is_empty() {
        Explanation { diagnoses: of_codes(&codes), codes, ..Explanation::default() }
    } else {
        Explanation { diagnoses, ..Explanation::default() }
    })
}

/// Returns the error for a name of nothing, with similar names.
fn unknown_name(what: &str) -> Failure {
    let causes: Vec<&str> =
        mooring_diagnosis::cause_pages().iter().map(|page| page.reason).collect();
    let names = causes.into_iter().chain(mooring_codes::code_names());
    let hint = suggest::hint(what, names, "mooring explain").unwrap_or_else(|| {
        "hint: `mooring codes search WORDS` finds codes and causes by their texts".to_owned()
    });
    let what = identifier(what);
    Failure::unknown_name(format!(
        "cannot explain `{what}`: no file, exit code or cause has this name\n{hint}"
    ))
}

/// Explains a text; `None` if it is empty and a message was printed.
fn explain_text(
    source: &mut dyn Read,
    name: &str,
    file: Option<&str>,
    format: AnswerFormat,
    hints: Hints,
) -> Result<Option<Explanation>, Failure> {
    let (read, is_blank) = input::read(source, name, hints)?;
    let is_document = matches!(format, AnswerFormat::Json | AnswerFormat::Yaml);
    if is_blank && !is_document && format != AnswerFormat::Name {
        show::print(empty_input(name).as_bytes())?;
        return Ok(None);
    }
    let StreamDiagnoses { diagnoses, omitted, recognized } = read;
    if omitted > 0 {
        show::print_warning(&format!(
            "{omitted} more failures are not shown\nhint: explain a part of the text"
        ));
    }
    let file = file.map(ToOwned::to_owned);
    Ok(Some(Explanation { diagnoses, recognized, file, ..Explanation::default() }))
}

/// Returns the message for empty input; usually the command before the pipe failed.
fn empty_input(name: &str) -> String {
    let name = identifier(name);
    format!(
        "Nothing to explain: {name} is empty.\n\
         hint: check the source of the input; pass the CSE message, the ARM error or \
         provision.json\n"
    )
}

/// Returns the diagnoses of an error name.
fn named_diagnoses(named: Meanings, hints: Hints) -> Vec<Diagnosis> {
    let mut diagnoses = Vec::new();
    for meaning in named {
        let found = diagnose_code(meaning.number, Hints { os: Some(meaning.os), ..hints });
        let has_name = |d: &Diagnosis| d.effective.name.as_deref() == Some(meaning.name);
        diagnoses.extend(found.into_iter().filter(has_name));
    }
    diagnoses
}

fn print(
    explanation: &Explanation,
    arguments: &ExplainArguments,
    schema: &str,
) -> Result<(), Failure> {
    let what = arguments.what.as_deref().unwrap_or("-");
    match arguments.output {
        AnswerFormat::Json if schema == mooring_diagnosis::SCHEMA => {
            show::print((to_json(&explanation.diagnoses) + "\n").as_bytes())
        }
        AnswerFormat::Yaml if schema == mooring_diagnosis::SCHEMA => {
            let document: serde_json::Value =
                serde_json::from_str(&to_json(&explanation.diagnoses))
                    .map_err(|error| Failure::io(error.to_string()))?;
            print_document(&document, true)
        }
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
        AnswerFormat::Table | AnswerFormat::Wide => print_pages(what, explanation),
        AnswerFormat::Markdown => show::print(in_markdown(explanation).as_bytes()),
    }
}

fn print_pages(what: &str, explanation: &Explanation) -> Result<(), Failure> {
    let mut all: Vec<Page> = explanation.known_image.map(pages::known_image).into_iter().collect();
    all.extend(cause_pages(explanation));
    all.extend(explanation.codes.iter().map(|code| pages::code(code)));
    if explanation.causes.is_empty() && explanation.codes.is_empty() {
        all.extend(explanation.diagnoses.iter().map(pages::diagnosis));
    }
    if all.is_empty() {
        return show::print(pages::no_failure(&explanation.recognized).as_bytes());
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
fn cause_pages(explanation: &Explanation) -> impl Iterator<Item = Page> {
    explanation.causes.iter().map(|cause| {
        let mut page = pages::cause(cause);
        if let Some(occurrences) = &explanation.occurrences {
            page.row(occurrences.label(), Text::new(occurrences.sentence()));
        }
        page
    })
}

fn in_markdown(explanation: &Explanation) -> String {
    let Explanation { diagnoses, causes, codes, .. } = explanation;
    let known = explanation.known_image.map(|image| known_image_page(image, ANOTHER_IMAGE));
    let codes: Vec<String> = codes.iter().map(|code| page(code)).collect();
    match (causes.as_slice(), codes.as_slice()) {
        ([], []) if diagnoses.is_empty() => pages::no_failure(&explanation.recognized),
        ([], []) => markdown(&diagnoses.iter().map(pages::diagnosis).collect::<Vec<_>>()),
        (_, []) => markdown(&cause_pages(explanation).collect::<Vec<_>>()),
        (_, codes) => known.unwrap_or_default() + &codes.join("\n"),
    }
}

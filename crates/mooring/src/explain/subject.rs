//! The subject of an explanation: an exit code, a name, a file or a text.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use mooring_codes::{ExitCode, Meanings, Os, by_name, known_image};
use mooring_diagnosis::{
    Diagnosis, Hints, Situation, StreamDiagnoses, cause_page, diagnose, diagnose_code, find_codes,
    recognize,
};
use mooring_redact::identifier;

use super::codes::{likely_meanings, parse_code, unknown_code};
use super::explanation::Explanation;
use super::input::unreadable;
use super::{document, input};
use crate::arguments::suggest;
use crate::output::AnswerFormat;
use crate::output::failure::CommandFailure;
use crate::output::show;

pub(super) fn explain_argument(
    what: &str,
    format: AnswerFormat,
    hints: Hints,
) -> Result<Option<Explanation>, CommandFailure> {
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

fn explain_name(what: &str, hints: Hints) -> Result<Explanation, CommandFailure> {
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
fn unknown_name(what: &str) -> CommandFailure {
    let causes = mooring_diagnosis::cause_pages().into_iter().map(|page| page.reason);
    let names = causes.chain(mooring_codes::code_names());
    let hint = suggest::hint(what, names, "mooring explain").unwrap_or_else(|| {
        "hint: `mooring codes search WORDS` finds codes and causes by their texts".to_owned()
    });
    let what = identifier(what);
    CommandFailure::unknown_name(format!(
        "cannot explain `{what}`: no file, exit code or cause has this name\n{hint}"
    ))
}

/// Explains a text; `None` if it is empty and a message was printed.
pub(super) fn explain_text(
    source: &mut dyn Read,
    name: &str,
    file: Option<&str>,
    format: AnswerFormat,
    hints: Hints,
) -> Result<Option<Explanation>, CommandFailure> {
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

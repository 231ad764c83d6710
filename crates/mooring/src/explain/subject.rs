//! The subject of an explanation: an exit code, a name, a file or a text.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use mooring_codes::{ExitCode, Meanings, Os, by_name, known_image};
use mooring_diagnosis::{
    Diagnosis, Hints, Rung, Situation, StreamDiagnoses, cause_page, code_alone, diagnose,
    diagnose_code, find_codes, recognize,
};
use mooring_redact::identifier;

use super::codes::{likely_meanings, parse_code, unknown_code};
use super::explanation::Explanation;
use super::input::unreadable;
use super::{document, input};
use crate::output::AnswerFormat;
use crate::output::failure::CommandFailure;
use crate::output::show;
use mooring_terminal::suggest;

pub(super) fn explain_argument(
    what: &str,
    format: AnswerFormat,
    hints: Hints,
) -> Result<Option<Explanation>, CommandFailure> {
    let is_known = |code: &i32| !likely_meanings(*code, hints.os, hints.image_date).is_empty();
    if let Some(code) = parse_code(what).or_else(|| code_alone(what).filter(is_known)) {
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
    // What a rule knows is more than a row of the catalog.
    if diagnoses.iter().all(|one| one.rung != Rung::Rule)
        && let Some(page) = mooring_catalog::page(what)
    {
        let diagnoses = vec![document::diagnose_cause(&page)];
        return Ok(Explanation { diagnoses, causes: vec![page], ..Explanation::default() });
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
    let listed = mooring_catalog::rows().iter().map(|row| row.name);
    let names = causes.chain(mooring_codes::code_names()).chain(listed);
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

#[cfg(test)]
mod tests {
    use mooring_diagnosis::{CausePage, cause_pages};

    use super::*;

    /// Returns quoted texts and exit codes. An address alone is no failure.
    fn phrases(line: &str, quote: char) -> Vec<String> {
        let mut phrases: Vec<String> =
            line.split(quote).skip(1).step_by(2).map(str::to_owned).collect();
        let plain: String = line.split(quote).step_by(2).collect();
        let words = plain
            .split([' ', ','])
            .filter(|word| word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_digit()));
        // Numbers of minutes are no codes.
        let codes = words.filter(|word| !plain.contains(&format!("{word} minutes")));
        phrases.extend(codes.map(str::to_owned));
        phrases
    }

    /// Returns the symptoms that the runbook, the list of codes and the pages of causes name.
    fn symptoms() -> Vec<String> {
        let runbook = include_str!("../../../../docs/RUNBOOK.md");
        let lines = runbook.lines().filter_map(|line| line.strip_prefix("- **Symptoms**: "));
        let mut all: Vec<String> = lines.flat_map(|line| phrases(line, '`')).collect();
        assert!(all.len() >= 15, "{all:?}");
        let codes = include_str!("../../../../docs/CODES.md");
        let rows = codes.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" | `ERR_"));
        for (number, rest) in rows {
            all.push(format!("ExitCode: {number}"));
            all.push(format!("ERR_{}", rest.split('`').next().unwrap()));
        }
        let of_page = |page: &CausePage| {
            let codes = page.codes.iter().map(ToString::to_string);
            let known = page.known_by.iter().filter(|signs| signs.len() == 1).flatten().cloned();
            phrases(&page.symptom, '"').into_iter().chain(known).chain(codes).collect::<Vec<_>>()
        };
        all.extend(cause_pages().iter().flat_map(of_page));
        all
    }

    #[test]
    fn every_symptom_of_the_documents_is_recognized_alone() {
        let listed = symptoms();
        let own = [
            "ExitCode: 211",
            "exit status 50",
            "CSE exited 211",
            " 211 ",
            "no such host",
            "curl: (6) Could not resolve host: mcr.microsoft.com",
        ];
        let missed: Vec<&str> = listed
            .iter()
            .map(String::as_str)
            .chain(own)
            .filter(|text| {
                let as_argument = explain_argument(text, AnswerFormat::Json, Hints::default());
                let is_argument = as_argument.is_ok_and(|found| {
                    found.is_some_and(|one| !one.diagnoses.is_empty() || !one.codes.is_empty())
                });
                let is_input =
                    own.contains(text) && diagnose(text.as_bytes(), Hints::default()).is_empty();
                !is_argument || is_input
            })
            .collect();
        assert!(missed.is_empty(), "{} of {}: {missed:#?}", missed.len(), listed.len());
        for text in own {
            for found in diagnose(text.as_bytes(), Hints::default()) {
                assert_eq!(found.confidence.as_str(), "low", "{text}");
            }
        }
    }
}

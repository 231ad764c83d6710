//! The subject of an explanation: an exit code, a name, a file or a text.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use mooring_codes::{Meanings, Os, by_name, known_image};
use mooring_diagnosis::{
    Diagnosis, DiagnosisStream, Hints, Rung, Situation, StreamDiagnoses, cause_page, code_alone,
    diagnose, diagnose_code, find_codes, recognize,
};
use mooring_redact::identifier;
use mooring_terminal::suggest;

use super::codes::{likely_meanings, parse_code, unknown_code};
use super::{Explanation, document};
use crate::output::failure::CommandFailure;
use crate::output::{AnswerFormat, show};

/// Bounds the time; memory does not grow with the input. The logs of a fleet fit, a disk image does not.
const MAX_BYTES: u64 = 256 << 20;
const CHUNK: usize = 64 << 10;

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
        let codes = named.to_vec();
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
    if !diagnoses.is_empty() {
        return Ok(Explanation { diagnoses, ..Explanation::default() });
    }
    let named = codes.iter().flat_map(|code| by_name(code.name)).collect();
    Ok(Explanation { diagnoses: named_diagnoses(named, hints), codes, ..Explanation::default() })
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
    let (read, is_blank) = read(source, name, hints)?;
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

/// Passes the input to the diagnosis in chunks; also returns true if it is blank.
fn read(
    source: &mut dyn Read,
    name: &str,
    hints: Hints,
) -> Result<(StreamDiagnoses, bool), CommandFailure> {
    read_up_to(MAX_BYTES, source, name, hints)
}

fn read_up_to(
    max: u64,
    source: &mut dyn Read,
    name: &str,
    hints: Hints,
) -> Result<(StreamDiagnoses, bool), CommandFailure> {
    let mut stream = DiagnosisStream::new(hints);
    let mut chunk = vec![0; CHUNK];
    let (mut total, mut is_blank) = (0_u64, true);
    loop {
        let length = match source.read(&mut chunk) {
            Ok(0) => return Ok((stream.finish(), is_blank)),
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(unreadable(name, &error.to_string())),
        };
        total += length as u64;
        if total > max {
            let limit = max >> 20;
            return Err(unreadable(
                name,
                &format!("larger than {limit} MiB; pass the part around the failure"),
            ));
        }
        is_blank &= chunk[..length].trim_ascii().is_empty();
        stream.push(&chunk[..length]);
    }
}

/// Returns the error for input that cannot be read.
fn unreadable(name: &str, why: &str) -> CommandFailure {
    let name = identifier(name);
    CommandFailure::io(format!(
        "cannot explain `{name}`: {why}\nhint: `mooring explain --help` lists the supported input"
    ))
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

    /// Returns two bytes at a time, after an interrupted read.
    struct Slow(usize, bool);

    impl Read for Slow {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let length = self.0.min(2);
            buffer[..length].fill(b' ');
            self.0 -= length;
            Ok(length)
        }
    }

    #[test]
    fn input_is_read_up_to_its_limit() {
        let read = |bytes| read_up_to(3 << 20, &mut Slow(bytes, false), "x", Hints::default());
        let read = |bytes| read(bytes).map(|(_, is_blank)| is_blank);
        assert_eq!(read(0).ok(), Some(true));
        assert_eq!(read(5).ok(), Some(true));
        let few = |bytes| read_up_to(4, &mut Slow(bytes, false), "x", Hints::default());
        assert!(few(4).is_ok());
        assert!(few(5).is_err());
        let long = [b' '; 5].as_slice();
        let limit = |max| read_up_to(max, &mut { long }, "x", Hints::default()).err().unwrap();
        let text = limit(4).text();
        assert!(text.starts_with("cannot explain `x`: larger than 0 MiB; pass "), "{text}");
        let mut endless = io::repeat(b' ');
        let failure = read_up_to(1 << 20, &mut endless, "x", Hints::default()).err().unwrap();
        assert!(failure.text().contains("larger than 1 MiB"), "{}", failure.text());
    }

    #[test]
    fn failed_read_is_an_error() {
        struct Failing;
        impl Read for Failing {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("broken"))
            }
        }
        let failure = read(&mut Failing, "x", Hints::default()).err().unwrap();
        assert!(failure.text().starts_with("cannot explain `x`: broken\n"), "{}", failure.text());
    }
}

//! `mooring explain`.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use mooring_codes::{ExitCode, Meanings, Os, by_name, known_image, known_image_page, page};
use mooring_diagnosis::{
    ANOTHER_IMAGE, CausePage, Confidence, Diagnosis, DiagnosisStream, Effective, Hints, Outcome,
    Recognized, Reported, StreamDiagnoses, cause_page, diagnose, diagnose_code, find_codes,
    to_json,
};
use mooring_redact::identifier;

use crate::cli::{ExplainArguments, Format};
use crate::codes::{likely_meanings, parse_code};
use crate::failure::Failure;
use crate::show;

/// Bounds the time; memory does not grow with the input. The logs of a fleet fit, a disk image does not.
const MAX_BYTES: u64 = 256 << 20;
const CHUNK: usize = 64 << 10;

pub(crate) fn explain(arguments: &ExplainArguments) -> Result<(), Failure> {
    let hints = Hints { os: arguments.os.map(Into::into), image_date: arguments.image };
    let what = arguments.what.as_str();
    if what == "-" {
        return explain_text(arguments.output, &mut io::stdin(), "stdin", hints);
    }
    if let Some(code) = parse_code(what) {
        let found = likely_meanings(code, hints.os, hints.image_date);
        return match arguments.output {
            Format::Table => {
                let known =
                    known_image(code, hints.image_date).filter(|_| hints.os != Some(Os::Windows));
                let known = known.map(|image| known_image_page(image, ANOTHER_IMAGE));
                show::print((known.unwrap_or_default() + &pages(what, &found)).as_bytes())
            }
            format => print_diagnoses(format, &diagnose_code(code, hints), &Recognized::default()),
        };
    }
    let path = Path::new(what);
    if path.is_dir() {
        return Err(unreadable(what, "is a directory; pass a file in it, such as provision.json"));
    }
    if path.exists() {
        let mut file = File::open(path).map_err(|error| unreadable(what, &error.to_string()))?;
        return explain_text(arguments.output, &mut file, what, hints);
    }
    if let Some(page) = cause_page(what)
        && arguments.output != Format::Json
    {
        return show::print(show::cause(&page).as_bytes());
    }
    let named = by_name(what);
    if named.is_empty() {
        // A name of Azure that has no code, such as that of a timeout.
        let diagnoses = diagnose(what.as_bytes(), hints);
        let codes = find_codes(what);
        return match (diagnoses.is_empty(), cause_page(what)) {
            (false, _) => print_diagnoses(arguments.output, &diagnoses, &Recognized::default()),
            (true, Some(page)) => {
                print_diagnoses(arguments.output, &[diagnose_cause(&page)], &Recognized::default())
            }
            (true, None) if codes.is_empty() => {
                Err(unreadable(what, "no file, exit code or cause has this name"))
            }
            (true, None) => show::print(pages(what, &codes).as_bytes()),
        };
    }
    match arguments.output {
        Format::Table => show::print(pages(what, named.as_slice()).as_bytes()),
        format => print_diagnoses(format, &named_diagnoses(named, hints), &Recognized::default()),
    }
}

fn explain_text(
    format: Format,
    source: &mut dyn Read,
    name: &str,
    hints: Hints,
) -> Result<(), Failure> {
    let mut stream = DiagnosisStream::new(hints);
    let is_blank = read(source, name, &mut stream)?;
    if is_blank && format != Format::Json {
        return show::print(empty_input(name).as_bytes());
    }
    let StreamDiagnoses { diagnoses, omitted, recognized } = stream.finish();
    if omitted > 0 {
        show::print_warning(&format!(
            "{omitted} more failures are not shown\nhint: explain a part of the text"
        ));
    }
    print_diagnoses(format, &diagnoses, &recognized)
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

fn diagnose_cause(page: &CausePage) -> Diagnosis {
    Diagnosis {
        os: None,
        outcome: Outcome::NoCode,
        reported: Reported::default(),
        effective: Effective::default(),
        confidence: Confidence::Low,
        situation: None,
        rule: None,
        reason: page.reason.to_owned(),
        owner: page.owner,
        stage: page.stage,
        summary: page.summary.to_owned(),
        evidence: Vec::new(),
        actions: page.actions.iter().map(|action| (*action).to_owned()).collect(),
        image_version: None,
        extension: None,
    }
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

/// Passes the input to the diagnosis in chunks; returns true if it is blank.
fn read(source: &mut dyn Read, name: &str, stream: &mut DiagnosisStream) -> Result<bool, Failure> {
    let mut chunk = vec![0; CHUNK];
    let (mut total, mut is_blank) = (0_u64, true);
    loop {
        let length = match source.read(&mut chunk) {
            Ok(0) => return Ok(is_blank),
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(unreadable(name, &error.to_string())),
        };
        total += length as u64;
        if total > MAX_BYTES {
            let limit = MAX_BYTES >> 20;
            return Err(unreadable(
                name,
                &format!("larger than {limit} MiB; pass the part around the failure"),
            ));
        }
        is_blank &= chunk[..length].trim_ascii().is_empty();
        stream.push(&chunk[..length]);
    }
}

fn unreadable(name: &str, why: &str) -> Failure {
    let name = identifier(name);
    Failure::io(format!(
        "cannot explain `{name}`: {why}\nhint: `mooring explain --help` lists the supported input"
    ))
}

fn print_diagnoses(
    format: Format,
    diagnoses: &[Diagnosis],
    recognized: &Recognized,
) -> Result<(), Failure> {
    let text = match format {
        Format::Table | Format::Markdown if diagnoses.is_empty() => show::no_failure(recognized),
        Format::Table => show::table(diagnoses),
        Format::Markdown => show::markdown(diagnoses),
        Format::Json => to_json(diagnoses) + "\n",
    };
    show::print(text.as_bytes())
}

/// Returns the pages of all meanings of a code or name: ambiguity is reported, never guessed.
fn pages(what: &str, meanings: &[&'static ExitCode]) -> String {
    match meanings {
        [] => format!(
            "Unknown exit code {}.\n\
             hint: `mooring codes list --all` lists all codes\n",
            identifier(what)
        ),
        [one] => page(one),
        several => {
            let mut text = format!(
                "{} has {} meanings. Select one with --os (operating system) or --image (node image \
                 version).\n\n",
                identifier(what),
                several.len()
            );
            text += &several.iter().map(|code| page(code)).collect::<Vec<_>>().join("\n");
            text
        }
    }
}

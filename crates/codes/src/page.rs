//! The page about a code, like those of `rustc --explain`.

use std::fmt::Write as _;

use crate::{ExitCode, KnownImage, Os, Status, Transient, lookup};

const WIDTH: usize = 80;

/// A section of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    Cause,
    Action,
    Owner,
    Retry,
    Source,
    /// Other meanings of the number, also on the other operating system: reports often name neither.
    Others,
    AksNames,
    Documentation,
}

impl Section {
    fn heading(self, number: i32) -> String {
        match self {
            Self::Cause => "Likely cause".to_owned(),
            Self::Action => "First action".to_owned(),
            Self::Owner => "Owner".to_owned(),
            Self::Retry => "Retry".to_owned(),
            Self::Source => "Source".to_owned(),
            Self::Others => format!("Other meanings of {number}"),
            Self::AksNames => "Names that AKS uses".to_owned(),
            Self::Documentation => "Microsoft's page".to_owned(),
        }
    }
}

/// Returns the sections about a code, each with its texts.
pub fn sections(code: &ExitCode) -> Vec<(Section, Vec<String>)> {
    let owner = format!("{}: {}", code.owner, code.owner.role());
    // Nothing failed: the owner has nothing to change.
    let owner = Some(owner).filter(|_| code.transient != Transient::NotNeeded);
    let names = Some(code.aks_names.join(", ")).filter(|names| !names.is_empty());
    let sections = [
        (Section::Cause, vec![code.cause.to_owned()]),
        (Section::Action, vec![code.action.to_owned()]),
        (Section::Owner, owner.into_iter().collect()),
        (Section::Retry, vec![code.transient.description().to_owned()]),
        (Section::Source, vec![provenance(code)]),
        (Section::Others, others(code)),
        (Section::AksNames, names.into_iter().collect()),
        (Section::Documentation, code.doc_url.map(ToOwned::to_owned).into_iter().collect()),
    ];
    sections.into_iter().filter(|(_, texts)| !texts.is_empty()).collect()
}

/// Returns the page of a code as Markdown.
pub fn page(code: &ExitCode) -> String {
    let mut page = String::with_capacity(2048);
    let title = title(code);
    page.push_str(&title);
    page.push('\n');
    page.extend(std::iter::repeat_n('=', title.chars().count()));
    page.push_str("\n\n");
    paragraph(&mut page, "", code.meaning);
    for (section, texts) in sections(code) {
        let _ = write!(page, "\n## {}\n\n", section.heading(code.number));
        let bullet = if section == Section::Others { "- " } else { "" };
        for text in texts {
            paragraph(&mut page, bullet, &text);
        }
    }
    page
}

/// Returns the facts about a broken image, to print before the page of a code.
pub fn known_image_page(image: &KnownImage, action: &str) -> String {
    let title = format!("Known-bad image: {}", image.name);
    let mut page = format!("{title}\n{}\n\n", "=".repeat(title.len()));
    paragraph(&mut page, "", &format!("{} {}", image.name, image.fault));
    let _ = write!(page, "\n## First action\n\n");
    paragraph(&mut page, "", action);
    page.push('\n');
    page
}

/// Returns number and name, with a note where the same number is common elsewhere.
pub fn title(code: &ExitCode) -> String {
    match (code.os, code.status) {
        (Os::Windows, _) => format!("{code} (Windows)"),
        (Os::Linux, Status::Raw) => format!("{code} (raw)"),
        (Os::Linux, _) => code.to_string(),
    }
}

fn provenance(code: &ExitCode) -> String {
    let mut text = format!("{}. {}", code.origin.trim_end_matches('.'), code.reach.description());
    match code.status {
        Status::Agent => text.push_str(" Mooring's agent writes it on any image."),
        Status::Raw | Status::ImageBuildOnly | Status::Proposed => {}
        Status::Current => _ = write!(text, " The number has this meaning{}.", times(code)),
        Status::Removed => _ = write!(text, " The number had this meaning{}.", times(code)),
    }
    if let Some((number, name)) = code.became {
        let _ = write!(text, " It became {number} {name}.");
    }
    text
}

/// ` since 2023-05-23`, ` from 2020-02-07 or earlier until 2023-06-01`, or nothing.
fn times(code: &ExitCode) -> String {
    match (code.introduced.date(), code.removed) {
        (None, _) => String::new(),
        (Some(_), None) => format!(" since {}", code.introduced),
        (Some(_), Some(removed)) => format!(" from {} until {removed}", code.introduced),
    }
}

fn others(code: &ExitCode) -> Vec<String> {
    let others = Os::ALL.iter().flat_map(|os| lookup(*os, code.number, None));
    let others = others.filter(|other| *other != code);
    let text = |other: &ExitCode| {
        let what = match (other.os, other.status) {
            (Os::Windows, Status::Proposed) => "on Windows, proposed".to_owned(),
            (Os::Windows, _) => format!("on Windows{}", times(other)),
            (Os::Linux, Status::Agent) => "written by Mooring's agent".to_owned(),
            (Os::Linux, Status::Raw) => "raw".to_owned(),
            (Os::Linux, Status::ImageBuildOnly) => "only while an image is built".to_owned(),
            (Os::Linux, Status::Proposed) => "proposed".to_owned(),
            (Os::Linux, Status::Current | Status::Removed) => {
                format!("on Linux{}", times(other))
            }
        };
        format!("{} ({what}): {}", other.name, other.meaning)
    };
    others.map(text).collect()
}

/// Breaks the text into lines; a word longer than a line (a URL) stays whole.
fn paragraph(page: &mut String, bullet: &str, text: &str) {
    page.push_str(bullet);
    let mut column = bullet.len();
    for word in text.split(' ') {
        let width = word.chars().count();
        if column > bullet.len() && column + 1 + width > WIDTH {
            page.push('\n');
            page.extend(std::iter::repeat_n(' ', bullet.len()));
            column = bullet.len();
        } else if column > bullet.len() {
            page.push(' ');
            column += 1;
        }
        page.push_str(word);
        column += width;
    }
    page.push('\n');
}

//! The page about a code, like those of `rustc --explain`.

use std::fmt::Write as _;

use crate::{ExitCode, KnownImage, Os, Status, lookup};

const WIDTH: usize = 80;

/// Returns the page of a code as Markdown.
pub fn page(code: &ExitCode) -> String {
    let mut page = String::with_capacity(2048);
    let title = title(code);
    page.push_str(&title);
    page.push('\n');
    page.extend(std::iter::repeat_n('=', title.chars().count()));
    page.push_str("\n\n");
    paragraph(&mut page, "", code.meaning);

    section(&mut page, "Likely cause", code.cause);
    section(&mut page, "First action", code.action);
    section(&mut page, "Owner", &format!("[{}] {}", code.owner, code.owner.description()));
    section(&mut page, "Retry", code.transient.description());
    section(&mut page, "Source", &provenance(code));
    others(&mut page, code);
    if !code.aks_names.is_empty() {
        section(&mut page, "Names that AKS uses", &code.aks_names.join(", "));
    }
    if let Some(url) = code.doc_url {
        section(&mut page, "Microsoft's page", url);
    }
    page
}

/// Returns the facts about a broken image, to print before the page of a code.
pub fn known_image_page(image: &KnownImage, action: &str) -> String {
    let title = format!("Known-bad image: {}", image.name);
    let mut page = format!("{title}\n{}\n\n", "=".repeat(title.len()));
    paragraph(&mut page, "", &format!("{} {}", image.name, image.fault));
    section(&mut page, "First action", action);
    page.push('\n');
    page
}

fn title(code: &ExitCode) -> String {
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

/// Adds the other meanings of the number, also on the other operating system: reports often name neither.
fn others(page: &mut String, code: &ExitCode) {
    let others = [Os::Linux, Os::Windows]
        .into_iter()
        .flat_map(|os| lookup(os, code.number, None))
        .filter(|other| *other != code);
    let mut first = true;
    for other in others {
        if std::mem::take(&mut first) {
            let _ = write!(page, "\n## Other meanings of {}\n\n", code.number);
        }
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
        paragraph(page, "- ", &format!("{} ({what}): {}", other.name, other.meaning));
    }
}

fn section(page: &mut String, heading: &str, text: &str) {
    let _ = write!(page, "\n## {heading}\n\n");
    paragraph(page, "", text);
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

//! `docs`: the documents as a site, with a page per exit code and per cause.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use mooring_codes::{ExitCode, Os, all};
use mooring_diagnosis::{CausePage, cause_pages};

use crate::step::{Failed, fetch, output, place, print, root, write};

const MDBOOK: &str = "0.5.4";
/// The picture of README.md.
const PICTURE: &str = "page.png";
const HELP: &str = "hint: cargo xtask docs [--source URL]";

/// The documents of the site, in the order of its table of contents.
const DOCUMENTS: [(&str, &str); 9] = [
    ("Install", "INSTALL.md"),
    ("Runbook", "RUNBOOK.md"),
    ("What it reads, writes and needs", "NEEDS.md"),
    ("Security", "SECURITY.md"),
    ("Node images", "IMAGE.md"),
    ("Differences from the Go agent", "DIFFERENCES.md"),
    ("Coming from recreate-system-pool", "ARO-HCP.md"),
    ("Performance", "PERFORMANCE.md"),
    ("All exit codes", "CODES.md"),
];

/// Builds the site in `target/docs/book`. `--source` is the address of the sources, for links to files that are not in the site.
pub(crate) fn docs(arguments: &[&str]) -> Result<(), Failed> {
    let source = match arguments {
        [] => None,
        ["--source", url] => Some(url.trim_end_matches('/')),
        _ => return Err(Failed(format!("unknown arguments\n{HELP}"))),
    };
    print(&format!("{}\n", build(source)?.join("index.html").display()));
    Ok(())
}

/// Writes the pages and renders them. Returns the folder of the site. Without an address of the sources, nothing links to them.
pub(crate) fn build(source: Option<&str>) -> Result<PathBuf, Failed> {
    let mdbook = mdbook()?;
    let folder = root().canonicalize()?.join("target/docs");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    for (name, text) in pages(source)? {
        let file = folder.join("src").join(name);
        fs::create_dir_all(file.parent().unwrap_or(&folder))?;
        write(&file, &text)?;
    }
    place(&root().join("docs").join(PICTURE), &folder.join("src").join(PICTURE), 0o644)?;
    write(&folder.join("book.toml"), BOOK)?;
    output(Command::new(mdbook).arg("build").arg(&folder))?;
    Ok(folder.join("book"))
}

const BOOK: &str = "\
[book]
title = \"Mooring\"
language = \"en\"

[output.html]
default-theme = \"light\"
preferred-dark-theme = \"navy\"
no-section-label = true
smart-punctuation = false

[output.html.fold]
enable = true
level = 0

[output.html.search]
limit-results = 20
";

/// Returns the program, which is built once.
fn mdbook() -> Result<PathBuf, Failed> {
    let place = root().canonicalize()?.join(format!("target/tools/mdbook-{MDBOOK}"));
    let program = place.join("bin/mdbook");
    if !program.is_file() {
        print("xtask: installing mdbook\n");
        let place = place.display().to_string();
        let package = ["install", "mdbook", "--version", MDBOOK, "--locked", "--debug", "--quiet"];
        let features = ["--no-default-features", "--features", "search", "--root", &place];
        fetch("cargo", &[&package[..], &features].concat())?;
    }
    Ok(program)
}

/// Returns the text of each page by its path.
fn pages(source: Option<&str>) -> Result<BTreeMap<String, String>, Failed> {
    let mut pages = BTreeMap::new();
    let mut summary = "# Summary\n\n[Mooring](README.md)\n\n".to_owned();
    for (title, file) in DOCUMENTS {
        let text = fs::read_to_string(root().join("docs").join(file))?;
        pages.insert(file.to_owned(), text);
        let _ = writeln!(summary, "- [{title}]({file})");
    }
    let readme = fs::read_to_string(root().join("README.md"))?;
    pages.insert("README.md".to_owned(), readme.replace("](docs/", "]("));
    summary.push_str("\n# Failures\n\n- [Causes](causes/README.md)\n");
    let causes = cause_pages();
    let mut index = "# Causes\n\nWhat `mooring explain NAME` shows, for each cause.\n\n".to_owned();
    for cause in &causes {
        let file = format!("causes/{}.md", cause.reason);
        let _ = writeln!(summary, "  - [{}]({file})", cause.reason);
        let _ = writeln!(index, "- [{0}]({0}.md): {1}", cause.reason, cause.summary);
        pages.insert(file, cause_text(cause));
    }
    pages.insert("causes/README.md".to_owned(), index);
    summary.push_str("- [Exit codes](codes/README.md)\n");
    let mut index =
        "# Exit codes\n\nWhat `mooring explain CODE` shows, for each number.\n\n".to_owned();
    let numbers: BTreeSet<i32> = all().map(|code| code.number).collect();
    for number in numbers {
        let rows: Vec<&ExitCode> = all().filter(|code| code.number == number).collect();
        let names: BTreeSet<&str> = rows.iter().map(|code| code.name).collect();
        let names: Vec<&str> = names.into_iter().collect();
        let (file, names) = (format!("{number}.md"), names.join(", "));
        let _ = writeln!(summary, "  - [{number}](codes/{file})");
        let _ = writeln!(index, "- [{number}]({file}): {names}");
        pages.insert(format!("codes/{file}"), code_text(number, &rows, &causes));
    }
    pages.insert("codes/README.md".to_owned(), index);
    pages.insert("SUMMARY.md".to_owned(), summary);
    let known: BTreeSet<String> = pages.keys().cloned().chain([PICTURE.to_owned()]).collect();
    for (name, text) in &mut pages {
        *text = link(name, text, &known, source);
    }
    Ok(pages)
}

fn cause_text(cause: &CausePage) -> String {
    let mut text = format!("# {}\n\n{}.\n\n", cause.reason, cause.summary.trim_end_matches('.'));
    let _ = writeln!(text, "| | |\n|---|---|\n| first sign | {} |", cause.symptom);
    let _ = writeln!(text, "| stage | {} |\n| owner | {} |", cause.stage, cause.owner);
    let _ = writeln!(text, "| helps a retry? | {} |\n\n## Next steps\n", cause.retry);
    for (number, action) in (1..).zip(&cause.actions) {
        let _ = writeln!(text, "{number}. {action}");
    }
    if !cause.codes.is_empty() {
        text.push_str("\n## Exit codes\n\n");
        for code in &cause.codes {
            let _ = writeln!(text, "- [{0}](../codes/{0}.md) `{1}`", code.number, code.name);
        }
    }
    if !cause.known_by.is_empty() {
        text.push_str("\n## Known by\n\n");
        for sign in &cause.known_by {
            let phrases: Vec<String> = sign.iter().map(|phrase| code_span(phrase)).collect();
            let _ = writeln!(text, "- {}", phrases.join(" and "));
        }
    }
    text
}

fn code_text(number: i32, rows: &[&ExitCode], causes: &[CausePage]) -> String {
    let mut text = format!("# {number}\n");
    for code in rows {
        let os = match code.os {
            Os::Linux => "Linux",
            Os::Windows => "Windows",
        };
        let _ = writeln!(text, "\n## {} ({os})\n\n{}\n", code.name, code.meaning);
        if !code.cause.is_empty() {
            let _ = writeln!(text, "**Cause**: {}\n", code.cause);
        }
        let _ = writeln!(text, "**Next**: {}\n", code.action);
        let _ = writeln!(text, "Owner: {}. Passes by itself: {}.", code.owner, code.transient);
    }
    let of_code: Vec<&CausePage> = causes
        .iter()
        .filter(|cause| cause.codes.iter().any(|code| code.number == number))
        .collect();
    if !of_code.is_empty() {
        text.push_str("\n## Causes with this code\n\nThe number alone can mislead; the text of the failure tells them apart.\n\n");
        for cause in of_code {
            let _ = writeln!(text, "- [{0}](../causes/{0}.md): {1}", cause.reason, cause.summary);
        }
    }
    text
}

fn code_span(text: &str) -> String {
    let fence = if text.contains('`') { "``" } else { "`" };
    format!("{fence}{text}{fence}")
}

/// Links to what is not in the site lead to the sources, or become text if nobody said where these are.
fn link(name: &str, text: &str, known: &BTreeSet<String>, source: Option<&str>) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("](") {
        let (before, behind) = rest.split_at(at);
        let Some(end) = behind.find(')') else { break };
        let target = &behind[2..end];
        result.push_str(before);
        let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
        let is_outside = file.contains("://") || file.starts_with("mailto:");
        if file.is_empty() || is_outside || known.contains(&resolve(name, file)) {
            let _ = write!(result, "]({target})");
        } else if let Some(source) = source {
            let from =
                if name == "README.md" { "README.md".to_owned() } else { format!("docs/{name}") };
            let path = resolve(&from, file);
            let anchor = if anchor.is_empty() { String::new() } else { format!("#{anchor}") };
            let _ = write!(result, "]({source}/blob/main/{path}{anchor})");
        } else if let Some(open) = result.rfind('[') {
            // An image has an exclamation mark before the bracket.
            let label = result.split_off(open);
            if result.ends_with('!') {
                result.pop();
            } else {
                result.push_str(&label[1..]);
            }
        }
        rest = &behind[end + 1..];
    }
    result + rest
}

/// Returns the path of a link, seen from a file.
fn resolve(from: &str, link: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{link, pages, resolve};

    #[test]
    fn every_code_and_cause_has_a_page_in_the_table_of_contents() {
        let pages = pages(None).unwrap();
        let summary = &pages["SUMMARY.md"];
        for code in mooring_codes::all() {
            assert!(
                pages[&format!("codes/{}.md", code.number)].contains(code.name),
                "{}",
                code.name
            );
        }
        for cause in mooring_diagnosis::cause_pages() {
            let file = format!("causes/{}.md", cause.reason);
            assert!(pages[&file].contains(cause.actions[0]), "{file}");
            assert!(summary.contains(&format!("]({file})")), "{file}");
        }
        let listed = |name: &str| name == "SUMMARY.md" || summary.contains(&format!("]({name})"));
        let missing: Vec<&String> = pages.keys().filter(|name| !listed(name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn links_stay_in_the_site_or_lead_to_the_sources() {
        let known = BTreeSet::from(["SECURITY.md".to_owned(), "INSTALL.md".to_owned()]);
        let text = "[a](SECURITY.md#x), [b](../charts/values.yaml), [c](https://example.com), ![d](page.png)";
        assert_eq!(
            link("INSTALL.md", text, &known, Some("https://example.com/mooring")),
            "[a](SECURITY.md#x), [b](https://example.com/mooring/blob/main/charts/values.yaml), [c](https://example.com), \
             ![d](https://example.com/mooring/blob/main/docs/page.png)"
        );
        assert_eq!(
            link("INSTALL.md", text, &known, None),
            "[a](SECURITY.md#x), b, [c](https://example.com), "
        );
        assert_eq!(resolve("causes/A.md", "../codes/1.md"), "codes/1.md");
        for (name, text) in pages(None).unwrap() {
            assert!(!text.contains("](../../"), "{name}");
        }
    }
}

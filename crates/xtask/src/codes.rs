//! `codes`: the exit-code catalogue as a document.

use std::fs;

use mooring_agent::preflight::checks;
use mooring_contract::catalogue::{ExitCode, Os, Reach, Status, all};

use crate::step::{Failed, root, say};

const FILE: &str = "docs/CODES.md";

/// Writes the document.
#[expect(clippy::disallowed_methods, reason = "nobody reads this file while it is written")]
pub(crate) fn write() -> Result<(), Failed> {
    fs::write(root().join(FILE), document())?;
    say(&format!("{FILE} is written\n"));
    Ok(())
}

fn document() -> String {
    let mut lines = vec![
        "# Exit codes".to_owned(),
        String::new(),
        "Written by `cargo xtask codes` from the catalogue in `crates/contract`; change it there."
            .to_owned(),
        String::new(),
        "## Checks of preflight, and their codes".to_owned(),
        String::new(),
        "In the order in which fatal findings count; all other checks only warn.".to_owned(),
        String::new(),
        "| check | makes sure that | code | at worst | for |".to_owned(),
        "|---|---|---|---|---|".to_owned(),
    ];
    lines.extend(checks().map(|check| {
        let code = check.code.map_or_else(|| "–".to_owned(), |code| code.to_string());
        let worst = if check.can_be_fatal { "fatal" } else { "warning" };
        format!("| `{}` | {} | {code} | {worst} | {} |", check.name, check.about, check.audience)
    }));
    for (title, os, holds) in [
        ("Linux: codes that can end a bootstrap", Os::Linux, is_node as fn(&ExitCode) -> bool),
        ("Linux: codes of tools and shells", Os::Linux, is_raw),
        ("Windows", Os::Windows, is_node),
    ] {
        lines.extend([String::new(), format!("## {title}"), String::new()]);
        lines.push("| code | name | meaning | first action | owner | transient |".to_owned());
        lines.push("|---|---|---|---|---|---|".to_owned());
        lines.extend(all().filter(|code| code.os == os && holds(code)).map(row));
    }
    lines.join("\n") + "\n"
}

fn is_node(code: &ExitCode) -> bool {
    matches!(code.status, Status::Agent | Status::Current) && code.reach == Reach::Node
}

fn is_raw(code: &ExitCode) -> bool {
    code.status == Status::Raw
}

fn row(code: &ExitCode) -> String {
    let cell = |text: &str| text.replace('|', "\\|");
    format!(
        "| {} | `{}` | {} | {} | {} | {} |",
        code.number,
        code.name,
        cell(code.meaning),
        cell(code.action),
        code.owner,
        code.transient
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_says_what_the_catalogue_says() {
        let written = fs::read_to_string(root().join(FILE)).unwrap();
        assert!(written == document(), "{FILE} is out of date; run `cargo xtask codes`");
    }
}

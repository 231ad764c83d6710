//! What is not run is at least understood: every command of ours in a `console` block or in the text, as far as it is spelled
//! out, with `--help` behind it.

use std::process::Command;

use crate::documents::page::{Page, pages};

/// The words of a line up to what the shell does with it, or nothing if they are not all spelled out.
pub(crate) fn words(line: &str) -> Option<Vec<&str>> {
    let line = line.split(" #").next().unwrap().trim();
    let end = line.find(['|', '>', ';', '&']).unwrap_or(line.len());
    let line = line[..end].trim();
    let words: Vec<&str> =
        line.split_whitespace().map(|word| word.trim_matches(['"', '\''])).collect();
    let is_spelled_out = !line.contains(['…', '`', '(', '[']) && !line.ends_with('\\');
    is_spelled_out.then_some(words)
}

/// An approval of no plan, in the place of one that a document takes from a plan.
const APPROVAL: &str =
    "20261115T113000Z.0000000000000000000000000000000000000000000000000000000000000000";

/// Asks the binary whether it knows these words.
pub(crate) fn understands(place: &str, words: &[&str]) {
    let words: Vec<&str> =
        words.iter().map(|word| if *word == "$HASH" { APPROVAL } else { word }).collect();
    let output =
        Command::new(env!("CARGO_BIN_EXE_mooring")).args(&words).arg("--help").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{place}: {words:?}: {said}");
}

/// Commands of ours that are shown in a document and not run.
fn shown(page: &Page) -> Vec<String> {
    let console = page.blocks.iter().filter(|block| block.language == "console");
    let lines = console.flat_map(|block| &block.lines).filter_map(|line| line.strip_prefix("$ "));
    let mut shown: Vec<String> = lines.map(str::to_owned).collect();
    // Every second piece between backquotes is code.
    shown.extend(page.prose.split('`').skip(1).step_by(2).map(|code| code.replace('\n', " ")));
    shown.retain(|line| line.starts_with("mooring ") || line.starts_with("kubectl mooring "));
    shown
}

#[test]
fn commands_that_are_only_shown_are_understood() {
    let mut count = 0;
    for page in pages() {
        for line in shown(&page) {
            let Some(words) = words(&line) else { continue };
            let ours = words.iter().position(|word| *word == "mooring").unwrap() + 1;
            understands(&page.name, &words[ours..]);
            count += 1;
        }
    }
    assert!(count > 20, "only {count} commands were found");
}

//! Complete `mooring` commands in `console` blocks and in the text parse: they are run with `--help`.

use std::process::Command;

use crate::documents::page::{Page, pages};

/// Returns the arguments of a command up to a shell operator, or `None` if it is abbreviated.
pub(crate) fn parse_args(line: &str) -> Option<Vec<&str>> {
    let line = line.split(" #").next().unwrap().trim();
    let end = line.find(['|', '>', ';', '&']).unwrap_or(line.len());
    let line = line[..end].trim();
    let args: Vec<&str> =
        line.split_whitespace().map(|word| word.trim_matches(['"', '\''])).collect();
    let is_complete = !line.contains(['…', '`', '(', '[']) && !line.ends_with('\\');
    is_complete.then_some(args)
}

/// Well-formed approval, in place of `$HASH`.
const APPROVAL: &str =
    "20261115T113000Z.0000000000000000000000000000000000000000000000000000000000000000";

/// Fails if the binary rejects these arguments.
pub(crate) fn assert_parses(place: &str, args: &[&str]) {
    let args: Vec<&str> =
        args.iter().map(|arg| if *arg == "$HASH" { APPROVAL } else { arg }).collect();
    let output =
        Command::new(env!("CARGO_BIN_EXE_mooring")).args(&args).arg("--help").output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{place}: {args:?}: {stderr}");
}

/// Returns the `mooring` commands of a document that are not run.
fn shown_commands(page: &Page) -> Vec<String> {
    let console = page.blocks.iter().filter(|block| block.language == "console");
    let lines = console.flat_map(|block| &block.lines).filter_map(|line| line.strip_prefix("$ "));
    let mut shown: Vec<String> = lines.map(str::to_owned).collect();
    // Every second part between backquotes is code.
    shown.extend(page.prose.split('`').skip(1).step_by(2).map(|code| code.replace('\n', " ")));
    shown.retain(|line| line.starts_with("mooring ") || line.starts_with("kubectl mooring "));
    shown
}

#[test]
fn commands_in_console_blocks_and_text_are_valid() {
    let mut count = 0;
    for page in pages() {
        for line in shown_commands(&page) {
            let Some(args) = parse_args(&line) else { continue };
            let first = args.iter().position(|word| *word == "mooring").unwrap() + 1;
            assert_parses(&page.name, &args[first..]);
            count += 1;
        }
    }
    assert!(count > 20, "only {count} commands were found");
}

//! Complete `mooring` commands in `console` blocks and in the text parse: they are run with `--help`.

use std::process::Command;

use mooring_testbed::documents::{pages, parse_args};

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

#[test]
fn commands_in_console_blocks_and_text_are_valid() {
    let mut count = 0;
    for page in pages() {
        let shown = page.shown_commands("mooring").into_iter();
        for line in shown.chain(page.shown_commands("kubectl mooring")) {
            let Some(args) = parse_args(&line) else { continue };
            let first = args.iter().position(|word| *word == "mooring").unwrap() + 1;
            assert_parses(&page.name, &args[first..]);
            count += 1;
        }
    }
    assert!(count > 20, "only {count} commands were found");
}

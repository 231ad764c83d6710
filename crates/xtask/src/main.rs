//! The project's chores, as `cargo xtask <chore>`.

use std::process::{Command, ExitCode};

const HELP: &str = "\
cargo xtask <chore>

Chores:
  test    run every test; needs nothing but Rust and a C compiler
  help    print this text
";

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    match words.next().as_deref() {
        Some("test") => test(),
        Some("help" | "--help" | "-h") => say(HELP),
        Some(other) => {
            complain(&format!("unknown chore `{other}`\nhint: `cargo xtask help` lists them"))
        }
        None => complain(&format!("which chore?\n\n{HELP}")),
    }
}

/// Everything that the README calls the test command.
fn test() -> ExitCode {
    run("cargo", &["test", "--workspace", "--locked"])
}

/// Runs a step in the workspace's root; its output is the user's to see.
fn run(program: &str, arguments: &[&str]) -> ExitCode {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    match Command::new(program).args(arguments).current_dir(root).status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(status) => complain(&format!("`{program} {}` ended with {status}", arguments.join(" "))),
        Err(error) => complain(&format!("cannot start `{program}`: {error}")),
    }
}

#[expect(clippy::print_stdout, reason = "a chore talks to the person who started it")]
fn say(text: &str) -> ExitCode {
    print!("{text}");
    ExitCode::SUCCESS
}

#[expect(clippy::print_stderr, reason = "a chore talks to the person who started it")]
fn complain(text: &str) -> ExitCode {
    eprintln!("xtask: {text}");
    ExitCode::FAILURE
}

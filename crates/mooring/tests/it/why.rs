//! Tests of `mooring why` without Azure, and of the width of screens.

use std::net::TcpListener;
use std::process::{Command, Output};

use crate::common::{Sim, Terminal, text};

fn sourced(sim: &Sim) -> Command {
    let mut command = crate::common::mooring();
    command.env_clear().envs(sim.environment());
    command
}

fn simulate(state: &std::path::Path) -> Sim {
    Sim::start(&state.join("sim"), &["--scenario", "oras-missing", "--kube-port", "0"])
}

#[test]
fn hanging_sign_in_is_named_and_the_answer_is_without_azure() {
    let state = tempfile::tempdir().unwrap();
    let sim = simulate(state.path());
    // Accepts connections and never responds.
    let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let authority = format!("https://127.0.0.1:{}", silent.local_addr().unwrap().port());
    let run = |words: &[&str]| -> Output {
        let mut command = sourced(&sim);
        command.env("AZURE_AUTHORITY_HOST", &authority).args(words);
        command.args(["--timeout", "3s"]).output().unwrap()
    };
    let output = run(&["why", "default-bad1"]);
    let (shown, messages) = (text(&output.stdout), text(&output.stderr));
    assert!(shown.starts_with("! default-bad1 is joining demo for "), "{shown}");
    assert!(shown.contains("; Azure failed\n"), "{shown}");
    for expected in [
        "signing in to Azure by client secret: 1s, continuing without it after 3s\n",
        "warning: Azure was not read: not signed in: no response by client secret within 3s\n",
    ] {
        assert!(messages.contains(expected), "{messages}");
    }
    let required = run(&["why", "default-bad1", "--azure", "always"]);
    assert_eq!(required.status.code(), Some(3), "{}", text(&required.stderr));
    // The name may be that of a VM, so it is not reported as unknown.
    let unknown = run(&["why", "aks-nothing-like-it"]);
    let messages = text(&unknown.stderr);
    assert_eq!(unknown.status.code(), Some(3), "{messages}");
    assert!(messages.contains("is called `aks-nothing-like-it`"), "{messages}");
    assert!(messages.contains("; Azure was not read: not signed in"), "{messages}");
}

#[test]
fn screens_of_answers_fit_the_terminal() {
    let state = tempfile::tempdir().unwrap();
    let sim = simulate(state.path());
    for words in [
        &["why"][..],
        &["why", "default"],
        &["why", "default-bad1"],
        &["why", "default-good1"],
        &["status"],
        &["fleet"],
        &["doctor"],
    ] {
        for columns in [80, 120] {
            let (_, shown) = Terminal::start(sourced(&sim).args(words), columns).end();
            assert!(shown.contains("demo"), "{words:?}: {shown}");
            for line in shown.lines() {
                let fits = mooring_terminal::width(line) <= usize::from(columns);
                // Commands and evidence are never wrapped.
                let start = line.trim_start();
                let is_literal = ["evidence ", "next ", "fix ", "lacks ", "- "]
                    .iter()
                    .any(|label| start.starts_with(label));
                assert!(fits || is_literal, "{words:?} {columns}: {line}\n{shown}");
            }
        }
        let piped = sourced(&sim).args(words).output().unwrap();
        assert!(!text(&piped.stdout).contains('\u{1b}'), "{words:?}");
        let ascii = sourced(&sim).args(words).env("LC_ALL", "C").output().unwrap();
        assert!(text(&ascii.stdout).is_ascii(), "{}", text(&ascii.stdout));
    }
}

//! Tests of `status --watch`, `top` and `mooring` without a command.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::schema::assert_valid;
use crate::common::{Sim, Terminal, text};
use serde_json::Value;

fn sourced(sim: &Sim, args: &[&str]) -> Command {
    let mut command = crate::common::mooring();
    command.env_clear().envs(sim.environment()).args(args);
    command
}

#[test]
fn status_is_redrawn_until_q_and_is_the_default_on_a_terminal() {
    let state = tempfile::tempdir().unwrap();
    let words = ["--scenario", "oras-missing", "--kube-port", "0"];
    let sim = Sim::start(&state.path().join("sim"), &words);
    let mut top = Terminal::start(&mut sourced(&sim, &["top"]), 80);
    top.wait_for("POOL ");
    let start = Instant::now();
    while !top.raw().contains("A\r\u{1b}[J") {
        assert!(start.elapsed() < Duration::from_mins(1), "not redrawn: {}", top.raw());
        std::thread::sleep(Duration::from_millis(50));
    }
    top.type_keys("q");
    let (code, shown) = top.end();
    assert_eq!(code, 1, "{shown}");
    assert!(shown.contains("fails with OrasBinaryMissing"), "{shown}");

    let (code, shown) = Terminal::start(&mut sourced(&sim, &[]), 80).end();
    assert_eq!(code, 1, "{shown}");
    assert!(shown.starts_with("demo · ") && shown.contains("Next "), "{shown}");
    let help = sourced(&sim, &[]).output().unwrap();
    assert_eq!(help.status.code(), Some(2));
    assert!(text(&help.stderr).contains("Usage: mooring"), "{}", text(&help.stderr));

    let mut child = sourced(&sim, &["status", "-w"]).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let shown: Vec<String> = lines.take_while(|line| !line.starts_with("system ")).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    let heads = shown.iter().filter(|line| line.starts_with("POOL ")).count();
    assert!(heads == 1 && shown.iter().any(|line| line.starts_with("default ")), "{shown:?}");

    let mut child =
        sourced(&sim, &["status", "-w", "-o", "json"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let document: Value = serde_json::from_str(&line).unwrap();
    assert_valid(&document);
    assert_eq!(document["schema"], "mooring.status/v1");
}

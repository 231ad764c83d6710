//! What several tests of the built binary need.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and not every one needs all of this"
)]

use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The built binary.
pub(crate) fn mooring() -> Command {
    Command::new(env!("CARGO_BIN_EXE_mooring"))
}

/// A running `mooring sim`; it ends with the test.
pub(crate) struct Sim {
    pub(crate) child: Child,
    pub(crate) port: u16,
    state: PathBuf,
}

impl Drop for Sim {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Sim {
    /// Starts one with its files in this folder, and waits until it is ready.
    pub(crate) fn start(state: &Path, more: &[&str]) -> Self {
        let mut child = mooring()
            .args(["sim", "--state"])
            .arg(state)
            .args(more)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim_end().strip_prefix("ready https://127.0.0.1:");
        let port = port.expect("one line that says where").parse().unwrap();
        Self { child, port, state: state.to_owned() }
    }

    /// The value of one variable of its env.sh.
    pub(crate) fn variable(&self, name: &str) -> String {
        self.environment().into_iter().find(|(key, _)| key == name).unwrap().1
    }

    /// What its env.sh exports.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let text = std::fs::read_to_string(self.state.join("env.sh")).unwrap();
        let pair = |line: &str| {
            let (name, value) = line.strip_prefix("export ").unwrap().split_once('=').unwrap();
            (name.to_owned(), value.trim_matches('\'').to_owned())
        };
        text.lines().map(pair).collect()
    }
}

/// Waits for a command with piped streams, but not for ever.
pub(crate) fn ended(mut child: Child, patience: Duration) -> Output {
    fn reader(mut from: impl Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = from.read_to_end(&mut bytes);
            bytes
        })
    }
    let out = reader(child.stdout.take().unwrap());
    let err = reader(child.stderr.take().unwrap());
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if began.elapsed() > patience {
            let _ = child.kill();
            let said = [out.join().unwrap(), err.join().unwrap()].concat();
            panic!("it took too long: {}", text(&said));
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    Output { status, stdout: out.join().unwrap(), stderr: err.join().unwrap() }
}

/// Exit code (-1 if a signal ended it), standard output and error.
pub(crate) fn told(output: &Output) -> (i32, String, String) {
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

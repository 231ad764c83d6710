//! Commands that a test runs.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    clippy::panic,
    clippy::unwrap_used,
    reason = "for tests, which fail by panicking"
)]

use std::io::Read;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Output};
use std::time::{Duration, Instant};

/// Waits for a command with piped streams; fails after `timeout`.
pub fn wait(mut child: Child, timeout: Duration) -> Output {
    fn reader(mut from: impl Read + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = from.read_to_end(&mut bytes);
            bytes
        })
    }
    let out = reader(child.stdout.take().unwrap());
    let err = reader(child.stderr.take().unwrap());
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > timeout {
            let _ = child.kill();
            let output = [out.join().unwrap(), err.join().unwrap()].concat();
            panic!("timed out: {}", text(&output));
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    Output { status, stdout: out.join().unwrap(), stderr: err.join().unwrap() }
}

/// Returns the exit code (-1 for a signal), stdout and stderr.
pub fn result(output: &Output) -> (i32, String, String) {
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Writes a script that can be run.
pub fn write_executable(directory: &Path, name: &str, text: &str) {
    let path = directory.join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

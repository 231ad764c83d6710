//! Running a small program with a secret on its standard input, for a limited time.

use std::io::{self, Read, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use super::child::child_status;
use super::{Tool, ToolEnd};

/// What is kept of the output: its beginning, where such programs say what is wrong.
const KEPT: u64 = 16 * 1024;
/// How long output may come after the program itself has ended.
const GRACE: Duration = Duration::from_secs(5);
/// How often the program is looked at; it takes a second or so.
const PERIOD: Duration = Duration::from_millis(5);

pub(super) fn run(tool: &Tool<'_>) -> io::Result<ToolEnd> {
    let until = now() + tool.limit;
    let mut child = Command::new(tool.program)
        .args(&tool.arguments)
        .envs(tool.variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let input = tool.input.expose().as_bytes().to_vec();
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read must not hold us up; one that does not want to is no error.
        thread::spawn(move || {
            let _ = stdin.write_all(&input);
        });
    }
    let outputs = [collect(child.stdout.take()), collect(child.stderr.take())];
    let status = wait(&mut child, until)?.map(child_status);
    let until = now() + GRACE;
    let mut output = Vec::new();
    for collected in outputs {
        let left = until.saturating_duration_since(now());
        output.extend(collected.recv_timeout(left).unwrap_or_default());
    }
    Ok(ToolEnd { status, output })
}

/// Waits until the program or the time ends; a program whose time is up is killed.
fn wait(child: &mut Child, until: Instant) -> io::Result<Option<std::process::ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if now() >= until {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        sleep(PERIOD);
    }
}

/// Reads a stream to its end on a thread of its own.
fn collect(stream: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, collected) = mpsc::channel();
    thread::spawn(move || {
        let mut kept = Vec::new();
        if let Some(mut stream) = stream {
            let _ = (&mut stream).take(KEPT).read_to_end(&mut kept);
            // What goes beyond is thrown away, so that the program does not wait for us.
            let _ = io::copy(&mut stream, &mut io::sink());
        }
        let _ = sender.send(kept);
    });
    collected
}

#[expect(clippy::disallowed_methods, reason = "this is the seam through which others see time")]
fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "this is the seam through which others wait")]
fn sleep(pause: Duration) {
    thread::sleep(pause);
}

//! Runs short commands with a timeout and a clean environment.

use std::ffi::OsStr;
use std::io::{self, Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::child::child_status;
use super::clock::{now, sleep};
use super::{Tool, ToolEnd};

/// Timeout of a probe. `containerd --version` takes milliseconds, a package manager on a cold disk a second.
pub(super) const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// Size of the kept output: its beginning, which contains the error.
const MAX_OUTPUT: u64 = 16 * 1024;
/// Time for output after the end of the process.
const GRACE: Duration = Duration::from_secs(5);
const PERIOD: Duration = Duration::from_millis(5);

/// All that a small program inherits. Tokens and keys of the node are in the environment of the scripts that start
/// the agent; a version probe must not see them.
const INHERITED: [&str; 2] = ["PATH", "HOME"];

/// Runs a program with a secret on its standard input.
pub(super) fn run(tool: &Tool<'_>) -> io::Result<ToolEnd> {
    let mut command = clean_command(tool.program.as_os_str());
    command.args(&tool.arguments).envs(tool.variables.iter().map(|(name, value)| (name, value)));
    let input = tool.input.expose().as_bytes().to_vec();
    let (status, outputs) = run_within(command, input, tool.limit)?;
    Ok(ToolEnd { status: status.map(child_status), output: outputs.concat() })
}

/// Returns the standard output of a command, regardless of its exit code.
pub(super) fn probe(program: &str, arguments: &[&OsStr], timeout: Duration) -> io::Result<Vec<u8>> {
    let mut command = clean_command(program.as_ref());
    command.args(arguments);
    let (status, [out, _]) = run_within(command, Vec::new(), timeout)?;
    status.map(|_| out).ok_or_else(|| io::ErrorKind::TimedOut.into())
}

fn clean_command(program: &OsStr) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("LANG", "C");
    for name in INHERITED {
        command.envs(std::env::var_os(name).map(|value| (name, value)));
    }
    command
}

/// Returns the status, `None` if the time was up, and both outputs.
fn run_within(
    mut command: Command,
    input: Vec<u8>,
    limit: Duration,
) -> io::Result<(Option<ExitStatus>, [Vec<u8>; 2])> {
    let until = now() + limit;
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // A separate group, so that a kill also reaches its children.
        .process_group(0)
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A process that does not read its input must not block, and is not an error.
        thread::spawn(move || {
            let _ = stdin.write_all(&input);
        });
    }
    let outputs = [collect(child.stdout.take()), collect(child.stderr.take())];
    let status = wait(&mut child, until)?;
    let until = now() + GRACE;
    let outputs = outputs.map(|collected| {
        collected.recv_timeout(until.saturating_duration_since(now())).unwrap_or_default()
    });
    Ok((status, outputs))
}

/// Waits until the program or the time ends; a program whose time is up is killed with its children.
fn wait(child: &mut Child, until: Instant) -> io::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if now() >= until {
            if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                let _ = kill_process_group(group, Signal::KILL);
            }
            child.wait()?;
            return Ok(None);
        }
        sleep(PERIOD);
    }
}

/// Reads a stream to its end on another thread.
fn collect(stream: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, collected) = mpsc::channel();
    thread::spawn(move || {
        let mut kept = Vec::new();
        if let Some(mut stream) = stream {
            let _ = (&mut stream).take(MAX_OUTPUT).read_to_end(&mut kept);
            // The rest is discarded, so that the process does not block.
            let _ = io::copy(&mut stream, &mut io::sink());
        }
        let _ = sender.send(kept);
    });
    collected
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, timeout: Duration) -> io::Result<Vec<u8>> {
        probe("sh", &["-c".as_ref(), script.as_ref()], timeout)
    }

    #[test]
    fn hanging_probe_is_killed_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let pid = folder.path().join("pid");
        let script = format!("sleep 600 & echo $! > '{}'; wait", pid.display());
        // A busy host may need longer to start a shell.
        for timeout in [100, 1_000, 60_000].map(Duration::from_millis) {
            let error = shell(&script, timeout).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            if std::fs::read_to_string(&pid).is_ok_and(|pid| pid.ends_with('\n')) {
                break;
            }
        }
        let pid: i32 = std::fs::read_to_string(pid).unwrap().trim().parse().unwrap();
        let pid = Pid::from_raw(pid).unwrap();
        let is_gone = || {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
            // An orphan that is killed may wait for its new parent to reap it.
            stat.map_or(true, |stat| stat.contains(") Z "))
        };
        let until = now() + Duration::from_mins(1);
        while !is_gone() {
            assert!(now() < until, "the probe's child still runs");
            sleep(PERIOD);
        }
    }

    #[test]
    fn probe_returns_standard_output_and_no_more_than_the_limit() {
        let minute = Duration::from_mins(1);
        assert_eq!(shell("echo out; echo err >&2; exit 7", minute).unwrap(), b"out\n");
        let flood = shell("head -c 1000000 /dev/zero", minute).unwrap();
        assert_eq!(flood.len(), 16_384);
        assert!(probe("no-such-program-anywhere", &[], minute).is_err());
    }

    #[test]
    fn probe_inherits_path_and_home_only() {
        let printed = shell("env", Duration::from_mins(1)).unwrap();
        let printed = String::from_utf8(printed).unwrap();
        // `PWD`, `SHLVL` and `_` are the shell's own; cargo gives this test many more.
        let own = ["PWD", "OLDPWD", "SHLVL", "_"];
        for name in printed.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name) {
            let known = ["PATH", "HOME", "LANG"].contains(&name) || own.contains(&name);
            assert!(known, "{name} was inherited");
        }
        assert!(printed.contains("LANG=C\n"), "{printed}");
    }
}

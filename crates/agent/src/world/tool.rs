//! Runs short commands with a timeout and a clean environment.

use std::ffi::OsStr;
use std::io::{self, Read, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::process::{Pid, Signal, kill_process_group};

use crate::world::child::child_status;
use crate::world::process::{handle, now, to_read, wait};
use crate::world::{Probe, Tool, ToolEnd};

/// Timeout of a probe. `containerd --version` takes milliseconds, a package manager on a cold disk a second.
pub(super) const PROBE_TIMEOUT: Duration = Duration::from_secs(5);

/// Size of the kept output: its beginning, which contains the error.
const MAX_OUTPUT: usize = 16 * 1024;
/// Time for output after the end of the process.
const GRACE: Duration = Duration::from_secs(5);
/// How often a kernel without pidfd is asked whether the process has ended.
const PERIOD: Duration = Duration::from_millis(5);
/// A pipe that is ready takes this much without blocking.
const PIPE_BUFFER: usize = 4096;

/// All that a small program inherits. Tokens and keys of the node are in the environment of the scripts that start
/// the agent; a version probe must not see them.
const INHERITED: [&str; 2] = ["PATH", "HOME"];

/// What a shell searches without `PATH`.
const USUAL_PATH: &str = "/usr/local/bin:/bin:/usr/bin";

/// Runs a program with a secret on its standard input.
pub(super) fn run(tool: &Tool<'_>) -> io::Result<ToolEnd> {
    let mut command = clean_command(tool.program)?;
    command.args(&tool.arguments).envs(tool.variables.iter().map(|(name, value)| (name, value)));
    let input = tool.input.expose().as_bytes();
    let (status, outputs) = RunningTool::start(command, input, tool.limit)?.end()?;
    Ok(ToolEnd { status: status.map(child_status), output: outputs.concat() })
}

/// Starts a command whose standard output counts, regardless of its exit code.
pub(super) fn probe(program: &str, arguments: &[&OsStr], timeout: Duration) -> io::Result<Probe> {
    let mut command = clean_command(program.as_ref())?;
    command.args(arguments);
    let tool = RunningTool::start(command, &[], timeout)?;
    Ok(Box::new(|| {
        let (status, [out, _]) = tool.end()?;
        status.map(|_| out).ok_or_else(|| io::ErrorKind::TimedOut.into())
    }))
}

fn clean_command(program: &Path) -> io::Result<Command> {
    let mut command = Command::new(find(program)?);
    command.arg0(program).env_clear().env("LANG", "C");
    for name in INHERITED {
        command.envs(std::env::var_os(name).map(|value| (name, value)));
    }
    Ok(command)
}

/// Finds a program as a shell does, without starting a process for one that is in no directory.
fn find(program: &Path) -> io::Result<PathBuf> {
    if program.components().count() > 1 || program.is_absolute() {
        return Ok(program.to_owned());
    }
    let mut refused = io::ErrorKind::NotFound;
    let path = std::env::var_os("PATH").unwrap_or_else(|| USUAL_PATH.into());
    for folder in std::env::split_paths(&path).filter(|folder| !folder.as_os_str().is_empty()) {
        let place = folder.join(program);
        match std::fs::metadata(&place) {
            Ok(found) if found.is_file() && found.permissions().mode() & 0o111 != 0 => {
                return Ok(place);
            }
            Ok(_) => refused = io::ErrorKind::PermissionDenied,
            Err(_) => {}
        }
    }
    Err(refused.into())
}

/// A program that was started. If nobody waits for its end, it is killed with its children.
struct RunningTool {
    child: Child,
    input: Option<(ChildStdin, Vec<u8>)>,
    out: Output<ChildStdout>,
    err: Output<ChildStderr>,
    until: Instant,
    has_ended: bool,
}

impl RunningTool {
    fn start(mut command: Command, input: &[u8], limit: Duration) -> io::Result<Self> {
        let mut child = command
            .stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A separate group, so that a kill also reaches its children.
            .process_group(0)
            .spawn()?;
        Ok(Self {
            input: child.stdin.take().map(|pipe| (pipe, input.to_owned())),
            out: Output { pipe: child.stdout.take(), kept: Vec::new() },
            err: Output { pipe: child.stderr.take(), kept: Vec::new() },
            child,
            until: now() + limit,
            has_ended: false,
        })
    }

    /// Waits until the program or its time ends; returns the status, `None` if the time was up, and both outputs.
    fn end(mut self) -> io::Result<(Option<ExitStatus>, [Vec<u8>; 2])> {
        let process = handle(self.child.id());
        let mut status = None;
        loop {
            if !self.has_ended {
                status = self.child.try_wait()?;
                if status.is_none() && now() >= self.until {
                    self.kill();
                }
                if status.is_some() || self.has_ended {
                    self.has_ended = true;
                    self.until = now() + GRACE;
                }
            }
            let left = self.until.saturating_duration_since(now());
            let all_read = self.out.pipe.is_none() && self.err.pipe.is_none();
            if self.has_ended && (all_read || left.is_zero()) {
                return Ok((status, [&mut self.out.kept, &mut self.err.kept].map(std::mem::take)));
            }
            let process = process.as_ref().filter(|_| !self.has_ended);
            let pause = if process.is_none() && !self.has_ended { left.min(PERIOD) } else { left };
            let input = self.input.as_ref().map(|(pipe, _)| (pipe.as_fd(), PollFlags::OUT));
            let (out, err) = (self.out.pipe.as_ref(), self.err.pipe.as_ref());
            let ends = [to_read(process), to_read(out), to_read(err), input];
            let [_, out_ready, err_ready, input_ready] = wait(ends, Some(pause))?;
            if out_ready {
                self.out.read();
            }
            if err_ready {
                self.err.read();
            }
            if input_ready {
                self.feed();
            }
        }
    }

    /// Writes what the pipe takes. A process that does not read its input is not an error.
    fn feed(&mut self) {
        let Some((pipe, input)) = &mut self.input else { return };
        let written = pipe.write(&input[..input.len().min(PIPE_BUFFER)]);
        input.drain(..written.as_ref().copied().unwrap_or_default());
        if written.is_err() || input.is_empty() {
            self.input = None;
        }
    }

    fn kill(&mut self) {
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
        self.has_ended = true;
    }
}

impl Drop for RunningTool {
    fn drop(&mut self) {
        if !self.has_ended {
            self.kill();
        }
    }
}

/// The beginning of a stream; the rest is discarded, so that the process does not block.
struct Output<S> {
    pipe: Option<S>,
    kept: Vec<u8>,
}

impl<S: Read> Output<S> {
    fn read(&mut self) {
        let mut piece = [0; PIPE_BUFFER];
        match self.pipe.as_mut().map(|pipe| pipe.read(&mut piece)) {
            Some(Ok(count)) if count > 0 => {
                let left = MAX_OUTPUT - self.kept.len();
                self.kept.extend_from_slice(&piece[..count.min(left)]);
            }
            Some(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            _ => self.pipe = None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::process::sleep;

    fn shell(script: &str, timeout: Duration) -> io::Result<Vec<u8>> {
        probe("sh", &["-c".as_ref(), script.as_ref()], timeout)?()
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
        let none = probe("no-such-program-anywhere", &[], minute).err().unwrap();
        assert_eq!(none.kind(), io::ErrorKind::NotFound);
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

    #[test]
    fn program_that_nobody_waits_for_is_killed() {
        let started = probe("sleep", &["600".as_ref()], Duration::from_mins(10)).unwrap();
        let begun = now();
        drop(started);
        assert!(now() - begun < Duration::from_mins(1));
    }

    #[test]
    fn input_of_any_length_is_written_as_far_as_it_is_read() {
        for (script, expected) in [("wc -c", "300000"), ("exec 0<&-; echo closed", "closed")] {
            let mut command = clean_command("sh".as_ref()).unwrap();
            command.args(["-c", script]);
            let tool =
                RunningTool::start(command, "x".repeat(300_000).as_bytes(), Duration::from_mins(1));
            let (status, [out, _]) = tool.unwrap().end().unwrap();
            assert!(status.unwrap().success());
            assert_eq!(String::from_utf8(out).unwrap().trim(), expected);
        }
    }
}

//! Processes that must not outlive the demo.

use std::io;
use std::path::Path;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::process::{Child, Command};
use tokio::time::Instant;

/// Read-locked by writers of executables, write-locked to start a process: a process started while an executable is
/// being written inherits its open file until exec, and the executable cannot run until then ("text file busy").
static PROGRAMS: RwLock<()> = RwLock::new(());

/// Blocks process starts while executables are being written.
pub(crate) fn writing_programs() -> RwLockReadGuard<'static, ()> {
    PROGRAMS.read().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a process while no executables are being written.
pub(crate) fn spawn(command: &mut Command) -> io::Result<Child> {
    let _alone = PROGRAMS.write().unwrap_or_else(PoisonError::into_inner);
    command.spawn()
}

/// What a process printed, and how it ended.
#[derive(Debug, Clone)]
pub(crate) struct EndedProcess {
    /// None if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
}

/// Waits for the end of a process whose output is piped; none if it takes too long.
pub(crate) async fn ended(
    child: Child,
    began: Instant,
    timeout: Duration,
) -> io::Result<Option<EndedProcess>> {
    let ended = tokio::time::timeout(timeout, child.wait_with_output()).await;
    let Some(output) = ended.ok().transpose()? else { return Ok(None) };
    Ok(Some(EndedProcess {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        took: began.elapsed(),
    }))
}

/// Environment variable that marks a process of a simulated node: its value is a directory of the demo.
pub(crate) const MARK: &str = "AKS_NODE_ROOT";

/// A process group that is killed on drop.
pub(crate) struct ProcessGroup(Option<Pid>);

impl ProcessGroup {
    /// Returns the group led by a child.
    pub(crate) fn of(child: &Child) -> Self {
        let pid = child.id().and_then(|id| i32::try_from(id).ok());
        Self(pid.and_then(Pid::from_raw))
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            let _ = kill_process_group(group, Signal::TERM);
        }
    }
}

/// Kills all processes of nodes below this directory, in any group. Returns their number.
pub(crate) fn sweep(directory: &Path) -> usize {
    let mark = format!("{MARK}={}/", directory.display());
    let Ok(processes) = std::fs::read_dir("/proc") else { return 0 };
    let mut ended = 0;
    for process in processes.flatten() {
        let pid = process.file_name().to_str().and_then(|name| name.parse().ok());
        let Some(pid) = pid.and_then(Pid::from_raw) else { continue };
        let Ok(environment) = std::fs::read(process.path().join("environ")) else { continue };
        let ours =
            environment.split(|byte| *byte == 0).any(|pair| pair.starts_with(mark.as_bytes()));
        if ours && kill_process(pid, Signal::KILL).is_ok() {
            ended += 1;
        }
    }
    ended
}

//! Processes that must not outlive the demo.

use std::io;
use std::path::Path;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::process::{Child, Command};

/// Held by those who write programs, many at a time, and by whoever starts a process, alone: a process that is started
/// while a program is being written has it open until it runs, and nobody can run the program before.
static PROGRAMS: RwLock<()> = RwLock::new(());

/// Nobody starts a process while programs are being written.
pub(crate) fn writing_programs() -> RwLockReadGuard<'static, ()> {
    PROGRAMS.read().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a process while nobody writes programs.
pub(crate) fn spawn(command: &mut Command) -> io::Result<Child> {
    let _alone = PROGRAMS.write().unwrap_or_else(PoisonError::into_inner);
    command.spawn()
}

/// The variable that marks a process as one of a node of ours: its value is a folder of ours.
pub(crate) const MARK: &str = "AKS_NODE_ROOT";

/// A group of processes that is ended when this is dropped. One that has ended by itself is not missed.
pub(crate) struct Group(Option<Pid>);

impl Group {
    /// The group that a child leads.
    pub(crate) fn of(child: &Child) -> Self {
        let pid = child.id().and_then(|id| i32::try_from(id).ok());
        Self(pid.and_then(Pid::from_raw))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            let _ = kill_process_group(group, Signal::TERM);
        }
    }
}

/// Ends whatever still runs on nodes below this folder, in whatever group. Says how many that were.
pub(crate) fn sweep(folder: &Path) -> usize {
    let mark = format!("{MARK}={}/", folder.display());
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

//! Child processes of a thread.
//!
//! The library starts credential plugins by itself, so their process ids are read from `/proc`. Hosts without it keep
//! a plugin that hangs.

use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};

/// A thread whose child processes are killed, with their children, when the value is dropped.
pub(crate) struct Thread(PathBuf);

impl Thread {
    /// Returns the current thread, if `/proc` has it.
    pub(crate) fn current() -> Option<Self> {
        let thread = std::fs::read_link("/proc/thread-self").ok()?;
        Some(Self(Path::new("/proc").join(thread)))
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        for child in descendants(&self.0).into_iter().filter_map(Pid::from_raw) {
            let _ = kill_process(child, Signal::KILL);
        }
    }
}

/// Returns the processes that a thread started, parents first.
fn descendants(thread: &Path) -> Vec<i32> {
    let children = std::fs::read_to_string(thread.join("children")).unwrap_or_default();
    let mut all = Vec::new();
    for child in children.split_whitespace().filter_map(|id| id.parse().ok()) {
        all.push(child);
        let threads = std::fs::read_dir(format!("/proc/{child}/task"));
        for thread in threads.into_iter().flatten().flatten() {
            all.extend(descendants(&thread.path()));
        }
    }
    all
}

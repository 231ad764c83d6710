//! Stopping the scripts on a developer's machine without `/proc`: their process group.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal as Sent, kill_process_group, test_kill_process_group};

use crate::world::{Scope, Signal, Stopped};

const STOP_TIMEOUT: Duration = Duration::from_secs(10);
pub(super) const PERIOD: Duration = Duration::from_millis(20);

pub(super) fn adopt() {}

pub(super) fn reap_orphans(_scripts: u32) {}

#[derive(Debug)]
pub(super) struct Stop {
    signal: Signal,
    group: Option<Pid>,
    force_at: Instant,
    killed: usize,
}

impl Stop {
    pub(super) fn begin(signal: Signal, scope: Scope, now: Instant) -> Self {
        let group = match scope {
            // Not known here.
            Scope::Children(_) => None,
            Scope::Process(pid) => i32::try_from(pid).ok().and_then(Pid::from_raw),
        };
        let _ = group.map(|group| kill_process_group(group, Sent::TERM));
        Self { signal, group, force_at: now + STOP_TIMEOUT, killed: 0 }
    }

    pub(super) fn hurry(&mut self, now: Instant) {
        self.force_at = self.force_at.min(now);
    }

    pub(super) fn proceed(&mut self, now: Instant) -> bool {
        let Some(group) = self.group else { return true };
        if now >= self.force_at {
            self.killed = 1;
            return kill_process_group(group, Sent::KILL).is_err();
        }
        test_kill_process_group(group).is_err()
    }

    pub(super) fn end(self) -> Stopped {
        Stopped { signal: self.signal, processes: 1, killed: self.killed, left: Vec::new() }
    }
}

//! Stopping the scripts with everything that they have started.
//!
//! A process group is not enough: `timeout` and `setsid` create separate groups. Descendants of the scripts are found
//! in `/proc`; the binary also adopts orphans ([`adopt`]), so that a process whose parent has ended is still found below it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal as Sent, WaitId, WaitIdOptions, kill_process, pidfd_open,
    pidfd_send_signal, set_child_subreaper, waitid,
};

use crate::world::process::{Stat, stat};
use crate::world::{Scope, Signal, Stopped};

/// Time for the scripts to end after SIGTERM. With the time after it, well below the unit's `TimeoutStopSec`.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);
/// Time for killing processes, some of which may be in an uninterruptible wait.
const FORCE: Duration = Duration::from_secs(5);
/// Polling interval while the tree is being stopped.
pub(super) const PERIOD: Duration = Duration::from_millis(20);

/// Makes orphans below this process its children, instead of those of init.
pub(super) fn adopt() {
    // Without it, only orphans are lost.
    let _ = set_child_subreaper(Pid::from_raw(1));
}

/// Reaps adopted orphans that have ended, except `scripts`, which has a handle.
pub(super) fn reap_orphans(scripts: u32) {
    // A kernel that does not list children leaves them until this process ends.
    let own = std::process::id();
    let children = fs::read_to_string(format!("/proc/self/task/{own}/children"));
    let numbers = children.iter().flat_map(|children| children.split_ascii_whitespace());
    let orphans =
        numbers.filter_map(|number| number.parse().ok()).filter(|pid: &u32| *pid != scripts);
    for orphan in orphans.filter_map(|pid| Pid::from_raw(i32::try_from(pid).ok()?)) {
        let _ = waitid(WaitId::Pid(orphan), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
    }
}

#[derive(Debug)]
pub(super) struct Stop {
    signal: Signal,
    scope: Scope,
    /// Observed processes by pid and start time, since pids are reused.
    seen: BTreeMap<(u32, u64), ObservedProcess>,
    force_at: Instant,
    give_up_at: Instant,
}

#[derive(Debug)]
struct ObservedProcess {
    name: String,
    sent: Option<Sent>,
    alive: bool,
}

impl Stop {
    /// Requests a stop. The scripts always get SIGTERM: background jobs of a shell ignore SIGINT.
    pub(super) fn begin(signal: Signal, scope: Scope, now: Instant) -> Self {
        let force_at = now + STOP_TIMEOUT;
        let give_up_at = force_at + FORCE;
        let mut stop = Self { signal, scope, seen: BTreeMap::new(), force_at, give_up_at };
        let processes = stop.examine();
        stop.send(&processes, Sent::TERM);
        stop
    }

    /// Kills from now on.
    pub(super) fn hurry(&mut self, now: Instant) {
        self.force_at = self.force_at.min(now);
        self.give_up_at = self.give_up_at.min(now + FORCE);
    }

    /// Does what is due; true when nothing more is to be done.
    pub(super) fn proceed(&mut self, now: Instant) -> bool {
        let left = self.examine();
        if now >= self.force_at {
            self.send(&left, Sent::KILL);
        }
        left.is_empty() || now >= self.give_up_at
    }

    pub(super) fn end(self) -> Stopped {
        let ended = self.seen.values().filter(|seen| !seen.alive);
        Stopped {
            signal: self.signal,
            processes: ended.clone().filter(|seen| seen.sent.is_some()).count(),
            killed: ended.filter(|seen| seen.sent == Some(Sent::KILL)).count(),
            left: self
                .seen
                .iter()
                .filter(|(_, seen)| seen.alive)
                .map(|((pid, _), seen)| (*pid, seen.name.clone()))
                .collect(),
        }
    }

    fn send(&mut self, processes: &[Stat], signal: Sent) {
        for process in processes {
            let is_sent = send(process, signal);
            // What ended before its turn came, ended because of what its parent received.
            if (is_sent || signal == Sent::TERM)
                && let Some(seen) = self.seen.get_mut(&(process.pid, process.start))
            {
                seen.sent = Some(signal);
            }
        }
    }

    /// The processes of the tree that live, parents first.
    fn examine(&mut self) -> Vec<Stat> {
        self.observe(&table())
    }

    fn observe(&mut self, table: &[Stat]) -> Vec<Stat> {
        let living = below(table, |process| {
            let is_top = match self.scope {
                Scope::Children(parent) => process.parent == parent,
                Scope::Process(pid) => process.pid == pid,
            };
            // What is known may have lost its parent without being adopted.
            is_top || self.seen.contains_key(&(process.pid, process.start))
        });
        for seen in self.seen.values_mut() {
            seen.alive = false;
        }
        for process in &living {
            let seen = ObservedProcess { name: process.name.clone(), sent: None, alive: true };
            self.seen.entry((process.pid, process.start)).or_insert(seen).alive = true;
        }
        living
    }
}

/// Sends a signal to the observed process; returns true if it existed.
fn send(process: &Stat, signal: Sent) -> bool {
    let Some(pid) = i32::try_from(process.pid).ok().and_then(Pid::from_raw) else { return false };
    match pidfd_open(pid, PidfdFlags::empty()) {
        // The descriptor pins the pid; then the start time is compared again.
        Ok(handle) => {
            stat(process.pid).is_some_and(|now| now.start == process.start)
                && pidfd_send_signal(&handle, signal).is_ok()
        }
        Err(Errno::NOSYS) => kill_process(pid, signal).is_ok(),
        Err(_) => false,
    }
}

fn table() -> Vec<Stat> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter_map(stat).collect()
}

/// The processes that are a top of the tree, and what descends from them; parents first.
fn below(table: &[Stat], is_top: impl Fn(&Stat) -> bool) -> Vec<Stat> {
    let mut children: BTreeMap<u32, Vec<&Stat>> = BTreeMap::new();
    for process in table {
        children.entry(process.parent).or_default().push(process);
    }
    let mut pending: VecDeque<&Stat> = table.iter().filter(|process| is_top(process)).collect();
    let mut taken = BTreeSet::new();
    let mut found = Vec::new();
    while let Some(process) = pending.pop_front() {
        if taken.insert(process.pid) {
            found.push(process.clone());
            pending.extend(children.get(&process.pid).into_iter().flatten());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: u32, parent: u32) -> Stat {
        Stat { pid, parent, start: 1, name: format!("p{pid}") }
    }

    #[test]
    fn descendants_are_found_parents_first_and_strangers_are_not() {
        let table = [process(5, 4), process(1, 0), process(4, 2), process(2, 1), process(9, 1)];
        let pids = |is_top: fn(&Stat) -> bool| -> Vec<u32> {
            below(&table, is_top).iter().map(|process| process.pid).collect()
        };
        assert_eq!(pids(|process| process.parent == 2), [4, 5]);
        assert_eq!(pids(|process| process.pid == 2), [2, 4, 5]);
        assert_eq!(pids(|process| process.pid == 9 || process.pid == 4), [4, 9, 5]);
        assert_eq!(pids(|process| process.parent == 9), [0; 0]);
        // A circle, which no kernel has, ends.
        assert_eq!(below(&[process(7, 8), process(8, 7)], |process| process.pid == 7).len(), 2);
    }

    #[expect(clippy::disallowed_methods, reason = "any instant will do")]
    fn stop(scope: Scope) -> Stop {
        let now = Instant::now();
        let (force_at, give_up_at) = (now + STOP_TIMEOUT, now + STOP_TIMEOUT + FORCE);
        Stop { signal: Signal::Terminate, scope, seen: BTreeMap::new(), force_at, give_up_at }
    }

    #[test]
    fn tree_is_that_of_the_scope_and_what_was_seen_in_it() {
        let pids = |processes: Vec<Stat>| -> Vec<u32> {
            processes.iter().map(|process| process.pid).collect()
        };
        for (scope, expected) in [(Scope::Process(2), [2, 4, 5]), (Scope::Children(1), [2, 4, 5])] {
            let mut stop = stop(scope);
            let all = [process(5, 4), process(1, 0), process(4, 2), process(2, 1), process(9, 8)];
            assert_eq!(pids(stop.observe(&all)), expected, "{scope:?}");
            // The first has ended, and init has adopted its child.
            let later = [process(5, 4), process(4, 0), process(9, 8)];
            assert_eq!(pids(stop.observe(&later)), [5, 4], "{scope:?}");
            let end = stop.end();
            assert_eq!(end.left, [(4, "p4".to_owned()), (5, "p5".to_owned())]);
            assert_eq!((end.processes, end.killed), (0, 0), "no signal was sent");
        }
    }

    #[test]
    fn signal_reaches_the_observed_process_only() {
        assert!(table().iter().any(|process| process.pid == std::process::id()));
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let process = stat(child.id()).unwrap();
        // The same number, used again.
        let later = Stat { start: process.start + 1, ..process.clone() };
        assert!(!send(&later, Sent::KILL));
        assert!(child.try_wait().unwrap().is_none());
        assert!(send(&process, Sent::KILL));
        assert!(!child.wait().unwrap().success());
    }

    #[test]
    fn ended_processes_are_counted_by_the_last_signal() {
        let mut stop = stop(Scope::Process(1));
        for (pid, sent, alive) in [
            (1, Some(Sent::TERM), false),
            (2, Some(Sent::KILL), false),
            (3, Some(Sent::KILL), true),
            (4, None, false),
        ] {
            let seen = ObservedProcess { name: format!("p{pid}"), sent, alive };
            stop.seen.insert((pid, 1), seen);
        }
        let expected = Stopped {
            signal: Signal::Terminate,
            processes: 2,
            killed: 1,
            left: vec![(3, "p3".to_owned())],
        };
        assert_eq!(stop.end(), expected);
    }

    #[test]
    fn second_signal_only_brings_the_end_forward() {
        let mut stop = stop(Scope::Process(1));
        let first = stop.force_at;
        stop.force_at = first + STOP_TIMEOUT;
        stop.give_up_at = stop.force_at + FORCE;
        stop.hurry(first);
        assert_eq!((stop.force_at, stop.give_up_at), (first, first + FORCE));
        stop.hurry(first + Duration::from_secs(1));
        assert_eq!((stop.force_at, stop.give_up_at), (first, first + FORCE));
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the time is never compared")]
    fn process_that_ended_first_is_stopped_but_not_killed() {
        // No process has this number.
        let ended = process(i32::MAX.unsigned_abs(), 0);
        for (signal, sent) in [(Sent::TERM, Some(Sent::TERM)), (Sent::KILL, None)] {
            let now = Instant::now();
            let mut stop = Stop {
                signal: Signal::Terminate,
                scope: Scope::Process(ended.pid),
                seen: BTreeMap::new(),
                force_at: now,
                give_up_at: now,
            };
            let seen = ObservedProcess { name: ended.name.clone(), sent: None, alive: true };
            stop.seen.insert((ended.pid, ended.start), seen);
            stop.send(std::slice::from_ref(&ended), signal);
            assert_eq!(stop.seen[&(ended.pid, ended.start)].sent, sent, "{signal:?}");
        }
    }
}

//! Waits for the end of the bootstrap.

use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, SystemTime};

use mooring_contract::node_config;

use crate::format::go_text::{os_error, path_error};
use crate::node::agent::Agent;
use crate::node::nbc;
use crate::node::paths::{
    BASE_PREP_SENTINEL, CONTAINERS_DIR, NBC_COMMAND, NODE_CONFIG, RUN_DIR, SENTINEL,
};
use crate::node::pid_file::{self, RunningAgent};
use crate::node::secrets::MAX_FILE_BYTES;
use crate::world::{Watch, WatchFailure};

/// Time for which the record of a run that finished before this wait is ignored. The next run may be starting, and
/// its result counts.
const SETTLE: Duration = Duration::from_secs(2);

#[derive(Debug, PartialEq, Eq)]
pub(super) enum WaitOutcome {
    Complete,
    /// An image was baked; there will be no node.
    BasePrepComplete,
    /// The run has finished, but the node is not complete.
    Ended(Box<RunningAgent>),
    TimedOut(Duration),
}

#[derive(Default)]
struct WaitState {
    /// True if a run was active during this wait.
    live_run: bool,
    /// Time of the first observation of a finished run, and its record.
    over: Option<(RunningAgent, Duration)>,
    /// True if it was logged that the scripts continue without their agent.
    logged_orphans: bool,
}

enum Check {
    Over(WaitOutcome),
    /// No result yet: the process to wait for, and the time of the next check.
    Pending {
        pid: Option<u32>,
        again: Option<Duration>,
    },
}

/// Sleeps until a result exists. The watch starts before the first check, so nothing is missed.
pub(super) fn wait(
    agent: &mut Agent<'_>,
    start: SystemTime,
    timeout: Option<Duration>,
) -> Result<WaitOutcome, String> {
    let mut watch = watch(agent)?;
    let baked_before = is_baked(agent);
    let mut seen = WaitState::default();
    loop {
        let (pid, again) = match check(agent, baked_before, &mut seen) {
            Check::Over(outcome) => return Ok(outcome),
            Check::Pending { pid, again } => (pid, again),
        };
        let left = match timeout {
            None => None,
            Some(timeout) => {
                let waited = agent.world.now().duration_since(start).unwrap_or_default();
                match timeout.checked_sub(waited).filter(|left| !left.is_zero()) {
                    None => return Ok(WaitOutcome::TimedOut(timeout)),
                    left => left,
                }
            }
        };
        watch
            .wait(pid, [left, again].into_iter().flatten().min())
            .map_err(|error| format!("error watching file: {}", os_error(&error)))?;
    }
}

fn watch(agent: &mut Agent<'_>) -> Result<Box<dyn Watch>, String> {
    let results = agent.layout.at(CONTAINERS_DIR);
    agent.world.create_dir_all(&results).map_err(|error| {
        let error = path_error("mkdir", CONTAINERS_DIR.as_ref(), &error);
        format!("failed to create directory {CONTAINERS_DIR}: {error}")
    })?;
    // The record may be written later, or never if this directory cannot be created.
    let records = agent.layout.at(RUN_DIR);
    let mut folders: Vec<&Path> = vec![&results];
    if agent.world.create_dir_all(&records).is_ok() {
        folders.push(&records);
    }
    agent.world.watch(&folders).map_err(|failure| match failure {
        WatchFailure::Create(error) => format!("failed to create watcher: {}", os_error(&error)),
        WatchFailure::Folder(error) => format!("failed to watch directory: {}", os_error(&error)),
    })
}

/// Checks the node once. On a node from a baked image, the mark of that baking is ignored.
fn check(agent: &mut Agent<'_>, baked_before: bool, seen: &mut WaitState) -> Check {
    // The process first, then the sentinel, so that its last result is not missed.
    let mut running = pid_file::read(agent.world, &agent.layout);
    let awaited = loop {
        let awaited = running.as_ref().and_then(|running| running.awaited(agent.world));
        if awaited.is_some() {
            break awaited;
        }
        // A process that ended after the record was read may have written its result there.
        let latest = pid_file::read(agent.world, &agent.layout);
        if latest == running {
            break None;
        }
        running = latest;
    };
    if agent.world.kind(&agent.layout.at(SENTINEL)).is_ok() {
        return Check::Over(WaitOutcome::Complete);
    }
    if is_baked(agent) && (!baked_before || bakes_an_image(agent)) {
        return Check::Over(WaitOutcome::BasePrepComplete);
    }
    let Some(running) = running else { return Check::Pending { pid: None, again: None } };
    if let Some(process) = awaited {
        seen.live_run = true;
        if process.pid != running.agent.pid && !seen.logged_orphans {
            seen.logged_orphans = true;
            let text = format!(
                "provision (pid {}) ended without leaving a result, but its scripts still run (pid {}); waiting for them",
                running.agent.pid, process.pid
            );
            agent.warn(&text, &[]);
        }
        return Check::Pending { pid: Some(process.pid), again: None };
    }
    if seen.live_run {
        return Check::Over(WaitOutcome::Ended(Box::new(running)));
    }
    let now = agent.world.monotonic();
    match &seen.over {
        Some((known, since)) if *known == running => match (*since + SETTLE).checked_sub(now) {
            None | Some(Duration::ZERO) => Check::Over(WaitOutcome::Ended(Box::new(running))),
            again => Check::Pending { pid: None, again },
        },
        _ => {
            seen.over = Some((running, now));
            Check::Pending { pid: None, again: Some(SETTLE) }
        }
    }
}

fn is_baked(agent: &mut Agent<'_>) -> bool {
    agent.world.kind(&agent.layout.at(BASE_PREP_SENTINEL)).is_ok()
}

/// Returns true if custom data is known to request the baking of an image: a mark that was there before this wait may be
/// that of the image's own baking. What cannot be read, or is not there yet, requests nothing. An NBC command decides alone.
fn bakes_an_image(agent: &mut Agent<'_>) -> bool {
    let command = agent.layout.at(NBC_COMMAND);
    let entry = agent.world.entry(&command);
    if !entry.is_err_and(|error| error.kind() == ErrorKind::NotFound) {
        let text = agent.world.read(&command, MAX_FILE_BYTES).unwrap_or_default();
        return nbc::assignments(&text).expose("PRE_PROVISION_ONLY") == Some(b"true");
    }
    let config = agent.world.read(&agent.layout.at(NODE_CONFIG), MAX_FILE_BYTES);
    let parsed = config.ok().and_then(|text| node_config::parse(&text).ok());
    parsed.is_some_and(|parsed| parsed.config.pre_provision_only)
}

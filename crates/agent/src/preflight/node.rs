//! Checks of the node.

use std::time::{Duration, SystemTime};

use super::{ConfigState, PreflightFacts, PreflightFinding};
use crate::cli::PreflightStage;
use crate::node::paths::SENTINEL;
use crate::node::report;
use crate::world::World;

/// Minimum free space for packages, images and logs.
const MIN_FREE_BYTES: u64 = 1 << 30;
/// Inodes for a bootstrap, with a margin.
const MIN_FREE_FILES: u64 = 10_000;

const WRITTEN: [&str; 4] = ["/opt/azure", "/var/log/azure", "/var/lib", "/etc"];

/// 2026-08-21: a correct clock of a node with this agent is later.
const SOFTWARE_DATE: Duration = Duration::from_hours(1_787_270_400 / 3600);

/// Permissions of group and others.
const OTHERS: u32 = 0o077;

pub(super) fn config(_: &mut dyn World, facts: &PreflightFacts<'_>) -> PreflightFinding {
    match &facts.config {
        ConfigState::Unusable(why) => PreflightFinding::fatal(
            why,
            "fix the node config, or the control plane that renders it",
        ),
        _ => PreflightFinding::pass("the node config can be read"),
    }
}

pub(super) fn config_mode(world: &mut dyn World, facts: &PreflightFacts<'_>) -> PreflightFinding {
    let ConfigState::Read { path, .. } = &facts.config else {
        return PreflightFinding::skipped("no readable config file");
    };
    match world.entry(path) {
        Err(error) => PreflightFinding::skipped(format!("{}: {error}", path.display())),
        Ok(entry) if entry.mode & OTHERS == 0 => {
            PreflightFinding::pass("only its owner can read the config")
        }
        Ok(entry) => PreflightFinding::warning(
            format!("{} can be read by others (mode {:04o})", path.display(), entry.mode & 0o777),
            "run chmod 0600 on it: it contains the node's secrets",
        ),
    }
}

/// The re-run trap: with a sentinel in place the scripts do nothing and report success. `provision` does not run them then,
/// but in an image every node would have it.
pub(super) fn left_over(world: &mut dyn World, facts: &PreflightFacts<'_>) -> PreflightFinding {
    if world.kind(&facts.layout.at(SENTINEL)).is_err() {
        return PreflightFinding::pass("no provision.complete of an earlier run");
    }
    let code = report::read(world, facts.layout).and_then(|status| status.code().ok());
    let left = match code {
        Some(0) if facts.stage == PreflightStage::Node => {
            return PreflightFinding::pass("this node has been bootstrapped");
        }
        Some(0) => "from a run that succeeded".to_owned(),
        Some(code) => format!("from a run that failed with {code}"),
        None => "without a readable report".to_owned(),
    };
    match facts.stage {
        PreflightStage::Node => PreflightFinding::fatal(
            format!("{SENTINEL} is left {left}; the scripts would skip everything"),
            "recreate the node, or remove that file and run again",
        ),
        PreflightStage::Image => PreflightFinding::fatal(
            format!("{SENTINEL} is left {left}; every node of this image would skip its bootstrap"),
            "remove that file and provision.json from the image; see how the image came to be booted before it was sealed",
        ),
    }
}

pub(super) fn space(world: &mut dyn World, facts: &PreflightFacts<'_>) -> PreflightFinding {
    let mut narrow = Vec::new();
    for fixed in WRITTEN {
        // A missing directory will be created in its first existing parent.
        let there = facts.layout.at(fixed);
        let Some(space) = there.ancestors().find_map(|folder| world.space(folder).ok()) else {
            continue;
        };
        if space.free_bytes < MIN_FREE_BYTES {
            narrow.push(format!("{fixed}: {} MiB are free", space.free_bytes >> 20));
        }
        if let Some(files) = space.free_files.filter(|files| *files < MIN_FREE_FILES) {
            narrow.push(format!("{fixed}: {files} free inodes"));
        }
    }
    if narrow.is_empty() {
        return PreflightFinding::pass("the disk has space for the bootstrap");
    }
    let finding = PreflightFinding::warning(
        "the disk has too little space for the bootstrap",
        "use a larger OS disk, or an image with less on it",
    );
    PreflightFinding { evidence: narrow, ..finding }
}

pub(super) fn clock(world: &mut dyn World, _: &PreflightFacts<'_>) -> PreflightFinding {
    if world.now() < SystemTime::UNIX_EPOCH + SOFTWARE_DATE {
        return PreflightFinding::warning(
            "the system clock is earlier than the build date of this binary",
            "wait for time synchronization; until then certificates are rejected as not yet valid",
        );
    }
    PreflightFinding::pass("the system clock is not earlier than the build date")
}

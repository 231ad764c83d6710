//! What a node must be like.

use std::time::{Duration, SystemTime};

use super::{Config, Facts, Finding};
use crate::cli::Stage;
use crate::paths::SENTINEL;
use crate::report;
use crate::world::World;

/// The smallest room in which a bootstrap has a chance: packages, images and logs.
const MIN_FREE_BYTES: u64 = 1 << 30;
/// Files that a bootstrap makes, with much to spare.
const MIN_FREE_FILES: u64 = 10_000;

const WRITTEN: [&str; 4] = ["/opt/azure", "/var/log/azure", "/var/lib", "/etc"];

/// 2026-08-21: no clock of a node with this agent is honestly behind it.
const SOFTWARE_DATE: Duration = Duration::from_hours(1_787_270_400 / 3600);

/// What others than the owner may do.
const OTHERS: u32 = 0o077;

pub(super) fn config(_: &mut dyn World, facts: &Facts<'_>) -> Finding {
    match &facts.config {
        Config::Unusable(why) => Finding::fatal(why, "mend the node config, or whoever renders it"),
        _ => Finding::pass("the node config can be read"),
    }
}

pub(super) fn config_mode(world: &mut dyn World, facts: &Facts<'_>) -> Finding {
    let Config::Read { path, .. } = &facts.config else {
        return Finding::skipped("there is no readable config file");
    };
    match world.entry(path) {
        Err(error) => Finding::skipped(format!("{}: {error}", path.display())),
        Ok(entry) if entry.mode & OTHERS == 0 => {
            Finding::pass("only its owner can read the config")
        }
        Ok(entry) => Finding::warning(
            format!("{} can be read by others (mode {:04o})", path.display(), entry.mode & 0o777),
            "chmod 0600 it: it holds the node's secrets",
        ),
    }
}

/// The re-run trap: with a sentinel in place the scripts do nothing and report success. `provision` does not run them then,
/// but in an image every node would have it.
pub(super) fn left_over(world: &mut dyn World, facts: &Facts<'_>) -> Finding {
    if world.kind(&facts.layout.at(SENTINEL)).is_err() {
        return Finding::pass("no earlier run has left provision.complete");
    }
    let code = report::read(world, facts.layout).and_then(|status| status.code().ok());
    let left = match code {
        Some(0) if facts.stage == Stage::Node => {
            return Finding::pass("this node has been bootstrapped");
        }
        Some(0) => "from a run that succeeded".to_owned(),
        Some(code) => format!("from a run that failed with {code}"),
        None => "without a readable report".to_owned(),
    };
    match facts.stage {
        Stage::Node => Finding::fatal(
            format!("{SENTINEL} is left {left}; the scripts would skip everything"),
            "recreate the node, or remove that file and run again",
        ),
        Stage::Image => Finding::fatal(
            format!("{SENTINEL} is left {left}; every node of this image would skip its bootstrap"),
            "remove that file and provision.json from the image; see how the image came to be booted before it was sealed",
        ),
    }
}

pub(super) fn space(world: &mut dyn World, facts: &Facts<'_>) -> Finding {
    let mut narrow = Vec::new();
    for fixed in WRITTEN {
        // What is not there yet will be made in the first folder above that is.
        let there = facts.layout.at(fixed);
        let Some(space) = there.ancestors().find_map(|folder| world.space(folder).ok()) else {
            continue;
        };
        if space.free_bytes < MIN_FREE_BYTES {
            narrow.push(format!("{fixed}: {} MiB are free", space.free_bytes >> 20));
        }
        if let Some(files) = space.free_files.filter(|files| *files < MIN_FREE_FILES) {
            narrow.push(format!("{fixed}: room for {files} more files"));
        }
    }
    if narrow.is_empty() {
        return Finding::pass("there is room where the bootstrap writes");
    }
    let mut finding = Finding::warning(
        "there is little room where the bootstrap writes",
        "use a larger OS disk, or an image with less on it",
    );
    finding.evidence = narrow;
    finding
}

pub(super) fn clock(world: &mut dyn World, _: &Facts<'_>) -> Finding {
    if world.now() < SystemTime::UNIX_EPOCH + SOFTWARE_DATE {
        return Finding::warning(
            "the clock is behind: this software is younger than it tells",
            "wait for time synchronisation; until then certificates do not seem valid yet",
        );
    }
    Finding::pass("the clock is not behind the software")
}

//! Checks of the node, the image and the hotfixes in use.

use std::time::{Duration, SystemTime};

use mooring_contract::node_config::OrUnset as _;

use crate::environment::command::START as START_SCRIPT;
use crate::hotfix::{NOT_APPLIED, find_not_taken, read_pointer, read_state};
use crate::node::inputs::read_components;
use crate::node::paths::PreflightStage;
use crate::node::paths::{COMPONENTS, HOTFIX_AGENT, HOTFIX_POINTER, SENTINEL};
use crate::node::program::{PathTarget, ProgramState, in_path, resolve};
use crate::node::report;
use crate::preflight::{ConfigState, NO_CONFIG, NOT_ON_A_NODE, PreflightFacts, PreflightFinding};
use crate::world::{EntryKind, World};

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
        config if !config.is_given() => PreflightFinding::skipped(NO_CONFIG),
        ConfigState::Unusable(why) => PreflightFinding::fatal(
            why,
            "fix the node config, or the control plane that renders it",
        ),
        _ => PreflightFinding::pass("the node config can be read"),
    }
}

pub(super) fn config_mode(world: &mut dyn World, facts: &PreflightFacts<'_>) -> PreflightFinding {
    let ConfigState::Read { path, .. } = &facts.config else {
        let is_given = facts.config.is_given();
        return PreflightFinding::skipped(if is_given {
            "no readable config file"
        } else {
            NO_CONFIG
        });
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
    if facts.stage == PreflightStage::Image {
        return PreflightFinding::skipped(NOT_ON_A_NODE);
    }
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

pub(super) fn clock(world: &mut dyn World, facts: &PreflightFacts<'_>) -> PreflightFinding {
    if facts.stage == PreflightStage::Image {
        return PreflightFinding::skipped(NOT_ON_A_NODE);
    }
    if world.now() < SystemTime::UNIX_EPOCH + SOFTWARE_DATE {
        return PreflightFinding::warning(
            "the system clock is earlier than the build date of this binary",
            "wait for time synchronization; until then certificates are rejected as not yet valid",
        );
    }
    PreflightFinding::pass("the system clock is not earlier than the build date")
}

pub(super) fn start_script(world: &mut dyn World, facts: &PreflightFacts<'_>) -> PreflightFinding {
    const SCRIPT_NAME: &[u8] = b"provision_start.sh";
    let action = match facts.stage {
        PreflightStage::Image => "add the bootstrap scripts to the image",
        PreflightStage::Node => "use another image version: this one lacks the bootstrap scripts",
    };
    // An NBC command brings its own way to start, which may be this one.
    if let ConfigState::Nbc { text, .. } = &facts.config
        && !text.windows(SCRIPT_NAME.len()).any(|window| window == SCRIPT_NAME)
    {
        return PreflightFinding::skipped("the NBC command does not call it");
    }
    match resolve(world, facts.layout.root(), START_SCRIPT.as_ref()) {
        PathTarget::There { entry, .. } if entry.kind == EntryKind::File => {
            PreflightFinding::pass(format!("{START_SCRIPT} exists"))
        }
        // A FIFO would keep the shell waiting.
        PathTarget::There { .. } => {
            PreflightFinding::fatal(format!("{START_SCRIPT} is not a regular file"), action)
        }
        PathTarget::Missing => {
            PreflightFinding::fatal(format!("{START_SCRIPT} is missing"), action)
        }
        PathTarget::Dangling(target) => {
            let target = target.display();
            PreflightFinding::fatal(
                format!("{START_SCRIPT} is a broken link (to {target})"),
                action,
            )
        }
    }
}

pub(super) fn components(world: &mut dyn World, facts: &PreflightFacts<'_>) -> PreflightFinding {
    if matches!(facts.config, ConfigState::Nbc { .. }) {
        return PreflightFinding::skipped("an NBC command does not need it");
    }
    match read_components(world, &facts.layout.at(COMPONENTS), COMPONENTS) {
        Ok(_) => PreflightFinding::pass(format!("{COMPONENTS} exists and can be read")),
        Err(error) => PreflightFinding::fatal(
            error,
            match facts.stage {
                PreflightStage::Image => {
                    "add the list of the image's components, which its build writes"
                }
                PreflightStage::Node => {
                    "use another image version: this one lacks its component list"
                }
            },
        ),
    }
}

pub(super) fn containerd(world: &mut dyn World, facts: &PreflightFacts<'_>) -> PreflightFinding {
    let own = facts.config.node_config().map(|config| config.containerd_config.or_unset());
    if own.is_some_and(|own| !own.containerd_package_url.is_empty()) {
        return PreflightFinding::skipped("the config has a source for containerd");
    }
    program(world, facts, "containerd")
}

pub(super) fn kubelet(world: &mut dyn World, facts: &PreflightFacts<'_>) -> PreflightFinding {
    let own = facts.config.node_config().map(|config| config.kube_binary_config.or_unset());
    if own.is_some_and(|own| {
        !own.custom_kube_binary_url.is_empty() || !own.private_kube_binary_url.is_empty()
    }) {
        return PreflightFinding::skipped("the config has a source for kubelet");
    }
    program(world, facts, "kubelet")
}

/// A program that the scripts may still install or do without: never fatal.
pub(super) fn program(
    world: &mut dyn World,
    facts: &PreflightFacts<'_>,
    name: &str,
) -> PreflightFinding {
    let places = in_path(world, facts.site(), name);
    if let Some(good) = places.iter().find(|place| place.state == ProgramState::Good) {
        return PreflightFinding::pass(format!("{name} is {}", good.path.display()));
    }
    let action = match facts.stage {
        PreflightStage::Image => "install it in the image, or make sure that the scripts do",
        PreflightStage::Node => "if the bootstrap fails, suspect the image first",
    };
    let summary = match places.first() {
        None => format!("{name} is not in PATH"),
        Some(place) => format!("{name} at {} is {}", place.path.display(), place.state),
    };
    PreflightFinding::warning(summary, action)
}

pub(super) fn hotfix(world: &mut dyn World, facts: &PreflightFacts<'_>) -> PreflightFinding {
    let state = read_state(world, facts.layout);
    let described = state.describe(facts.version);
    if state.is_pending {
        return PreflightFinding::warning(
            format!("the script hotfix {} was interrupted", state.scripts),
            "run `aks-node-controller download-hotfix`; `provision` also completes it",
        );
    }
    let pointer = match read_pointer(world, facts.layout) {
        Ok(pointer) => pointer,
        Err(error) => {
            let finding = PreflightFinding::warning(
                format!("{HOTFIX_POINTER} cannot be read: no hotfix is applied"),
                "check the custom data that writes it",
            );
            return PreflightFinding { evidence: vec![error], ..finding };
        }
    };
    if !state.binary.is_empty() {
        return PreflightFinding::warning(
            format!(
                "{HOTFIX_AGENT} provisions this node instead of the image's agent: {described}"
            ),
            "remove it if the image's agent is to be used",
        );
    }
    if let Some((version, policy)) = find_not_taken(world, facts.layout, &pointer, facts.version) {
        return PreflightFinding::warning(
            format!(
                "the binary hotfix {version} is requested and not taken (policy {policy}), {NOT_APPLIED}: {described}"
            ),
            "set the hotfix policy to full if that agent is to provision the node",
        );
    }
    match facts.stage {
        PreflightStage::Image if !state.scripts.is_empty() => PreflightFinding::warning(
            format!("the image has hotfixed scripts: {described}"),
            "build the image with the repaired scripts",
        ),
        _ if state.is_hotfixed() => {
            PreflightFinding::pass(format!("hotfix in effect: {described}"))
        }
        _ => PreflightFinding::pass("no hotfix is in effect"),
    }
}

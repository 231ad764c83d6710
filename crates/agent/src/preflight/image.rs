//! Checks of the image.

use mooring_contract::node_config::OrUnset as _;

use super::program::in_path;
use super::rooted_path::{PathTarget, resolve};
use super::{ConfigState, PreflightFacts, PreflightFinding};
use crate::cli::PreflightStage;
use crate::environment::command::START as START_SCRIPT;
use crate::node::host_info::read_components;
use crate::node::paths::COMPONENTS;
use crate::node::program::ProgramState;
use crate::world::{EntryKind, World};

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
    let places = in_path(world, facts, name);
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

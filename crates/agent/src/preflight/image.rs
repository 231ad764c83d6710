//! Checks of the image.

use mooring_contract::node_config::OrUnset as _;

use super::program::in_path;
use super::rooted_path::{Target, resolve};
use super::{Config, Facts, Finding};
use crate::cli::Stage;
use crate::environment::command::START as START_SCRIPT;
use crate::node::host_info::read_components;
use crate::node::paths::COMPONENTS;
use crate::node::program::ProgramState;
use crate::world::World;

pub(super) fn start_script(world: &mut dyn World, facts: &Facts<'_>) -> Finding {
    const ACTION: &str = "use another image version: this one lacks the bootstrap scripts";
    // An NBC command brings its own way to start, which may be this one.
    if let Config::Nbc { text, .. } = &facts.config
        && !contains(text, b"provision_start.sh")
    {
        return Finding::skipped("the NBC command does not call it");
    }
    match resolve(world, facts.layout.root(), START_SCRIPT.as_ref()) {
        Target::There { .. } => Finding::pass(format!("{START_SCRIPT} exists")),
        Target::Missing => Finding::fatal(format!("{START_SCRIPT} is missing"), ACTION),
        Target::Dangling(target) => {
            let target = target.display();
            Finding::fatal(format!("{START_SCRIPT} is a broken link (to {target})"), ACTION)
        }
    }
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window == word)
}

pub(super) fn components(world: &mut dyn World, facts: &Facts<'_>) -> Finding {
    if matches!(facts.config, Config::Nbc { .. }) {
        return Finding::skipped("an NBC command does not need it");
    }
    match read_components(world, &facts.layout.at(COMPONENTS), COMPONENTS) {
        Ok(_) => Finding::pass(format!("{COMPONENTS} exists and can be read")),
        Err(error) => {
            Finding::fatal(error, "use another image version: this one lacks its component list")
        }
    }
}

pub(super) fn containerd(world: &mut dyn World, facts: &Facts<'_>) -> Finding {
    let own = facts.config.node_config().map(|config| config.containerd_config.or_unset());
    if own.is_some_and(|own| !own.containerd_package_url.is_empty()) {
        return Finding::skipped("the config has a source for containerd");
    }
    program(world, facts, "containerd")
}

pub(super) fn kubelet(world: &mut dyn World, facts: &Facts<'_>) -> Finding {
    let own = facts.config.node_config().map(|config| config.kube_binary_config.or_unset());
    if own.is_some_and(|own| {
        !own.custom_kube_binary_url.is_empty() || !own.private_kube_binary_url.is_empty()
    }) {
        return Finding::skipped("the config has a source for kubelet");
    }
    program(world, facts, "kubelet")
}

pub(super) fn jq(world: &mut dyn World, facts: &Facts<'_>) -> Finding {
    program(world, facts, "jq")
}

pub(super) fn systemctl(world: &mut dyn World, facts: &Facts<'_>) -> Finding {
    program(world, facts, "systemctl")
}

pub(super) fn curl(world: &mut dyn World, facts: &Facts<'_>) -> Finding {
    program(world, facts, "curl")
}

/// A program that the scripts may still install or do without: never fatal.
fn program(world: &mut dyn World, facts: &Facts<'_>, name: &str) -> Finding {
    let places = in_path(world, facts, name);
    if let Some(good) = places.iter().find(|place| place.state == ProgramState::Good) {
        return Finding::pass(format!("{name} is {}", good.path.display()));
    }
    let action = match facts.stage {
        Stage::Image => "install it in the image, or make sure that the scripts do",
        Stage::Node => "if the bootstrap fails, suspect the image first",
    };
    let summary = match places.first() {
        None => format!("{name} is not in PATH"),
        Some(place) => format!("{name} at {} is {}", place.path.display(), place.state),
    };
    Finding::warning(summary, action)
}

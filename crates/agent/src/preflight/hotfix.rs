//! The agent and scripts in use.

use super::{PreflightFacts, PreflightFinding};
use crate::cli::PreflightStage;
use crate::hotfix::{NOT_APPLIED, find_not_taken, read_pointer, read_state};
use crate::node::paths::{HOTFIX_AGENT, HOTFIX_POINTER};
use crate::world::World;

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
    if state.binary.is_some() {
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

//! The agent and scripts in use.

use super::{Facts, Finding};
use crate::VERSION;
use crate::cli::Stage;
use crate::hotfix::{HotfixState, has_readable_pointer, read_state};
use crate::paths::{HOTFIX_AGENT, HOTFIX_POINTER};
use crate::world::World;

pub(super) fn hotfix(world: &mut dyn World, facts: &Facts<'_>) -> Finding {
    let state = read_state(world, facts.layout);
    let described = state.describe(VERSION);
    if state.is_pending {
        return Finding::warning(
            format!("the script hotfix {} was interrupted", state.scripts),
            "run `aks-node-controller download-hotfix`; `provision` also completes it",
        );
    }
    if !has_readable_pointer(world, facts.layout) {
        return Finding::warning(
            format!("{HOTFIX_POINTER} cannot be read: no hotfix is applied"),
            "check the custom data that writes it",
        );
    }
    match (&state, facts.stage) {
        (HotfixState { binary: Some(_), .. }, _) => Finding::warning(
            format!(
                "{HOTFIX_AGENT} provisions this node instead of the image's agent: {described}"
            ),
            "remove it if the image's agent is to be used",
        ),
        (HotfixState { scripts, .. }, Stage::Image) if !scripts.is_empty() => Finding::warning(
            format!("the image has hotfixed scripts: {described}"),
            "build the image with the repaired scripts",
        ),
        _ if state.is_hotfixed() => Finding::pass(format!("hotfix in effect: {described}")),
        _ => Finding::pass("no hotfix is in effect"),
    }
}

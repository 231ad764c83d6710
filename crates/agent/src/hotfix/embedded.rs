//! `apply-embedded-hotfix`.

use crate::node::agent::Agent;

/// Runs `apply-embedded-hotfix`: upstream's patched agents have scripts inside, this one has none.
pub(crate) fn apply_embedded_hotfix(agent: &mut Agent<'_>) -> u8 {
    agent.info("no script hotfix is embedded in this agent; nothing to apply", &[]);
    0
}

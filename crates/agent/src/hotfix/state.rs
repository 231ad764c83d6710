//! Versions of the agent and the scripts that a node is bootstrapped with.

use crate::hotfix::pointer::Pointer;
use crate::hotfix::scripts::{HotfixRecord, read_record, settle};
use crate::hotfix::{Policy, find_policy, is_hotfix_of};
use crate::node::agent::LogValue::Text;
use crate::node::agent::{Agent, EventLevel, Task};
use crate::node::paths::{HOTFIX_AGENT, HOTFIX_RECORD, Layout};
use crate::world::{EntryKind, World};

/// Returns the version of the binary hotfix that the pointer requests and the policy excludes, and that policy; `own` is
/// the image's agent.
pub(crate) fn find_not_taken(
    world: &mut dyn World,
    layout: &Layout,
    pointer: &Pointer,
    own: &str,
) -> Option<(String, Policy)> {
    let version = pointer.agent_version(own)?.to_owned();
    let (policy, _) = find_policy(world, layout);
    let is_excluded = is_hotfix_of(own, &version) == Some(true) && policy != Policy::Full;
    is_excluded.then_some((version, policy))
}

/// Returns the node's record, with the hotfix agent only if an executable one exists.
pub(crate) fn read_state(world: &mut dyn World, layout: &Layout) -> HotfixRecord {
    let mut state = read_record(world, layout).unwrap_or_default();
    let beside = world.entry(&layout.at(HOTFIX_AGENT));
    if !beside.is_ok_and(|entry| entry.kind != EntryKind::Folder && entry.mode & 0o111 != 0) {
        state.binary.clear();
    } else if state.binary.is_empty() {
        "unknown version".clone_into(&mut state.binary);
    }
    state
}

impl HotfixRecord {
    pub(crate) fn is_hotfixed(&self) -> bool {
        !self.binary.is_empty() || !self.scripts.is_empty()
    }

    /// The state in one line, for the log, the event and the report; `own` is the image's agent.
    pub(crate) fn describe(&self, own: &str) -> String {
        let scripts = if self.scripts.is_empty() { "image" } else { &self.scripts };
        match self.binary.as_str() {
            "" => format!("binary={own} scripts={scripts}"),
            version => format!("binary={version} (hotfix) scripts={scripts}"),
        }
    }
}

/// Completes an interrupted `download-hotfix`, so that all scripts have the same version.
pub(crate) fn finish_pending(agent: &mut Agent<'_>) {
    let Some(record) = read_record(agent.world, &agent.layout) else { return };
    if !record.is_pending {
        return;
    }
    match settle(agent.world, &agent.layout, &record) {
        Ok(()) => agent.info(
            "completed the script hotfix that was interrupted",
            &[("version", Text(&record.scripts))],
        ),
        Err(error) => agent.warn(
            "failed to complete the script hotfix that was interrupted",
            &[("path", Text(HOTFIX_RECORD)), ("error", Text(&error))],
        ),
    }
}

/// Leaves one record and one event that name the agent and the scripts in use, where a hotfix is in effect.
pub(crate) fn announce(agent: &mut Agent<'_>, state: &HotfixRecord) {
    if !state.is_hotfixed() {
        return;
    }
    let text = state.describe(agent.version);
    agent.info("hotfix in effect", &[("state", Text(&text))]);
    let start = agent.world.now();
    agent.event(Task::Hotfix, EventLevel::Informational, &format!("hotfix {text}"), start);
}

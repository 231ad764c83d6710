//! `download-hotfix`: acts on the pointer, as far as the policy allows.

use std::io;

use crate::format::read_failure;
use crate::hotfix::pointer::{self, Pointer};
use crate::hotfix::{
    self, NOT_APPLIED, Policy, agent_package, finish_pending, is_hotfix_of, scripts, write_files,
};
use crate::node::agent::LogValue::Text;
use crate::node::agent::{Agent, EventLevel, Task};
use crate::node::paths::NODE_CUSTOM_DATA;
use crate::world::ReadFailure;

struct Part {
    text: String,
    /// The exit code, if it failed and counts.
    failed: Option<u8>,
}

impl Part {
    fn none() -> Self {
        Self { text: "none".to_owned(), failed: None }
    }
}

pub(crate) fn download_hotfix(agent: &mut Agent<'_>) -> u8 {
    agent.info("aks-node-controller hotfix download started", &[]);
    let start = agent.world.now();
    finish_pending(agent);
    let policy = hotfix::read_policy(agent);
    let pointer = pointer::of_node(agent.world, &agent.layout).unwrap_or_else(|error| {
        agent.warn("failed to read the hotfix pointer", &[("error", Text(&error))]);
        Pointer::default()
    });
    let scripts = apply_scripts(agent, policy, &pointer.scripts_version);
    let binary = take_binary(agent, policy, &pointer);
    let is_failed = scripts.failed.is_some() || binary.failed.is_some();
    if scripts.text != "none" || binary.text != "none" {
        let level = if is_failed { EventLevel::Error } else { EventLevel::Informational };
        let message = format!(
            "download-hotfix policy={policy} current={} scripts={} binary={}",
            agent.version, scripts.text, binary.text
        );
        agent.event(Task::DownloadHotfix, level, &message, start);
    }
    match binary.failed {
        None => agent.info("aks-node-controller hotfix download finished", &[]),
        Some(_) => agent
            .error("aks-node-controller hotfix download failed", &[("error", Text(&binary.text))]),
    }
    // A failure of scripts alone is a warning, as upstream has it.
    binary.failed.unwrap_or(0)
}

/// Returns whether a version is a hotfix of this agent's; logs why not.
fn applies(agent: &mut Agent<'_>, asked: &str, skipped: &str) -> bool {
    let own = agent.version;
    let attributes = [("current", Text(own)), ("hotfix", Text(asked))];
    match is_hotfix_of(own, asked) {
        Some(true) => return true,
        Some(false) => agent.info(skipped, &attributes),
        None => agent.warn("failed to compare versions, skipping hotfix", &attributes),
    }
    false
}

/// The part of a hotfix that the policy excludes; `lost` names the effect on the node.
fn not_taken(agent: &mut Agent<'_>, what: &str, policy: Policy, version: &str, lost: &str) -> Part {
    let policy = policy.to_string();
    agent.warn(
        &format!("{what} hotfix not taken because of the hotfix policy"),
        &[("version", Text(version)), ("policy", Text(&policy)), ("lost", Text(lost))],
    );
    Part { text: format!("{version} not taken (policy {policy}): {lost}"), failed: None }
}

fn apply_scripts(agent: &mut Agent<'_>, policy: Policy, asked: &str) -> Part {
    if asked.is_empty()
        || !applies(agent, asked, "script version not targeted by hotfix, skipping scripts")
    {
        return Part::none();
    }
    if policy == Policy::Off {
        return not_taken(agent, "script", policy, asked, "the image's scripts run");
    }
    match put_in_place(agent, asked) {
        Ok(None) => {
            agent.warn(
                "no nodecustomdata.yml, skipping script hotfix",
                &[("version", Text(asked)), ("path", Text(NODE_CUSTOM_DATA))],
            );
            Part { text: format!("{asked} not applied (no nodecustomdata.yml)"), failed: None }
        }
        Ok(Some(count)) => {
            agent.info(
                "applied script hotfix",
                &[("version", Text(asked)), ("files", Text(&count.to_string()))],
            );
            Part { text: format!("{asked} ({count} files)"), failed: None }
        }
        Err(error) => {
            agent.warn(
                "failed to apply script hotfix, no script was changed",
                &[("version", Text(asked)), ("error", Text(&error))],
            );
            Part { text: format!("{asked} failed: {error}"), failed: Some(0) }
        }
    }
}

/// Decodes and checks every file, then puts all of them in place. `None` without custom data.
fn put_in_place(agent: &mut Agent<'_>, version: &str) -> Result<Option<usize>, String> {
    let path = agent.layout.at(NODE_CUSTOM_DATA);
    let text = match agent.world.read(&path, write_files::MAX_YAML_BYTES) {
        Ok(text) => text,
        Err(ReadFailure::Open(error)) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(None);
        }
        Err(failure) => return Err(read_failure(NODE_CUSTOM_DATA.as_ref(), &failure)),
    };
    let files = write_files::read(&text).map_err(|error| format!("{NODE_CUSTOM_DATA}: {error}"))?;
    scripts::apply(agent.world, &agent.layout, version, files).map(Some)
}

fn take_binary(agent: &mut Agent<'_>, policy: Policy, pointer: &Pointer) -> Part {
    let Some(asked) = pointer.agent_version(agent.version) else {
        agent.info("hotfix config does not request a version, skipping download", &[]);
        return Part::none();
    };
    if !applies(agent, asked, "ANC version not targeted by hotfix, skipping download") {
        return Part::none();
    }
    if policy != Policy::Full {
        return not_taken(agent, "binary", policy, asked, NOT_APPLIED);
    }
    match agent_package::take(agent, asked) {
        Ok(version) => Part { text: version, failed: None },
        Err(failure) => Part {
            text: format!("{asked} failed: {}", failure.text),
            failed: Some(failure.exit_code),
        },
    }
}

/// Runs `apply-embedded-hotfix`: upstream's patched agents have scripts inside, this one has none.
pub(crate) fn apply_embedded_hotfix(agent: &mut Agent<'_>) -> u8 {
    agent.info("no script hotfix is embedded in this agent; nothing to apply", &[]);
    0
}

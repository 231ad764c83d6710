//! The agent of a hotfix: installed, verified including its version, and only then made available to the launcher.

use std::path::Path;

use mooring_redact::identifier;

use super::package::{Failure, install};
use super::record;
use super::replace::write_temporary;
use super::version::PackageVersion;
use crate::format::go_text::{path_error, read_failure};
use crate::node::agent::Agent;
use crate::node::log::LogValue::Text;
use crate::node::paths::{AGENT, CONTAINERS_DIR, HOTFIX_AGENT};
use crate::node::program::examine_program;
use crate::world::Replace;

/// The agent that the package installs.
const PACKAGED: &str = "/usr/bin/aks-node-controller";
/// The agent's name until it is examined.
const TEMPORARY: &str = ".aks-node-controller-update-new";
/// Some five times the size of Microsoft's agent.
const MAX_BYTES: u64 = 64 << 20;

/// Installs the package and leaves its agent where the launcher prefers it; returns the version.
pub(super) fn take(agent: &mut Agent<'_>, asked: &str) -> Result<String, Failure> {
    let version = PackageVersion::parse(asked).map(|version| version.core);
    let version = version.ok_or_else(|| format!("not a version: {}", identifier(asked)))?;
    let attributes = [("current", Text(agent.version)), ("target", Text(&version))];
    agent.info("downloading ANC hotfix", &attributes);
    install(agent, &version)?;
    place(agent, &version)?;
    agent
        .info("downloaded ANC hotfix", &[("target", Text(&version)), ("path", Text(HOTFIX_AGENT))]);
    Ok(version)
}

fn place(agent: &mut Agent<'_>, version: &str) -> Result<(), String> {
    let world = &mut *agent.world;
    let bytes = world
        .read(&agent.layout.at(PACKAGED), MAX_BYTES)
        .map_err(|failure| read_failure(PACKAGED.as_ref(), &failure))?;
    let mode = world
        .entry(&agent.layout.at(AGENT))
        .map_err(|error| path_error("stat", AGENT.as_ref(), &error))?
        .mode;
    let folder = agent.layout.at(CONTAINERS_DIR);
    let beside = folder.join(TEMPORARY);
    let placed = write_temporary(world, &beside, &bytes, mode)
        .map_err(|error| path_error("write", HOTFIX_AGENT.as_ref(), &error))
        .and_then(|()| examine(agent, &beside, version))
        .and_then(|()| {
            let target = agent.layout.at(HOTFIX_AGENT);
            agent
                .world
                .rename(&beside, &target, Replace::Yes)
                .map_err(|error| path_error("rename", HOTFIX_AGENT.as_ref(), &error))
        });
    if placed.is_err() {
        let _ = agent.world.remove(&beside);
        return placed;
    }
    let _ = agent.world.sync(&folder);
    let mut record = record::read(agent.world, &agent.layout).unwrap_or_default();
    version.clone_into(&mut record.binary);
    // Without it only the version in the report is missing.
    let _ = record.write(agent.world, &agent.layout);
    Ok(())
}

/// Rejects a file that is not a complete binary for this host, or has another version.
fn examine(agent: &mut Agent<'_>, path: &Path, version: &str) -> Result<(), String> {
    examine_program(agent.world, path).map_err(|state| format!("{PACKAGED}: {state}"))?;
    let printed = agent
        .world
        .probe(&path.to_string_lossy(), &["version".as_ref()])
        .and_then(|probe| probe())
        .map_err(|error| path_error("exec", PACKAGED.as_ref(), &error))?;
    let printed = String::from_utf8_lossy(&printed);
    if printed.trim() == version {
        return Ok(());
    }
    let printed: String = printed.trim().chars().take(100).collect();
    Err(format!("{PACKAGED} is of version `{}`, not {version}", identifier(&printed)))
}

//! The agent of a hotfix: Microsoft's package is installed with the node's package manager, within one time budget; its agent
//! is verified, including its version, and only then made available to the launcher.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use mooring_contract::json::lossy;
use mooring_redact::{Secret, identifier};

use crate::format::{child_error, path_error, read_failure};
use crate::hotfix::read_version;
use crate::hotfix::scripts::read_record;
use crate::node::agent::Agent;
use crate::node::agent::LogValue::{Number, Text};
use crate::node::inputs::TimeBudget;
use crate::node::paths::{AGENT, CONTAINERS_DIR, HOTFIX_AGENT};
use crate::node::program::examine_program;
use crate::node::report::write_temporary;
use crate::world::{ChildStatus, EntryKind, Replace, Tool};

/// The agent that the package installs.
const PACKAGED: &str = "/usr/bin/aks-node-controller";
/// The agent's name until it is examined.
const TEMPORARY: &str = ".aks-node-controller-update-new";
/// Some five times the size of Microsoft's agent.
const MAX_BYTES: u64 = 64 << 20;

/// Installs the package and leaves its agent where the launcher prefers it; returns the version.
pub(super) fn take(agent: &mut Agent<'_>, asked: &str) -> Result<String, Failure> {
    if read_version(asked).is_none() {
        return Err(format!("not a version: {}", identifier(asked)).into());
    }
    // Digits and dots only, zeros kept: the package is named so.
    let version = asked.trim().trim_start_matches('v').split(['-', '+']).next().unwrap_or_default();
    let attributes = [("current", Text(agent.version)), ("target", Text(version))];
    agent.info("downloading ANC hotfix", &attributes);
    install(agent, version)?;
    place(agent, version)?;
    agent.info("downloaded ANC hotfix", &[("target", Text(version)), ("path", Text(HOTFIX_AGENT))]);
    Ok(version.to_owned())
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
    let mut record = read_record(agent.world, &agent.layout).unwrap_or_default();
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

/// The package, and the name of what it installs.
const PACKAGE: &str = "aks-node-controller";
const OS_RELEASE: &str = "/etc/os-release";
/// Files that configure Microsoft's repository, in either format.
const SOURCES: [&str; 2] = [
    "/etc/apt/sources.list.d/microsoft-prod.list",
    "/etc/apt/sources.list.d/microsoft-prod.sources",
];
/// Larger than any such file.
const MAX_OS_RELEASE_BYTES: u64 = 64 * 1024;

const ATTEMPTS: u32 = 5;
const ATTEMPT_TIMEOUT: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_secs(3);
/// All commands and pauses together. `provision-wait` has 780 seconds from the start of the CSE, of which a bootstrap
/// needs some three minutes.
const TOTAL: Duration = Duration::from_mins(5);

/// The end of a package manager's output contains its error.
const SHOWN_BYTES: usize = 512;

/// A failed installation, with the exit code of the command.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) text: String,
    pub(super) exit_code: u8,
}

impl From<String> for Failure {
    fn from(text: String) -> Self {
        Self { text, exit_code: 1 }
    }
}

struct Step {
    program: &'static str,
    arguments: Vec<String>,
}

/// Installs exactly this version, digits and dots.
pub(super) fn install(agent: &mut Agent<'_>, version: &str) -> Result<(), Failure> {
    let steps = steps(agent, version)?;
    let budget = TimeBudget::begin(agent, TOTAL);
    for step in &steps {
        run(agent, step, &budget)?;
    }
    Ok(())
}

fn steps(agent: &mut Agent<'_>, version: &str) -> Result<Vec<Step>, String> {
    let text = agent
        .world
        .read(&agent.layout.at(OS_RELEASE), MAX_OS_RELEASE_BYTES)
        .map_err(|failure| read_failure(OS_RELEASE.as_ref(), &failure))?;
    let text = lossy(&text);
    let id = text.lines().find_map(|line| line.trim().strip_prefix("ID="));
    let id = id.map(|id| id.trim_matches('"').to_ascii_lowercase());
    match id.as_deref() {
        Some("ubuntu") => apt_steps(agent, version),
        Some("azurelinux" | "mariner") => {
            let program = if is_on_path(agent, "dnf") { "dnf" } else { "tdnf" };
            let package = format!("{PACKAGE}-{version}");
            let words = ["install", "-y", "--refresh", "--allowerasing", &package];
            Ok(vec![Step { program, arguments: owned(&words) }])
        }
        Some(other) => Err(format!("unsupported OS: {}", mooring_redact::identifier(other))),
        None => Err(format!("ID not found in {OS_RELEASE}")),
    }
}

fn apt_steps(agent: &mut Agent<'_>, version: &str) -> Result<Vec<Step>, String> {
    let source = SOURCES.iter().find(|source| agent.world.kind(&agent.layout.at(source)).is_ok());
    let Some(source) = source else {
        return Err(format!("neither {} nor {} exists", SOURCES[0], SOURCES[1]));
    };
    let keep = ["-o", "Dpkg::Options::=--force-confold"];
    let source = format!("Dir::Etc::sourcelist={source}");
    // The dash ends the version: `1*` would also be 10 to 19. What follows it names the distribution.
    let package = format!("{PACKAGE}={version}-*");
    let update =
        [&["update"], &keep[..], &["-o", &source, "-o", "Dir::Etc::sourceparts=-"]].concat();
    let install = [&["install", "-y", "--allow-downgrades"], &keep[..], &[&package]].concat();
    let configure = ["--configure", "-a", "--force-confdef", "--force-confold"];
    Ok(vec![
        Step { program: "dpkg", arguments: owned(&configure) },
        Step { program: "apt-get", arguments: owned(&update) },
        Step { program: "apt-get", arguments: owned(&install) },
    ])
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn is_on_path(agent: &mut Agent<'_>, program: &str) -> bool {
    let path = agent.world.variable("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| {
        agent.world.kind(&folder.join(program)).is_ok_and(|kind| kind == EntryKind::File)
    })
}

/// Runs a command until it succeeds, its attempts are used up, or the budget is.
fn run(agent: &mut Agent<'_>, step: &Step, budget: &TimeBudget) -> Result<(), Failure> {
    let Step { program, arguments } = step;
    let mut last = Failure { text: format!("{program}: no time left"), exit_code: 255 };
    for attempt in 1..=ATTEMPTS {
        let left = budget.remaining(agent.world.monotonic());
        if left.is_zero() {
            break;
        }
        last = match run_once(agent, step, left.min(ATTEMPT_TIMEOUT)) {
            Ok(()) => return Ok(()),
            Err(failure) => failure,
        };
        agent.warn(
            "command failed, retrying",
            &[
                ("command", Text(program)),
                ("args", Text(&arguments.join(" "))),
                ("attempt", Number(attempt.into())),
                ("maxRetries", Number(ATTEMPTS.into())),
                ("error", Text(&last.text)),
            ],
        );
        if attempt < ATTEMPTS && budget.remaining(agent.world.monotonic()) > PAUSE {
            agent.world.sleep(PAUSE);
        }
    }
    Err(last)
}

fn run_once(agent: &mut Agent<'_>, step: &Step, limit: Duration) -> Result<(), Failure> {
    let Step { program, arguments } = step;
    let tool = Tool {
        program: Path::new(program),
        arguments: arguments.iter().map(OsString::from).collect(),
        variables: vec![("DEBIAN_FRONTEND", "noninteractive".into())],
        input: &Secret::from(""),
        limit,
    };
    let end = agent
        .world
        .run_tool(&tool)
        .map_err(|error| path_error("exec", program.as_ref(), &error))?;
    let (error, exit_code) = match end.status {
        Some(ChildStatus::Exited(0)) => return Ok(()),
        Some(status @ ChildStatus::Exited(code)) => {
            (child_error(status), u8::try_from(code).unwrap_or(1))
        }
        Some(status @ ChildStatus::Signaled { .. }) => (child_error(status), 255),
        None => (Some(format!("killed after {} s", limit.as_secs())), 255),
    };
    let output = lossy(&end.output);
    let from = output.ceil_char_boundary(output.len().saturating_sub(SHOWN_BYTES));
    let output = agent.redactor.redact_foreign(output[from..].trim());
    let text = format!("{program}: {}: {output}", error.unwrap_or_default());
    Err(Failure { text, exit_code })
}

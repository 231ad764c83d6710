//! Check for oras. An image was published without it, and the node reported a network timeout.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

use mooring_codes::image_date;
use mooring_redact::Secret;

use super::check::PreflightVerdict;
use super::program::{Candidate, at, in_path, search_path};
use super::{ConfigState, PreflightFacts, PreflightFinding};
use crate::VERSION;
use crate::cli::PreflightStage;
use crate::format::go_text::{child_error, os_error};
use crate::node::agent::Agent;
use crate::node::program::ProgramState;
use crate::world::{ChildStatus, Tool, ToolEnd, World};

const USUAL: [&str; 3] = ["/usr/local/bin/oras", "/usr/bin/oras", "/opt/bin/oras"];

/// More than any release file has.
const MAX_OS_RELEASE_BYTES: u64 = 64 * 1024;

/// Timeout of `oras version`: milliseconds, except on the cold disk of a booting node.
const START_LIMIT: Duration = Duration::from_secs(10);

/// The check. A node that needs oras also starts it once: a file can be whole in length and still be broken.
pub(super) fn oras(world: &mut dyn World, facts: &PreflightFacts<'_>) -> PreflightFinding {
    let is_needed = facts.config.bootstrap_registry().is_some();
    match locate(world, facts) {
        Ok(path) if is_needed && facts.stage == PreflightStage::Node => start(world, facts, path),
        Ok(path) => PreflightFinding::pass(format!("oras is {}", path.display())),
        Err(found) => {
            missing(world, facts, found, is_needed || facts.stage == PreflightStage::Image)
        }
    }
}

/// Runs `oras version`, with nothing of this process's environment but `PATH` and `HOME`.
fn start(world: &mut dyn World, facts: &PreflightFacts<'_>, path: PathBuf) -> PreflightFinding {
    let shown = path.display().to_string();
    let ended = world.run_tool(&Tool {
        program: &path,
        arguments: vec!["version".into()],
        variables: Vec::new(),
        input: &Secret::from(""),
        limit: START_LIMIT,
    });
    let why = match &ended {
        Ok(ToolEnd { status: Some(ChildStatus::Exited(0)), .. }) => {
            return PreflightFinding::pass(format!("oras is {shown}, and it starts"));
        }
        Ok(ToolEnd { status: None, .. }) => {
            let seconds = START_LIMIT.as_secs();
            return PreflightFinding::warning(
                format!("`{shown} version` did not end within {seconds} s"),
                "if the bootstrap fails, suspect the image or its disk first",
            );
        }
        Ok(ToolEnd { status: Some(status), .. }) => child_error(*status).unwrap_or_default(),
        Err(error) => os_error(error),
    };
    let place = Candidate { path, state: ProgramState::DoesNotStart { why } };
    missing(world, facts, vec![place], true)
}

/// Returns the oras that a shell would run; the error starts with the code's name and contains the evidence.
pub(crate) fn find_oras(agent: &mut Agent<'_>) -> Result<PathBuf, String> {
    let layout = agent.layout.clone();
    let facts = PreflightFacts::of_node(&layout, agent.version, ConfigState::None);
    locate(agent.world, &facts).map_err(|found| {
        let finding = missing(agent.world, &facts, found, true);
        let evidence = finding.evidence.join("; ");
        format!("ERR_ORAS_BINARY_NOT_FOUND: {} ({evidence})", finding.summary)
    })
}

/// The oras that a shell would run, or everything of this name that it would not.
fn locate(world: &mut dyn World, facts: &PreflightFacts<'_>) -> Result<PathBuf, Vec<Candidate>> {
    let found = in_path(world, facts, "oras");
    // A shell passes over what it cannot execute, but not over what fails when it is started.
    let runs = found.iter().find(|place| {
        !matches!(
            place.state,
            ProgramState::NotExecutable { .. } | ProgramState::NotAFile | ProgramState::Dangling(_)
        )
    });
    match runs {
        Some(place) if place.state == ProgramState::Good => Ok(place.path.clone()),
        _ => Err(found),
    }
}

/// Returns evidence, regardless of the result.
fn missing(
    world: &mut dyn World,
    facts: &PreflightFacts<'_>,
    found: Vec<Candidate>,
    is_needed: bool,
) -> PreflightFinding {
    let registry = facts.config.bootstrap_registry();
    let verdict = if is_needed { PreflightVerdict::Fatal } else { PreflightVerdict::Warning };
    let mut places = found;
    for usual in USUAL {
        if !places.iter().any(|place| place.path.as_os_str() == usual) {
            places.push(at(world, facts, usual));
        }
    }
    let summary = summary(&places, facts.stage, registry.as_deref());
    let mut evidence = vec![format!("PATH is {}", search_path(world, facts.stage))];
    evidence
        .extend(places.iter().map(|place| format!("{}: {}", place.path.display(), place.state)));
    evidence.push(os_release(world, facts));
    // A package manager is slower than all other checks together.
    if verdict == PreflightVerdict::Fatal {
        evidence.push(package(world, facts));
    }
    evidence.extend(image_version(VERSION));
    let action = match verdict {
        PreflightVerdict::Fatal => {
            "use an image version that has oras; `az aks nodepool rollback` returns a pool to its last one"
        }
        _ => "nothing now: this node does not need oras; report it to the owner of the image",
    };
    PreflightFinding { verdict, summary, evidence, action }
}

/// Describes the fault of the best candidate and its effect.
fn summary(places: &[Candidate], stage: PreflightStage, registry: Option<&str>) -> String {
    let best = places.iter().find(|place| place.state != ProgramState::Missing);
    let what = match best {
        None => "oras is missing on this image".to_owned(),
        Some(Candidate { path, state: ProgramState::Good }) => {
            format!("oras is at {}, which is not in PATH", path.display())
        }
        Some(Candidate { path, state }) => format!("oras at {} is {state}", path.display()),
    };
    match (registry, stage) {
        (Some(registry), _) => {
            let registry = mooring_redact::identifier(registry);
            format!("{what}, and this node needs it to pull from {registry}")
        }
        (None, PreflightStage::Image) => {
            format!("{what}, and network-isolated nodes cannot boot without it")
        }
        (None, PreflightStage::Node) => what,
    }
}

fn os_release(world: &mut dyn World, facts: &PreflightFacts<'_>) -> String {
    let text = world.read(&facts.layout.at("/etc/os-release"), MAX_OS_RELEASE_BYTES);
    let text = String::from_utf8_lossy(&text.unwrap_or_default()).into_owned();
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        line.map(|value| mooring_redact::identifier(value.trim_matches('"')))
    };
    match (value("PRETTY_NAME"), value("VERSION_ID")) {
        (Some(name), Some(version)) => format!("operating system: {name} ({version})"),
        (Some(name), None) => format!("operating system: {name}"),
        _ => "operating system: unknown (/etc/os-release)".to_owned(),
    }
}

/// Returns the package manager's record, if it exists.
fn package(world: &mut dyn World, facts: &PreflightFacts<'_>) -> String {
    let root = facts.layout.root().filter(|_| facts.stage == PreflightStage::Image);
    let rpm_root = root.map(|root| root.as_os_str().to_owned());
    let dpkg_folder = root.map(|root| root.join("var/lib/dpkg").into_os_string());
    let mut rpm: Vec<&OsStr> = Vec::new();
    if let Some(root) = &rpm_root {
        rpm.extend([OsStr::new("--root"), root]);
    }
    rpm.extend(["-q", "oras"].map(OsStr::new));
    let mut dpkg: Vec<&OsStr> = Vec::new();
    if let Some(folder) = &dpkg_folder {
        dpkg.extend([OsStr::new("--admindir"), folder]);
    }
    dpkg.extend(["-W", "-f=${Package} ${Version}", "oras"].map(OsStr::new));
    for (program, arguments) in [("rpm", rpm), ("dpkg-query", dpkg)] {
        let Ok(answer) = world.probe(program, &arguments) else { continue };
        let answer = String::from_utf8_lossy(&answer).trim().to_owned();
        if !answer.is_empty() && !answer.contains("not installed") {
            return format!("package ({program}): {}", mooring_redact::identifier(&answer));
        }
        return format!("package ({program}): oras is not installed");
    }
    "package: unknown (rpm and dpkg-query failed)".to_owned()
}

/// Images stamp the agent with their own version.
fn image_version(version: &str) -> Option<String> {
    image_date(version).ok().map(|_| format!("image version: {version}"))
}

#[cfg(test)]
mod tests {
    use super::image_version;

    #[test]
    fn version_of_an_image_is_evidence_and_that_of_a_release_is_not() {
        assert_eq!(image_version("202601.27.0").as_deref(), Some("image version: 202601.27.0"));
        assert_eq!(image_version("0.2.0"), None);
    }
}

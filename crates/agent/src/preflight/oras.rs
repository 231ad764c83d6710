//! Check for oras. An image was published without it, and the node reported a network timeout.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

use mooring_codes::image_date;
use mooring_redact::Secret;

use crate::VERSION;
use crate::format::{child_error, os_error, read_failure};
use crate::node::agent::Agent;
use crate::node::paths::PreflightStage;
use crate::node::program::{
    Candidate, PathTarget, ProgramState, at, in_path, resolve, search_path,
};
use crate::preflight::{ConfigState, PreflightFacts, PreflightFinding, PreflightVerdict};
use crate::world::{ChildStatus, Tool, ToolEnd, World};

const USUAL: [&str; 3] = ["/usr/local/bin/oras", "/usr/bin/oras", "/opt/bin/oras"];

const OS_RELEASE: &str = "/etc/os-release";

/// More than any release file has.
const MAX_OS_RELEASE_BYTES: u64 = 64 * 1024;

/// Timeout of `oras version`: milliseconds, except on the cold disk of a booting node.
const START_LIMIT: Duration = Duration::from_secs(10);

/// Timeout of a package manager: milliseconds, on a cold disk a second.
const QUERY_LIMIT: Duration = Duration::from_secs(5);

const NOT_AVAILABLE: &str = "not available";

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

/// Returns the oras that a shell would run; the error contains the evidence.
pub(crate) fn find_oras(agent: &mut Agent<'_>) -> Result<PathBuf, String> {
    let layout = agent.layout.clone();
    let facts = PreflightFacts::of_node(&layout, agent.version, ConfigState::None);
    locate(agent.world, &facts).map_err(|found| {
        let finding = missing(agent.world, &facts, found, true);
        let evidence = finding.evidence.join("; ");
        format!("{} ({evidence})", finding.summary)
    })
}

/// The oras that a shell would run, or everything of this name that it would not.
fn locate(world: &mut dyn World, facts: &PreflightFacts<'_>) -> Result<PathBuf, Vec<Candidate>> {
    let found = in_path(world, facts.site(), "oras");
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
            places.push(at(world, facts.site(), usual));
        }
    }
    let summary = summary(&places, facts.stage, registry.as_deref());
    let mut evidence = vec![format!("PATH is {}", search_path(world, facts.stage))];
    evidence
        .extend(places.iter().map(|place| format!("{}: {}", place.path.display(), place.state)));
    evidence.extend(os_release(world, facts));
    // A package manager is slower than all other checks together.
    if verdict == PreflightVerdict::Fatal {
        evidence.extend(MANAGERS.iter().map(|manager| manager.describe(world, facts)));
    }
    evidence.extend(image_version(VERSION));
    let action = match (verdict, facts.stage) {
        (PreflightVerdict::Fatal, PreflightStage::Image) => {
            "install oras for the architecture of the image, in a directory of this PATH, and run this check again"
        }
        (PreflightVerdict::Fatal, PreflightStage::Node) => {
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

/// Returns the whole file, which names the image.
fn os_release(world: &mut dyn World, facts: &PreflightFacts<'_>) -> Vec<String> {
    match world.read(&facts.layout.at(OS_RELEASE), MAX_OS_RELEASE_BYTES) {
        Ok(text) => {
            let text = String::from_utf8_lossy(&text).into_owned();
            let lines = text.lines().map(|line| format!("  {}", mooring_redact::printable(line)));
            std::iter::once(format!("{OS_RELEASE}:")).chain(lines).collect()
        }
        Err(failure) => vec![read_failure(OS_RELEASE.as_ref(), &failure)],
    }
}

/// A package manager: its query, and how it says that it knows no oras.
struct PackageManager {
    program: &'static str,
    /// Option that names the database, and places of the database in an image.
    database: (&'static str, &'static [&'static str]),
    query: &'static [&'static str],
    not_installed: &'static str,
}

const MANAGERS: [PackageManager; 2] = [
    PackageManager {
        program: "rpm",
        database: ("--dbpath", &["/var/lib/rpm", "/usr/lib/sysimage/rpm"]),
        query: &["-q", "oras"],
        not_installed: "package oras is not installed",
    },
    PackageManager {
        program: "dpkg-query",
        database: ("--admindir", &["/var/lib/dpkg"]),
        query: &["-W", "-f=${Package} ${Version}", "oras"],
        not_installed: "dpkg-query: no packages found matching oras",
    },
];

impl PackageManager {
    fn describe(&self, world: &mut dyn World, facts: &PreflightFacts<'_>) -> String {
        format!("package ({}): {}", self.program, self.ask(world, facts))
    }

    /// A manager that the image does not have has no record; one that fails has said nothing.
    fn ask(&self, world: &mut dyn World, facts: &PreflightFacts<'_>) -> String {
        let mut arguments: Vec<OsString> = Vec::new();
        let is_image = facts.stage == PreflightStage::Image && facts.layout.root().is_some();
        if is_image {
            let (option, places) = self.database;
            let place = places.iter().find_map(|place| {
                match resolve(world, facts.layout.root(), place.as_ref()) {
                    PathTarget::There { path, .. } => Some(path),
                    _ => None,
                }
            });
            let Some(place) = place else { return NOT_AVAILABLE.to_owned() };
            arguments.extend([option.into(), place.into_os_string()]);
        }
        arguments.extend(self.query.iter().map(Into::into));
        let ended = world.run_tool(&Tool {
            program: self.program.as_ref(),
            arguments,
            variables: Vec::new(),
            input: &Secret::from(""),
            limit: QUERY_LIMIT,
        });
        let end = match ended {
            Ok(end) => end,
            Err(error) if error.kind() == ErrorKind::NotFound && !is_image => {
                return NOT_AVAILABLE.to_owned();
            }
            Err(error) => return format!("unknown ({} here: {})", self.program, os_error(&error)),
        };
        let text = mooring_redact::identifier(String::from_utf8_lossy(&end.output).trim());
        match end.status {
            Some(ChildStatus::Exited(0)) if !text.is_empty() => text,
            Some(ChildStatus::Exited(1)) if text == self.not_installed => {
                "oras is not installed".to_owned()
            }
            None => format!("unknown (no answer within {} s)", QUERY_LIMIT.as_secs()),
            Some(status) => {
                let status = child_error(status).unwrap_or_else(|| "no output".to_owned());
                format!("unknown ({status}: {text})")
            }
        }
    }
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

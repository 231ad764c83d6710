//! Command of the bootstrap: the scripts with a computed environment, or an NBC command, checked before it runs, and
//! compared with the config afterwards.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use mooring_codes::image_date;
use mooring_contract::{NodeConfig, node_config};
use mooring_redact::Redactor;

use crate::cli::ProvisionFlags;
use crate::environment::{self, Built, NulError, Root, command};
use crate::format::{path_error, read_failure};
use crate::node::agent::LogValue::{Number, Text};
use crate::node::agent::{Agent, EventLevel, Task};
use crate::node::inputs::{self, ContainerdProbe, MAX_FILE_BYTES, read_components};
use crate::node::nbc::{self, ConfigComparison};
use crate::node::paths::COMPONENTS;
use crate::preflight::{self, PreflightFacts, PreflightVerdict};
use crate::provision::result::{Failure, NOT_STARTED};
use crate::world::{ChildSpec, EntryKind, World};

/// Something ready to be run.
pub(super) struct Prepared {
    /// The child, or why it cannot be started.
    pub(super) child: Result<ChildSpec, String>,
    /// The command line as `--dry-run` shows it.
    pub(super) shown: String,
}

/// Reads and checks the inputs. From here on the agent knows which values are secrets.
pub(super) fn prepare(agent: &mut Agent<'_>, flags: &ProvisionFlags) -> Result<Prepared, Failure> {
    match (&flags.nbc_command, &flags.config) {
        (Some(nbc), config) => prepare_nbc(agent, nbc, config.as_deref()),
        (None, Some(config)) => prepare_config(agent, config),
        (None, None) => {
            let error = "--provision-config or --nbc-cmd is required".to_owned();
            Err(Failure::before_start(error))
        }
    }
}

fn prepare_nbc(
    agent: &mut Agent<'_>,
    typed: &Path,
    config: Option<&Path>,
) -> Result<Prepared, Failure> {
    let text = read_nbc(agent.world, typed).map_err(Failure::before_start)?;
    agent.redactor = inputs::of_node(agent.world, &agent.layout, config, Some(typed));
    let path = clean(typed);
    let shown = path.display().to_string();
    agent.info("Using NBC command for scriptless phase 2", &[("NBCCmdFile", Text(&shown))]);
    check(agent, preflight::ConfigState::nbc(text))?;
    let child = ChildSpec {
        program: command::PROGRAM,
        arguments: vec!["--".into(), path.into_os_string()],
        variables: Vec::new(),
    };
    Ok(Prepared { child: Ok(child), shown: format!("{} -- {shown}", command::PROGRAM) })
}

/// An NBC command. What cannot be read cannot be redacted, and is not run.
fn read_nbc(world: &mut dyn World, typed: &Path) -> Result<Vec<u8>, String> {
    let shown = typed.display();
    match world.kind(typed) {
        Err(error) => {
            let error = path_error("stat", typed, &error);
            Err(format!("read NBC command file {shown}: {error}"))
        }
        Ok(EntryKind::File) => world.read(typed, MAX_FILE_BYTES).map_err(|failure| {
            format!("read NBC command file {shown}: {}", read_failure(typed, &failure))
        }),
        Ok(_) => Err(format!("NBC command file {shown} must be a regular file")),
    }
}

fn prepare_config(agent: &mut Agent<'_>, typed: &Path) -> Result<Prepared, Failure> {
    let containerd = ContainerdProbe::start(agent.world);
    let config = read_config(agent, typed).map_err(Failure::before_start)?;
    // Found once: walking a large config is most of what a dry run costs.
    let exposed = config.expose_secrets();
    let is_masked = inputs::hold_mask(&exposed);
    agent.redactor = Redactor::new(exposed);
    check_version(agent, &config).map_err(Failure::before_start)?;
    if is_masked {
        let error = format!("provision file {}: {}", typed.display(), inputs::MASKED_CONFIG);
        return Err(Failure::before_start(error));
    }
    let path = typed.to_owned();
    check(agent, preflight::ConfigState::Read { path, config: Cow::Borrowed(&config) })?;
    prepare_child(agent, &config, containerd).map_err(Failure::before_start)
}

fn prepare_child(
    agent: &mut Agent<'_>,
    config: &NodeConfig,
    containerd: ContainerdProbe,
) -> Result<Prepared, String> {
    let root = match agent.layout.root() {
        None => None,
        Some(root) => {
            let root = Root::new(&root.to_string_lossy());
            Some(root.map_err(|error| format!("--root: {error}"))?)
        }
    };
    let child = build(agent, config, containerd)?.map(|environment| ChildSpec {
        program: command::PROGRAM,
        arguments: vec![command::FLAG.into(), command::script(root.as_ref()).into()],
        variables: match &root {
            None => environment.into_exposed().collect(),
            Some(root) => environment.prefixed_paths(root).into_exposed().collect(),
        },
    });
    // Message of the upstream Go agent, which fails when it starts the child.
    let child = child.map_err(|_| "exec: environment variable contains NUL".to_owned());
    Ok(Prepared { child, shown: command::line(None) })
}

/// Reads a config, and logs what in it this agent does not know.
pub(super) fn read_config(agent: &mut Agent<'_>, typed: &Path) -> Result<NodeConfig, String> {
    let shown = typed.display();
    let text = agent.world.read(typed, MAX_FILE_BYTES).map_err(|failure| {
        format!("open provision file {shown}: {}", read_failure(typed, &failure))
    })?;
    let parsed = node_config::parse(&text)
        .map_err(|error| format!("parse provision file {shown}: {error}"))?;
    for warning in &parsed.warnings {
        agent.warn("ignored in the provision config", &[("field", Text(&warning.to_string()))]);
    }
    if parsed.warnings_dropped > 0 {
        let more = i64::try_from(parsed.warnings_dropped).unwrap_or(i64::MAX);
        agent.warn("more was ignored in the provision config", &[("count", Number(more))]);
    }
    Ok(parsed.config)
}

pub(super) fn check_version(agent: &mut Agent<'_>, config: &NodeConfig) -> Result<(), String> {
    if !config.has_supported_version() {
        return Err(format!("unsupported version: {}", config.version));
    }
    if config.version == "v0" {
        agent.error("v0 version is deprecated, please use v1 instead", &[]);
    }
    Ok(())
}

/// Builds the environment from a config and the components of this node.
pub(super) fn build(
    agent: &mut Agent<'_>,
    config: &NodeConfig,
    containerd: ContainerdProbe,
) -> Result<Result<environment::Environment, NulError>, String> {
    let gpu_images = read_components(agent.world, &agent.layout.at(COMPONENTS), COMPONENTS)?;
    let (containerd, warning) = containerd.end();
    if let Some(warning) = warning {
        agent.warn(warning, &[]);
    }
    let image = image_date(agent.version).ok();
    let built = environment::build(config, &gpu_images, containerd, image);
    Ok(built.map(|Built { environment, note }| {
        if let Some(note) = note {
            agent.info(&note, &[]);
        }
        environment
    }))
}

/// A path without `.`, doubled separators and, where that is sure, `..`; nothing is looked up.
fn clean(path: &Path) -> PathBuf {
    let mut cleaned = PathBuf::new();
    for component in path.components() {
        match (component, cleaned.components().next_back()) {
            (Component::CurDir, _) | (Component::ParentDir, Some(Component::RootDir)) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => {
                cleaned.pop();
            }
            (component, _) => cleaned.push(component),
        }
    }
    if cleaned.as_os_str().is_empty() { PathBuf::from(".") } else { cleaned }
}

/// Runs the checks that `provision` does not do itself: it has read an earlier run's result, the hotfix state and
/// the config, and will read the component list.
pub(super) fn check(
    agent: &mut Agent<'_>,
    config: preflight::ConfigState<'_>,
) -> Result<(), Failure> {
    let checks = preflight::CHECKS
        .iter()
        .filter(|check| !matches!(check.name, "left-over" | "config" | "components" | "hotfix"));
    let layout = agent.layout.clone();
    let facts = PreflightFacts::of_node(&layout, agent.version, config);
    let results = preflight::run(agent.world, &facts, checks);
    for (check, finding) in &results {
        let evidence = finding.evidence.join("; ");
        let attributes = [
            ("check", Text(check.name)),
            ("evidence", Text(&evidence)),
            ("action", Text(finding.action)),
        ];
        let message = format!("preflight: {}", finding.summary);
        match finding.verdict {
            PreflightVerdict::Warning => agent.warn(&message, &attributes),
            PreflightVerdict::Fatal => agent.error(&message, &attributes),
            PreflightVerdict::Pass | PreflightVerdict::Skipped => {}
        }
    }
    match preflight::first_fatal(&results) {
        Some((check, finding)) => Err(Failure::preflight(
            check.code.unwrap_or(NOT_STARTED),
            &finding.summary,
            preflight::report(&results),
        )),
        None => Ok(()),
    }
}

/// Logs the differences between the config and the NBC command. Best effort: the result of the
/// bootstrap does not change.
pub(super) fn compare(agent: &mut Agent<'_>, flags: &ProvisionFlags) {
    let (Some(config), Some(nbc)) = (&flags.config, &flags.nbc_command) else { return };
    agent.info("ProvisionConfig and NBCCmd both provided, comparing envs", &[]);
    match compared(agent, config, nbc) {
        Ok(comparison) => {
            agent.info(&comparison.log_message(), &[]);
            let (event, now) = (comparison.event_message(), agent.world.now());
            agent.event(Task::CompareEnvs, EventLevel::Informational, &event, now);
        }
        Err(error) => agent.error(
            "compareEnvs: failed to build cmd from provision config",
            &[("error", Text(&error))],
        ),
    }
}

fn compared(agent: &mut Agent<'_>, config: &Path, nbc: &Path) -> Result<ConfigComparison, String> {
    let containerd = ContainerdProbe::start(agent.world);
    let config = read_config(agent, config)?;
    check_version(agent, &config)?;
    let environment = build(agent, &config, containerd)?.map_err(|error| error.to_string())?;
    let text = agent.world.read(nbc, MAX_FILE_BYTES);
    let text = text.map_err(|failure| read_failure(nbc, &failure))?;
    let inherited: Vec<(String, String)> =
        agent.world.environment().into_iter().filter_map(text_pair).collect();
    let inherited = inherited.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    Ok(nbc::compare(environment.expose_all(), inherited, &nbc::assignments(&text)))
}

fn text_pair((name, value): (OsString, OsString)) -> Option<(String, String)> {
    Some((name.into_string().ok()?, value.into_string().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cleaned_without_looking_them_up() {
        for (typed, cleaned) in [
            ("/a//b/./c", "/a/b/c"),
            ("/a/../b", "/b"),
            ("/../a", "/a"),
            ("../a", "../a"),
            ("a/../../b", "../b"),
            ("./-x.sh", "-x.sh"),
            ("a/..", "."),
        ] {
            assert_eq!(clean(Path::new(typed)), Path::new(cleaned), "{typed}");
        }
    }
}

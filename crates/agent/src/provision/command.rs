//! What to run: the scripts with a computed environment, or a ready NBC command.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use mooring_contract::{NodeConfig, node_config};

use super::{Failure, NOT_STARTED};
use crate::agent::Agent;
use crate::cli::{ProvisionFlags, Stage};
use crate::compare;
use crate::environment::{self, BuildError, Built, Root, command};
use crate::event::{EventLevel, Task};
use crate::go_text::{path_error, read_failure};
use crate::log::Value;
use crate::machine::{probe_containerd, read_components};
use crate::nbc;
use crate::paths::COMPONENTS;
use crate::preflight::{self, Facts, Verdict};
use crate::secrets::{self, MAX_FILE_BYTES};
use crate::world::{ChildSpec, FileKind, World};

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

/// The checks that nobody else makes on the way to the scripts: the config has been read by now, and
/// the component list is about to be.
fn check(agent: &mut Agent<'_>, config: preflight::Config<'_>) -> Result<(), Failure> {
    let checks =
        preflight::CHECKS.iter().filter(|check| !matches!(check.name, "config" | "components"));
    let checks: Vec<_> = checks.collect();
    let layout = agent.layout.clone();
    let facts = Facts { stage: Stage::Node, layout: &layout, config };
    let results = preflight::run(agent.world, &facts, &checks);
    for (check, finding) in &results {
        let evidence = finding.evidence.join("; ");
        let attributes = [
            ("check", Value::Text(check.name)),
            ("evidence", Value::Text(&evidence)),
            ("action", Value::Text(finding.action)),
        ];
        let message = format!("preflight: {}", finding.summary);
        match finding.verdict {
            Verdict::Warning => agent.warn(&message, &attributes),
            Verdict::Fatal => agent.error(&message, &attributes),
            Verdict::Pass | Verdict::Skipped => {}
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

fn prepare_nbc(
    agent: &mut Agent<'_>,
    typed: &Path,
    config: Option<&Path>,
) -> Result<Prepared, Failure> {
    let text = read_nbc(agent.world, typed).map_err(Failure::before_start)?;
    agent.redactor = secrets::of_node(agent.world, &agent.layout, config, Some(typed));
    let path = clean(typed);
    let shown = path.display().to_string();
    agent.info("Using NBC command for scriptless phase 2", &[("NBCCmdFile", Value::Text(&shown))]);
    check(agent, preflight::Config::nbc(text))?;
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
        Ok(FileKind::File) => world.read(typed, MAX_FILE_BYTES).map_err(|failure| {
            format!("read NBC command file {shown}: {}", read_failure(typed, &failure))
        }),
        Ok(_) => Err(format!("NBC command file {shown} must be a regular file")),
    }
}

fn prepare_config(agent: &mut Agent<'_>, typed: &Path) -> Result<Prepared, Failure> {
    let config = read_config(agent, typed).map_err(Failure::before_start)?;
    agent.redactor = secrets::of_config(&config);
    check_version(agent, &config).map_err(Failure::before_start)?;
    let path = typed.to_owned();
    check(agent, preflight::Config::Read { path, config: Cow::Borrowed(&config) })?;
    prepare_child(agent, &config).map_err(Failure::before_start)
}

fn prepare_child(agent: &mut Agent<'_>, config: &NodeConfig) -> Result<Prepared, String> {
    let root = match agent.layout.root() {
        None => None,
        Some(root) => {
            let root = Root::new(&root.to_string_lossy());
            Some(root.map_err(|error| format!("--root: {error}"))?)
        }
    };
    let child = build(agent, config)?.map(|environment| ChildSpec {
        program: command::PROGRAM,
        arguments: vec![command::FLAG.into(), command::script(root.as_ref()).into()],
        variables: match &root {
            None => pairs(&environment),
            Some(root) => pairs(&environment.prefixed_paths(root)),
        },
    });
    // The words of the Go program, which finds out when it starts the child.
    let child = child
        .map_err(|BuildError::Nul { .. }| "exec: environment variable contains NUL".to_owned());
    Ok(Prepared { child, shown: command::line(None) })
}

fn pairs(environment: &environment::Environment) -> Vec<(String, String)> {
    environment.expose_all().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Reads a config, and logs what in it this agent does not know.
fn read_config(agent: &mut Agent<'_>, typed: &Path) -> Result<NodeConfig, String> {
    let shown = typed.display();
    let text = agent.world.read(typed, MAX_FILE_BYTES).map_err(|failure| {
        format!("open provision file {shown}: {}", read_failure(typed, &failure))
    })?;
    let parsed = node_config::parse(&text)
        .map_err(|error| format!("parse provision file {shown}: {error}"))?;
    for warning in &parsed.warnings {
        agent.warn(
            "ignored in the provision config",
            &[("field", Value::Text(&warning.to_string()))],
        );
    }
    if parsed.warnings_dropped > 0 {
        let more = i64::try_from(parsed.warnings_dropped).unwrap_or(i64::MAX);
        agent.warn("more was ignored in the provision config", &[("count", Value::Number(more))]);
    }
    Ok(parsed.config)
}

fn check_version(agent: &mut Agent<'_>, config: &NodeConfig) -> Result<(), String> {
    match config.version.as_str() {
        "v1" => Ok(()),
        "v0" => {
            agent.error("v0 version is deprecated, please use v1 instead", &[]);
            Ok(())
        }
        other => Err(format!("unsupported version: {other}")),
    }
}

/// Builds the environment from a config and what this machine says of itself.
fn build(
    agent: &mut Agent<'_>,
    config: &NodeConfig,
) -> Result<Result<environment::Environment, BuildError>, String> {
    let gpu_images = read_components(agent.world, &agent.layout.at(COMPONENTS), COMPONENTS)?;
    let containerd = probe_containerd(agent.world);
    Ok(environment::build(config, &gpu_images, containerd).map(|Built { environment, notes }| {
        for note in notes {
            agent.info(&note.to_string(), &[]);
        }
        environment
    }))
}

/// Compares what the config would have given with what the NBC command assigned. Best effort: the
/// bootstrap is over, and its result stands.
pub(super) fn compare(agent: &mut Agent<'_>, flags: &ProvisionFlags) {
    let (Some(config), Some(nbc)) = (&flags.config, &flags.nbc_command) else { return };
    agent.info("ProvisionConfig and NBCCmd both provided, comparing envs", &[]);
    let built = read_config(agent, config).and_then(|config| {
        check_version(agent, &config)?;
        build(agent, &config)
    });
    let environment = match built {
        Ok(Ok(environment)) => environment,
        Ok(Err(error)) => return log_failed_comparison(agent, &error.to_string()),
        Err(error) => return log_failed_comparison(agent, &error),
    };
    let text = match agent.world.read(nbc, MAX_FILE_BYTES) {
        Ok(text) => text,
        Err(failure) => return log_failed_comparison(agent, &read_failure(nbc, &failure)),
    };
    let inherited: BTreeMap<String, String> =
        agent.world.environment().into_iter().filter_map(text_pair).collect();
    let inherited = inherited.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let comparison =
        compare::compare(environment.expose_all(), inherited, &nbc::assignments(&text));
    let (message, event) = (comparison.log_message(), comparison.event_message());
    agent.info(&message, &[]);
    let now = agent.world.now();
    agent.event(Task::CompareEnvs, EventLevel::Informational, &event, now);
}

fn text_pair((name, value): (OsString, OsString)) -> Option<(String, String)> {
    Some((name.into_string().ok()?, value.into_string().ok()?))
}

fn log_failed_comparison(agent: &mut Agent<'_>, error: &str) {
    agent.error(
        "compareEnvs: failed to build cmd from provision config",
        &[("error", Value::Text(error))],
    );
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

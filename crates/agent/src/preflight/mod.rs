//! Preflight: checks of an image and a config before a script runs, so that a failure is reported
//! by its cause and not by its first symptom.
//!
//! Checks are data ([`CHECKS`]): all of them run, all results are shown. `provision` runs them as its
//! first phase; `preflight` prints them for a user or a pipeline, on a node or on a mounted image.
//!
//! | module | contents |
//! |---|---|
//! | `check` | checks and their results |
//! | `facts` | facts about the node: stage, root, config |
//! | `program` | lookup of a binary like a shell, with the reason if it is not found |
//! | `rooted_path` | resolution of links below the root |
//! | `oras`, `image`, `node`, `hotfix` | the checks |
//! | `network` | network probes, run in parallel |
//! | `show` | the results as a table or JSON |

mod check;
mod facts;
mod hotfix;
mod image;
mod network;
mod node;
mod oras;
mod program;
mod rooted_path;
mod show;

use mooring_codes::Owner;

use crate::cli::{OutputFormat, PreflightFlags, Stage};
use crate::node::paths::Layout;
use crate::world::{Stream, World};
use check::{Check, Need};

pub(crate) use check::{Finding, Result, Verdict};
pub(crate) use facts::{Config, Facts};
pub(crate) use oras::find_oras;
pub(crate) use show::{code_name, report};

/// Every check, in the order in which fatal findings count.
pub(crate) const CHECKS: &[Check] = &[
    Check {
        name: "left-over",
        about: "no provision.complete of a failed run makes the scripts skip everything; in images, none at all",
        needs: Need::Nothing,
        code: Some(240),
        audience: Owner::Operator,
        find: node::left_over,
    },
    Check {
        name: "config",
        about: "the node config can be read and is of a supported version",
        needs: Need::Config,
        code: Some(240),
        audience: Owner::Operator,
        find: node::config,
    },
    Check {
        name: "oras",
        about: "oras is installed; fatal when the config names a bootstrap registry, and in images",
        needs: Need::Nothing,
        code: Some(232),
        audience: Owner::Image,
        find: oras::oras,
    },
    Check {
        name: "start-script",
        about: "provision_start.sh exists",
        needs: Need::Nothing,
        code: Some(65),
        audience: Owner::Image,
        find: image::start_script,
    },
    Check {
        name: "components",
        about: "components.json exists and can be read",
        needs: Need::Nothing,
        code: Some(240),
        audience: Owner::Image,
        find: image::components,
    },
    Check {
        name: "containerd",
        about: "containerd is installed, unless the config has a source for it",
        needs: Need::Nothing,
        code: None,
        audience: Owner::Image,
        find: image::containerd,
    },
    Check {
        name: "kubelet",
        about: "kubelet is installed, unless the config has a source for it",
        needs: Need::Nothing,
        code: None,
        audience: Owner::Image,
        find: image::kubelet,
    },
    Check {
        name: "jq",
        about: "jq is installed; the scripts write their report with it",
        needs: Need::Nothing,
        code: None,
        audience: Owner::Image,
        find: image::jq,
    },
    Check {
        name: "systemctl",
        about: "systemctl is installed",
        needs: Need::Nothing,
        code: None,
        audience: Owner::Image,
        find: image::systemctl,
    },
    Check {
        name: "curl",
        about: "curl is installed; the scripts query IMDS and the API server with it",
        needs: Need::Nothing,
        code: None,
        audience: Owner::Image,
        find: image::curl,
    },
    Check {
        name: "config-mode",
        about: "only root can read the node config, which contains secrets",
        needs: Need::Config,
        code: None,
        audience: Owner::Operator,
        find: node::config_mode,
    },
    Check {
        name: "space",
        about: "the disk has space for the bootstrap",
        needs: Need::Node,
        code: None,
        audience: Owner::Operator,
        find: node::space,
    },
    Check {
        name: "clock",
        about: "the clock is not earlier than the build date; otherwise TLS fails",
        needs: Need::Node,
        code: None,
        audience: Owner::Platform,
        find: node::clock,
    },
    Check {
        name: "hotfix",
        about: "agent and scripts in use; a hotfix is complete",
        needs: Need::Nothing,
        code: None,
        audience: Owner::Image,
        find: hotfix::hotfix,
    },
];

#[derive(Debug, Clone, Copy)]
pub struct CheckFacts {
    pub name: &'static str,
    pub about: &'static str,
    /// Exit code of its failure, if it has a specific one.
    pub code: Option<i32>,
    pub can_be_fatal: bool,
    pub audience: Owner,
}

/// Every check, in the order in which fatal findings count.
pub fn checks() -> impl Iterator<Item = CheckFacts> {
    CHECKS.iter().chain(network::PROBES).map(|check| CheckFacts {
        name: check.name,
        about: check.about,
        code: check.code,
        can_be_fatal: CHECKS.iter().any(|fatal| fatal.name == check.name) && check.code.is_some(),
        audience: check.audience,
    })
}

pub(crate) fn run(
    world: &mut dyn World,
    facts: &Facts<'_>,
    checks: impl IntoIterator<Item = &'static Check>,
) -> Vec<Result> {
    checks.into_iter().map(|check| (check, check.run(world, facts))).collect()
}

/// The finding that decides, if one is fatal.
pub(crate) fn first_fatal(results: &[Result]) -> Option<&Result> {
    results.iter().find(|(_, finding)| finding.verdict == Verdict::Fatal)
}

pub(crate) fn preflight(
    world: &mut dyn World,
    layout: &Layout,
    version: &'static str,
    flags: &PreflightFlags,
) -> u8 {
    let config = Config::read(world, layout, flags.config.as_deref());
    let facts = Facts { stage: flags.stage, layout, version, config, imds: flags.network.as_ref() };
    let mut results = run(world, &facts, CHECKS);
    if flags.network.is_some() {
        results.extend(network::run(world, &facts));
    }
    let exit_code = exit_code(flags.stage, &results);
    let text = match flags.format {
        OutputFormat::Table => show::table(&results),
        OutputFormat::Json => show::json(flags.stage, exit_code, &results),
    };
    world.print(Stream::Out, text.as_bytes());
    exit_code
}

fn exit_code(stage: Stage, results: &[Result]) -> u8 {
    match (first_fatal(results), stage) {
        (None, _) => 0,
        (Some(_), Stage::Image) => 1,
        (Some((check, _)), Stage::Node) => {
            check.code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_with_a_code_are_fatal_and_probes_are_not() {
        let fatal: Vec<_> =
            checks().filter(|check| check.can_be_fatal).map(|check| check.name).collect();
        assert_eq!(fatal, ["left-over", "config", "oras", "start-script", "components"]);
        let probes: Vec<_> = checks().skip(CHECKS.len()).map(|check| check.name).collect();
        assert_eq!(probes, ["imds", "registry", "api-server"]);
    }
}

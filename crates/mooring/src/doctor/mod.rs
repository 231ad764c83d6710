//! `mooring doctor`: what commands need, what is missing, and how to fix it.
#![allow(clippy::doc_markdown, reason = "some comments are the help text, which is not Markdown")]

mod azure;
mod check;
mod cluster;
mod config;
mod installed;

use std::process::ExitCode;

use clap::Args;
use mooring_nodes::ClusterFacts;
use serde_json::Value;
use tokio::time::Instant;

use self::check::{Area, CheckState, DoctorCheck, Part, Report};
use crate::arguments::SourceArguments;
use crate::cluster::{ConnectedCluster, read_cluster};
use crate::output::failure::CommandFailure;
use crate::output::{AnswerFormat, published, show};
use crate::process::{build_runtime, env_var};

pub(crate) const HELP: &str = "\
Checks kubeconfig, credential plugins, permissions in Kubernetes and Azure,
sign-in, Karpenter, the controller, its record and the clock. Permissions are
requested from the servers, never tried.

Examples:
  mooring doctor
  mooring doctor azure
  mooring doctor -o json | jq '.checks[] | select(.state == \"failed\")'

Exits with 1 if a check failed.";

#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// Part to check [default: all]
    #[arg(value_enum)]
    pub(crate) area: Option<Area>,
    #[command(flatten)]
    pub(crate) sources: SourceArguments,
    /// Exit with 0 even if a check failed
    #[arg(long)]
    pub(crate) exit_zero: bool,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = AnswerFormat::Table)]
    pub(crate) output: AnswerFormat,
}

const SCHEMA: &str = "mooring.doctor/v1";

/// Exits with 1 if a check failed, and with 3 if a source could not be read.
pub(crate) fn doctor(arguments: DoctorArguments) -> Result<ExitCode, CommandFailure> {
    let DoctorArguments { area, sources, exit_zero, output } = arguments;
    let started = Instant::now();
    let runtime = build_runtime()?;
    let (read, mut checks) = runtime.block_on(async {
        let read = read_cluster(&sources).await;
        let checks = checks(&sources, area, read.as_ref().ok()).await;
        (read, checks)
    });
    if let Err(failure) = &read {
        checks.insert(0, unreadable(failure));
    }
    let facts = read.ok().map(|cluster| cluster.facts);
    checks.retain(|check| area.is_none_or(|area| check.part.area() == area));
    let report = Report::new(checks, started.elapsed().as_secs_f64());
    let identity = facts.as_ref().map(|facts| facts.identity.clone()).unwrap_or_default();
    let name = facts.as_ref().map_or_else(|| "cluster".to_owned(), ClusterFacts::cluster_name);
    let sources = facts.as_ref().map_or(&[][..], |facts| facts.sources.as_slice());
    let failed = report.checks.iter().filter(|check| check.state == CheckState::Failed);
    let screen = |_| report.screen(&name);
    let document = || published::document(SCHEMA, &identity, sources, &report);
    show::print_answer(output, screen, None, document, failed.map(|check| check.name))?;
    let is_partial =
        report.unknown().next().is_some() || facts.as_ref().is_some_and(ClusterFacts::is_partial);
    for warning in facts.iter().flat_map(|facts| &facts.warnings) {
        show::print_warning(warning);
    }
    for check in report.unknown().filter(|_| output == AnswerFormat::Name) {
        show::print_warning(&format!("{} was not checked: {}", check.name, check.message));
    }
    Ok(ExitCode::from(match (report.failed > 0, is_partial) {
        _ if exit_zero => 0,
        (true, _) => 1,
        (false, true) => 3,
        (false, false) => 0,
    }))
}

/// Returns the document about a cluster that was read; none if it cannot be read.
pub(crate) async fn document(
    arguments: &SourceArguments,
    cluster: Option<&ConnectedCluster>,
) -> Result<Value, String> {
    let report = Report::new(checks(arguments, None, cluster).await, 0.0);
    let facts = cluster.map(|cluster| &cluster.facts);
    let identity = facts.map(|facts| facts.identity.clone()).unwrap_or_default();
    let sources = facts.map_or(&[][..], |facts| facts.sources.as_slice());
    serde_json::to_value(published::document(SCHEMA, &identity, sources, &report))
        .map_err(|error| error.to_string())
}

async fn checks(
    arguments: &SourceArguments,
    area: Option<Area>,
    cluster: Option<&ConnectedCluster>,
) -> Vec<DoctorCheck> {
    let mut checks = Vec::new();
    if let Some(cluster) = cluster {
        let (connection, permissions, journal, controller) = tokio::join!(
            cluster::connection(cluster),
            cluster::permissions(cluster),
            cluster::journal(cluster),
            cluster::controller(cluster)
        );
        checks.extend(connection);
        checks.extend(permissions);
        checks.push(journal);
        checks.extend(cluster::karpenter(&cluster.facts));
        checks.extend(controller);
    } else {
        checks.extend(UNREAD.map(|(part, name)| {
            let message = "not checked: the cluster cannot be read";
            DoctorCheck::new(part, name, CheckState::Skipped, message)
        }));
    }
    let needs_azure = area.is_none_or(|area| matches!(area, Area::Azure | Area::Cluster));
    if needs_azure {
        checks.extend(azure::checks(arguments, cluster).await);
    }
    let context = cluster.and_then(|read| read.facts.identity.context.as_deref());
    checks.push(config::configuration(context));
    checks.extend(config::settings(&arguments.cluster, env_var));
    // The order within a part remains.
    checks.sort_by_key(|check| check.part);
    checks
}

fn unreadable(failure: &CommandFailure) -> DoctorCheck {
    DoctorCheck::new(Part::Cluster, "connection", CheckState::Failed, failure.first_line())
        .used_by(&["status", "fleet", "why"])
        .fix(failure.hint().map(str::to_owned))
}

/// Checks that need the cluster, besides its connection and permissions.
const UNREAD: [(Part, &str); 4] = [
    (Part::Aks, "aks"),
    (Part::Karpenter, "installed"),
    (Part::Controller, "running"),
    (Part::Clock, "clock"),
];

//! The command: checks in the order of the screen.

use std::process::ExitCode;

use clap::ValueEnum as _;
use mooring_nodes::ClusterFacts;
use serde_json::Value;
use tokio::time::Instant;

use super::arguments::{Area, DoctorArguments};
use super::check::{CheckState, DoctorCheck, Report};
use super::config::{configuration, settings};
use super::{azure, cluster};
use crate::arguments::SourceArguments;
use crate::cluster::{ConnectedCluster, read_cluster};
use crate::output::failure::CommandFailure;
use crate::output::published;
use crate::output::show;
use crate::output::{AnswerFormat, print_document, print_markdown, print_screen};
use crate::process::{build_runtime, env_var};

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
    if let Some(name) = area.and_then(|area| area.to_possible_value()) {
        checks.retain(|check| check.area == name.get_name());
    }
    let report = Report::new(checks, started.elapsed().as_secs_f64());
    let identity = facts.as_ref().map(|facts| facts.identity.clone()).unwrap_or_default();
    let name = facts.as_ref().map_or_else(|| "cluster".to_owned(), ClusterFacts::cluster_name);
    match output {
        AnswerFormat::Json | AnswerFormat::Yaml => {
            let sources = facts.as_ref().map_or(&[][..], |facts| facts.sources.as_slice());
            let document = published::document(SCHEMA, &identity, sources, &report);
            print_document(&document, output == AnswerFormat::Yaml)?;
        }
        AnswerFormat::Markdown => print_markdown(&report.screen(&name))?,
        AnswerFormat::Name => {
            let failed = report.checks.iter().filter(|check| check.state == CheckState::Failed);
            show::print_names(failed.map(|check| check.name))?;
        }
        AnswerFormat::Table | AnswerFormat::Wide => print_screen(&report.screen(&name))?,
    }
    let is_partial = report.is_partial() || facts.as_ref().is_some_and(ClusterFacts::is_partial);
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
) -> Result<Value, CommandFailure> {
    let report = Report::new(checks(arguments, None, cluster).await, 0.0);
    let facts = cluster.map(|cluster| &cluster.facts);
    let identity = facts.map(|facts| facts.identity.clone()).unwrap_or_default();
    let sources = facts.map_or(&[][..], |facts| facts.sources.as_slice());
    serde_json::to_value(published::document(SCHEMA, &identity, sources, &report))
        .map_err(|error| CommandFailure::io(error.to_string()))
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
        checks.extend(UNREAD.map(|(area, name)| {
            let message = "not checked: the cluster cannot be read";
            DoctorCheck::new(area, name, CheckState::Skipped, message)
        }));
    }
    let needs_azure = area.is_none_or(|area| matches!(area, Area::Azure | Area::Cluster));
    if needs_azure {
        checks.extend(azure::checks(arguments, cluster).await);
    }
    let context = cluster.and_then(|read| read.facts.identity.context.as_deref());
    checks.push(configuration(context));
    checks.extend(settings(&arguments.cluster, env_var));
    // The order of the screen; the order within a part remains.
    let rank = |check: &DoctorCheck| match (check.area, check.name) {
        ("cluster", "aks") => 1,
        ("cluster", "clock") => 6,
        ("cluster", _) => 0,
        ("karpenter", _) => 2,
        ("azure", _) => 3,
        ("controller", _) => 4,
        _ => 5,
    };
    checks.sort_by_key(rank);
    checks
}

fn unreadable(failure: &CommandFailure) -> DoctorCheck {
    let mut lines = failure.text().lines();
    let first = lines.next().unwrap_or_default();
    let hint = lines.find_map(|line| line.strip_prefix("hint: "));
    DoctorCheck::new("cluster", "connection", CheckState::Failed, first)
        .used_by(&["status", "fleet", "why"])
        .fix(hint.map(str::to_owned))
}

/// Checks that need the cluster, besides its connection and permissions.
const UNREAD: [(&str, &str); 4] = [
    ("cluster", "aks"),
    ("karpenter", "installed"),
    ("controller", "running"),
    ("cluster", "clock"),
];

//! `mooring doctor`: what commands need, what is missing, and how to fix it.
#![allow(clippy::doc_markdown, reason = "these comments are the help text, which is not Markdown")]

mod azure;
mod check;
mod cluster;
mod hooks;
mod installed;

use std::process::ExitCode;

use clap::{Args, ValueEnum};
use mooring_terminal::Style;
use mooring_workflow::published::ClusterIdentity;
use serde_json::Value;
use tokio::time::Instant;

use self::check::{Check, CheckState, Report};
use crate::arguments::{ClusterArguments, SourceArguments};
use crate::cluster::config;
use crate::cluster::connect;
use crate::cluster::{Cluster, read_cluster};
use crate::output::failure::Failure;
use crate::output::published;
use crate::output::show;
use crate::output::{AnswerFormat, print_document, print_screen};
use crate::process::{build_runtime, env_var};

const SCHEMA: &str = "mooring.doctor/v1";

pub(crate) const HELP: &str = "\
Checks kubeconfig, credential plugins, permissions in Kubernetes and Azure,
sign-in, Karpenter, the controller, its record and the clock. Permissions are
requested from the servers, never tried. Nothing is sent to hooks without
--send-test.

Examples:
  mooring doctor
  mooring doctor azure
  mooring doctor --send-test
  mooring doctor -o json | jq '.checks[] | select(.state == \"failed\")'

Exits with 1 if a check failed.";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Area {
    /// Connection, permissions and clock of the API server
    Cluster,
    /// Sign-in and permissions
    Azure,
    /// NodePools and options of node classes
    Karpenter,
    /// Leader, version, record and notifications
    Controller,
    /// Configuration file and variables
    Config,
}

impl Area {
    fn as_str(self) -> &'static str {
        match self {
            Self::Cluster => "cluster",
            Self::Azure => "azure",
            Self::Karpenter => "karpenter",
            Self::Controller => "controller",
            Self::Config => "config",
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// Part to check [default: all]
    #[arg(value_enum)]
    pub(crate) area: Option<Area>,
    #[command(flatten)]
    pub(crate) sources: SourceArguments,
    /// Send a test to every hook of MOORING_NOTIFY
    ///
    /// The hooks are those of the environment of this command, as for notifications of runs. Those of the controller
    /// are in its Deployment; their deliveries are shown without a test.
    #[arg(long)]
    pub(crate) send_test: bool,
    /// Exit with 0 even if a check failed
    #[arg(long)]
    pub(crate) exit_zero: bool,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = AnswerFormat::Table)]
    pub(crate) output: AnswerFormat,
}

/// Exits with 1 if a check failed.
pub(crate) fn doctor(arguments: DoctorArguments) -> Result<ExitCode, Failure> {
    let DoctorArguments { area, sources, send_test, exit_zero, output } = arguments;
    let started = Instant::now();
    let runtime = build_runtime()?;
    let (cluster, mut checks) = runtime.block_on(checks(&sources, area));
    let facts = cluster.map(|cluster| cluster.facts);
    if send_test {
        let identity = facts.as_ref().map(|facts| &facts.identity);
        checks.extend(runtime.block_on(hooks::send_test(identity)));
    }
    let wanted = |check: &Check| area.is_none_or(|area| check.area == area.as_str());
    let checks: Vec<Check> = checks.into_iter().filter(wanted).collect();
    let report = Report::new(checks, started.elapsed().as_secs_f64());
    let identity =
        facts.as_ref().map_or_else(ClusterIdentity::default, |facts| facts.identity.clone());
    let name =
        facts.as_ref().map_or_else(|| "cluster".to_owned(), mooring_inventory::Facts::cluster_name);
    match output {
        AnswerFormat::Json | AnswerFormat::Yaml => {
            let sources = facts.as_ref().map_or(&[][..], |facts| facts.sources.as_slice());
            let document = published::document(SCHEMA, &identity, sources, &report);
            print_document(&document, output == AnswerFormat::Yaml)?;
        }
        AnswerFormat::Markdown => {
            let text = report.screen(&name).render(&Style::PIPE);
            show::print(format!("```text\n{text}```\n").as_bytes())?;
        }
        AnswerFormat::Name => {
            let failed = report.checks.iter().filter(|check| check.state == CheckState::Failed);
            show::print_names(failed.map(|check| check.name))?;
        }
        AnswerFormat::Table | AnswerFormat::Wide => print_screen(&report.screen(&name))?,
    }
    Ok(ExitCode::from(u8::from(report.failed > 0 && !exit_zero)))
}

async fn checks(arguments: &SourceArguments, area: Option<Area>) -> (Option<Cluster>, Vec<Check>) {
    match read_cluster(arguments).await {
        Ok(cluster) => {
            let checks = checks_of(arguments, area, Some(&cluster)).await;
            (Some(cluster), checks)
        }
        Err(failure) => {
            let mut checks = vec![unreadable(&failure)];
            checks.extend(checks_of(arguments, area, None).await);
            (None, checks)
        }
    }
}

/// Returns the document about a cluster that was read; none if it cannot be read.
pub(crate) async fn document(
    arguments: &SourceArguments,
    cluster: Option<&Cluster>,
) -> Result<Value, Failure> {
    let report = Report::new(checks_of(arguments, None, cluster).await, 0.0);
    let facts = cluster.map(|cluster| &cluster.facts);
    let identity = facts.map(|facts| facts.identity.clone()).unwrap_or_default();
    let sources = facts.map_or(&[][..], |facts| facts.sources.as_slice());
    serde_json::to_value(published::document(SCHEMA, &identity, sources, &report))
        .map_err(|error| Failure::io(error.to_string()))
}

async fn checks_of(
    arguments: &SourceArguments,
    area: Option<Area>,
    cluster: Option<&Cluster>,
) -> Vec<Check> {
    let mut checks = Vec::new();
    if let Some(cluster) = cluster {
        let (connection, permissions, controller) = tokio::join!(
            cluster::connection(cluster),
            cluster::permissions(cluster),
            cluster::controller(cluster)
        );
        checks.extend(connection);
        checks.extend(permissions);
        checks.extend(cluster::karpenter(&cluster.facts));
        checks.extend(controller);
    } else {
        checks.extend(UNREAD.map(|(area, name)| {
            let message = "not checked: the cluster cannot be read";
            Check::new(area, name, CheckState::Skipped, message)
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
    let rank = |check: &Check| match (check.area, check.name) {
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

fn unreadable(failure: &Failure) -> Check {
    let mut lines = failure.text().lines();
    let first = lines.next().unwrap_or_default();
    let hint = lines.find_map(|line| line.strip_prefix("hint: "));
    Check::new("cluster", "connection", CheckState::Failed, first)
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

/// Shows the configuration file. It is read without a context as well: an invalid file may be the reason why no
/// cluster was read.
fn configuration(context: Option<&str>) -> Check {
    let path = config::path();
    let file = path.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
    match config::read() {
        Err(failure) => unreadable_config(&failure),
        Ok(_) if !path.is_some_and(|path| path.exists()) => {
            Check::new("config", "file", CheckState::Skipped, format!("no {file}"))
        }
        Ok(mut config) => {
            let entry = context.and_then(|name| config.contexts.remove(name)).unwrap_or_default();
            let none = || "none".to_owned();
            let message = format!(
                "{file}: cluster {}, namespace {}, protected {}",
                entry.cluster.unwrap_or_else(none),
                entry.namespace.unwrap_or_else(none),
                entry.protected
            );
            Check::new("config", "file", CheckState::Ok, message)
        }
    }
}

/// Shows the settings of flags and variables, and where each is from. None of them is a secret.
fn settings(
    arguments: &ClusterArguments,
    variable: impl Fn(&str) -> Option<String>,
) -> Option<Check> {
    let ClusterArguments { kube, name, node_resource_group, .. } = arguments;
    let kubeconfig = kube.kubeconfig.as_ref().map(|file| file.display().to_string());
    let settings: [(&str, Option<&String>, &[&str]); 8] = [
        ("--kubeconfig", kubeconfig.as_ref(), &["KUBECONFIG"]),
        ("--context", kube.context.as_ref(), &["MOORING_CONTEXT"]),
        ("--namespace", kube.namespace.as_ref(), &["MOORING_NAMESPACE"]),
        ("--cluster", name.cluster.as_ref(), &connect::CLUSTER),
        ("--resource-group", name.resource_group.as_ref(), &connect::RESOURCE_GROUP),
        ("--subscription", name.subscription.as_ref(), &connect::SUBSCRIPTION),
        ("--node-resource-group", node_resource_group.as_ref(), &connect::NODE_RESOURCE_GROUP),
        ("", None, &["AZURE_TOKEN_CREDENTIALS"]),
    ];
    let mut shown = Vec::new();
    for (flag, value, variables) in settings {
        let value_of = |name: &str| variable(name).filter(|value| !value.is_empty());
        let mut set = variables.iter().filter_map(|name| Some((*name, value_of(name)?)));
        if let Some(value) = value {
            shown.push(format!("{flag} {value}"));
        } else if let Some((name, value)) = set.next() {
            shown.push(format!("{name}={value}"));
        }
    }
    let message = format!("from flags and variables: {}", shown.join(", "));
    (!shown.is_empty()).then(|| Check::new("config", "variables", CheckState::Ok, message))
}

fn unreadable_config(failure: &Failure) -> Check {
    let first = failure.text().lines().next().unwrap_or_default();
    Check::new("config", "file", CheckState::Failed, first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::source_arguments;

    #[test]
    fn settings_have_their_values_and_sources() {
        let arguments = source_arguments(&["--context", "two", "--node-resource-group", "mc"]);
        let variable = |name: &str| {
            let known = [("MOORING_CONTEXT", "one"), ("CLUSTER_NAME", "demo"), ("KUBECONFIG", "")];
            known.iter().find(|(one, _)| *one == name).map(|(_, value)| (*value).to_owned())
        };
        let check = settings(&arguments.cluster, variable).unwrap();
        assert_eq!(
            check.message,
            "from flags and variables: --context two, CLUSTER_NAME=demo, --node-resource-group mc"
        );
        assert_eq!(settings(&ClusterArguments::default(), |_| None), None);
        let variable = |name: &str| name.ends_with("_NODE_RESOURCE_GROUP").then(|| "mc".to_owned());
        let check = settings(&ClusterArguments::default(), variable).unwrap();
        assert_eq!(check.message, "from flags and variables: MOORING_NODE_RESOURCE_GROUP=mc");
    }
}

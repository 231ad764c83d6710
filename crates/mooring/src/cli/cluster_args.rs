//! Arguments of the commands that read a cluster.
#![allow(clippy::doc_markdown, reason = "these comments are the help text, which is not Markdown")]

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::about::schema;
use crate::answers::schemas;
use crate::output::AnswerFormat;

pub(crate) const CONTROLLER_HELP: &str = "\
Before Karpenter deletes a NodeClaim whose bootstrap failed, the controller
sets its condition CSEProvisioned, creates events on the NodeClaim and its
NodePool, and stores the failure in the ConfigMap mooring-failures. It reads
Azure only for nodes that have not joined yet. Replicas are leader-elected with
the Lease mooring.

Examples:
  mooring controller --resource-group rg --cluster prod
  mooring sim --scenario oras-missing --kube-port 0 --state demo &
  . demo/env.sh; mooring controller

Logs are JSON lines on stderr. SIGTERM stops the controller: it finishes started
writes and releases the Lease.

Permissions: charts/mooring/files/rules.yaml for Kubernetes, docs/SECURITY.md
for Azure.";

pub(crate) const WHY_HELP: &str = "\
Failures with the same cause, image and pool are one group, the largest first.
Reads the cluster and the failure record, and Azure only for what they lack.

Examples:
  mooring why                    all failures of the cluster
  mooring why default            a NodePool or an AKS pool, with past failures
  mooring why default-2jf98      a NodeClaim, even if it was deleted
  mooring why aks-default-2jf98  a node or a VM
  mooring why system/3           an instance of an AKS pool
  mooring why default -o wide    every node, with time and evidence
  mooring why -o name | xargs kubectl get
  mooring why default-2jf98 --run-command

Exits with 0 if no node failed, and with 1 if a node failed.";

pub(crate) const STATUS_HELP: &str = "\
Findings come first, then pools, controller and next commands. Without a
controller, failures of deleted nodes are not known; without Azure, failures
that the cluster does not show.

Examples:
  mooring status
  mooring status -w          or mooring top: redrawn until q
  mooring status --context prod-weu-admin
  mooring status -o json | jq '.pools[] | select(.state != \"healthy\")'

Exits with 1 if something is wrong.";

pub(crate) const FLEET_HELP: &str = "\
Merges the failure record of `mooring controller` with NodeClaims and nodes that
exist now. An image is at fault if its failure rate is above that of all other
images: at least four nodes on each side, and 95 % intervals that do not touch.

Examples:
  mooring fleet
  mooring fleet --since 7d --pool default
  mooring fleet -o markdown

Exits with 1 if an image is at fault.";

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ClusterName {
    /// Subscription ID [env: MOORING_SUBSCRIPTION, SUBSCRIPTION_ID or AZURE_SUBSCRIPTION_ID]
    #[arg(long, value_name = "ID")]
    pub(crate) subscription: Option<String>,
    /// Resource group of the cluster [env: MOORING_RESOURCE_GROUP, RESOURCE_GROUP]
    #[arg(short = 'g', long, value_name = "NAME")]
    pub(crate) resource_group: Option<String>,
    /// Name or resource ID of the cluster [env: MOORING_CLUSTER, CLUSTER_NAME]
    #[arg(long, value_name = "NAME")]
    pub(crate) cluster: Option<String>,
}

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ClusterArguments {
    /// Path to the kubeconfig [default: $KUBECONFIG, ~/.kube/config or in-cluster]
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig [env: MOORING_CONTEXT] [default: the current context]
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,
    #[command(flatten)]
    pub(crate) name: ClusterName,
    /// Node resource group [env: AZURE_NODE_RESOURCE_GROUP] [default: read from the cluster]
    ///
    /// VMs are read in this resource group only. The environment variable is ignored if --resource-group or --cluster
    /// is set.
    #[arg(long, value_name = "NAME")]
    pub(crate) node_resource_group: Option<String>,
    /// Azure Resource Manager endpoint [env: AZURE_RESOURCE_MANAGER_ENDPOINT] [default: public cloud]
    #[arg(long, value_name = "URL")]
    pub(crate) arm_endpoint: Option<String>,
    /// Namespace of Mooring's Lease, failure record and journals [env: MOORING_NAMESPACE] [default: that of
    /// the controller, or mooring-system]
    #[arg(short, long, value_name = "NAME")]
    pub(crate) namespace: Option<String>,
}

/// Flags of commands that read a cluster and Azure.
#[derive(Debug, Clone, Args)]
pub(crate) struct SourceArguments {
    #[command(flatten)]
    pub(crate) cluster: ClusterArguments,
    /// Read Azure: auto (continue without it after 10 s), never, or always (exit with 3 without it)
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = AzureMode::Auto, hide_possible_values = true)]
    pub(crate) azure: AzureMode,
    /// Give up after this time, such as 30s or 2m
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = parse_duration)]
    pub(crate) timeout: Duration,
}

/// Flags of commands that show facts of a cluster.
#[derive(Debug, Args)]
pub(crate) struct ReadArguments {
    #[command(flatten)]
    pub(crate) sources: SourceArguments,
    /// Exit with 0 even if a problem was found
    #[arg(long)]
    pub(crate) exit_zero: bool,
    /// Show failures of this time only, such as 90m, 24h or 7d
    #[arg(long, value_name = "DURATION", default_value = "24h", value_parser = parse_duration)]
    pub(crate) since: Duration,
    /// Show one pool only
    #[arg(long, value_name = "NAME")]
    pub(crate) pool: Option<String>,
    /// Show one node image only: its version or its whole name
    #[arg(long, value_name = "IMAGE")]
    pub(crate) image: Option<String>,
    /// Show one cause only
    #[arg(long, value_name = "CAUSE")]
    pub(crate) cause: Option<String>,
    /// Print tables without headers
    #[arg(long)]
    pub(crate) no_headers: bool,
}

impl ReadArguments {
    /// Reads everything, without filters.
    pub(crate) fn all(sources: SourceArguments) -> Self {
        Self {
            sources,
            exit_zero: false,
            since: Duration::from_hours(24),
            pool: None,
            image: None,
            cause: None,
            no_headers: false,
        }
    }
}

/// Parses `90s`, `30m`, `24h` or `7d`.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a duration such as 30s, 90m, 24h or 7d");
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => return Err(wrong()),
    };
    let number: u64 = text[..text.len() - 1].parse().map_err(|_| wrong())?;
    number.checked_mul(seconds).filter(|all| *all > 0).map(Duration::from_secs).ok_or_else(wrong)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AzureMode {
    Auto,
    Never,
    Always,
}

#[derive(Debug, Args)]
pub(crate) struct ControllerArguments {
    #[command(flatten)]
    pub(crate) cluster: ClusterArguments,
    /// Address of /metrics
    #[arg(long, value_name = "ADDRESS", default_value = ":8080")]
    pub(crate) metrics_address: String,
    /// Address of /healthz and /readyz
    #[arg(long, value_name = "ADDRESS", default_value = ":8081")]
    pub(crate) health_address: String,
    /// Loopback address of the live page, or off
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8082")]
    pub(crate) page_address: String,
}

#[derive(Debug, Args)]
pub(crate) struct WhyArguments {
    /// Pool, NodeClaim, node, VM, or instance of a pool [default: all failures of the cluster]
    #[arg(value_name = "POOL|NODECLAIM|NODE|VM|POOL/INSTANCE")]
    pub(crate) what: Option<String>,
    #[command(flatten)]
    pub(crate) read: ReadArguments,
    /// Read provision.json from the VM with Run Command (needs write permission)
    ///
    /// Used only if Azure has no result of the extension.
    #[arg(long)]
    pub(crate) run_command: bool,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = AnswerFormat::Table)]
    pub(crate) output: AnswerFormat,
    /// Shape of the document; the one of the release before is printed for one release
    #[arg(long, value_name = "ID", value_parser = schema::parser([schemas::WHY, schemas::FORMER_WHY]))]
    pub(crate) schema: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct FleetArguments {
    #[command(flatten)]
    pub(crate) read: ReadArguments,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = AnswerFormat::Table)]
    pub(crate) output: AnswerFormat,
    /// Shape of the document; the one of the release before is printed for one release
    #[arg(long, value_name = "ID", value_parser = schema::parser([schemas::FLEET, schemas::FORMER_FLEET]))]
    pub(crate) schema: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArguments {
    #[command(flatten)]
    pub(crate) read: ReadArguments,
    /// Show changes until `q` or Ctrl-C: a terminal is redrawn, a pipe gets changed rows, `-o json` one document per line
    #[arg(short, long)]
    pub(crate) watch: bool,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = AnswerFormat::Table)]
    pub(crate) output: AnswerFormat,
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::parse_duration;

    #[test]
    fn durations_have_a_unit() {
        for (text, seconds) in [("30s", 30), ("2m", 120), ("24h", 86_400), ("7d", 604_800)] {
            assert_eq!(parse_duration(text), Ok(Duration::from_secs(seconds)));
        }
        for text in ["", "30", "s", "0s", "-1s", "1.5h", "1w", "99999999999999999999s", "é"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}

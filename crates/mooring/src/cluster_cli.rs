//! Arguments of the commands that look at a cluster.
#![allow(clippy::doc_markdown, reason = "these comments are the help text, which is not Markdown")]

use std::path::PathBuf;

use clap::{Args, ValueEnum};

pub(crate) const CONTROLLER_HELP: &str = "\
Writes the condition CSEProvisioned on NodeClaims whose bootstrap ended, events on the NodeClaim
and its NodePool, and the last failures of each pool into the ConfigMap mooring-failures, before
Karpenter deletes the NodeClaim. Reads Azure only for nodes that are on their way. Several
replicas may run: one leads, by the Lease mooring.

Examples:
  mooring controller --kubeconfig ~/.kube/config --resource-group rg --cluster prod
  mooring sim --scenario oras-missing --kube-port 0 --state demo & . demo/env.sh; mooring controller

Logs are JSON lines on standard error. SIGTERM ends it: begun writes are finished, the lease is
given back. Rights: charts/mooring/files/rules.yaml in the cluster; in Azure the role of
docs/SECURITY.md.";

pub(crate) const WHY_HELP: &str = "\
Examples:
  mooring why default-2jf98                a NodeClaim, also one that is gone (from the record)
  mooring why aks-default-2jf98            a node or a VM
  mooring why default                      a NodePool or an AKS pool, with its failures of the past
  mooring why system/3                     an instance of an AKS pool
  mooring why default-2jf98 --run-command  ask the node itself, where Azure has nothing to show

Exits with 0 if all is well, with 1 if a node failed.";

pub(crate) const FLEET_HELP: &str = "\
Failures come from the record that `mooring controller` keeps,
nodes that came up from the NodeClaims.

Examples:
  mooring fleet
  mooring fleet -o markdown";

/// Which cluster. With `mooring sim`'s env.sh sourced nothing needs to be said.
#[derive(Debug, Args)]
pub(crate) struct ClusterName {
    /// The subscription's id; else SUBSCRIPTION_ID or AZURE_SUBSCRIPTION_ID
    #[arg(long, value_name = "ID")]
    pub(crate) subscription: Option<String>,
    /// The cluster's resource group; else RESOURCE_GROUP
    #[arg(long, value_name = "NAME")]
    pub(crate) resource_group: Option<String>,
    /// The cluster's name; else CLUSTER_NAME
    #[arg(long, value_name = "NAME")]
    pub(crate) cluster: Option<String>,
}

/// Where the cluster is.
#[derive(Debug, Args)]
pub(crate) struct ClusterArguments {
    /// The kubeconfig; else KUBECONFIG, ~/.kube/config, or the pod's service account
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) name: ClusterName,
    /// The resource group of the nodes, the only one that VMs are read in; else AZURE_NODE_RESOURCE_GROUP unless a flag
    /// names the cluster, else read from the cluster
    #[arg(long, value_name = "NAME")]
    pub(crate) node_resource_group: Option<String>,
    /// Azure's resource manager; else AZURE_RESOURCE_MANAGER_ENDPOINT, else the public cloud
    #[arg(long, value_name = "URL")]
    pub(crate) arm_endpoint: Option<String>,
    /// The namespace of the Lease and the record
    #[arg(long, value_name = "NAME", default_value = "mooring-system")]
    pub(crate) namespace: String,
}

#[derive(Debug, Args)]
pub(crate) struct ControllerArguments {
    #[command(flatten)]
    pub(crate) cluster: ClusterArguments,
    /// Where /metrics is served
    #[arg(long, value_name = "ADDRESS", default_value = ":8080")]
    pub(crate) metrics_address: String,
    /// Where /healthz and /readyz are served
    #[arg(long, value_name = "ADDRESS", default_value = ":8081")]
    pub(crate) health_address: String,
}

#[derive(Debug, Args)]
pub(crate) struct WhyArguments {
    /// A NodeClaim, a node, a VM, a pool, or an instance of a pool
    #[arg(value_name = "NODECLAIM|NODE|VM|POOL|POOL/INSTANCE")]
    pub(crate) what: String,
    #[command(flatten)]
    pub(crate) cluster: ClusterArguments,
    /// Where Azure has no result to show, read provision.json by a command on the VM (needs write permission)
    #[arg(long)]
    pub(crate) run_command: bool,
    /// How to show the answer
    #[arg(short, long, value_enum, default_value_t = ReportFormat::Table)]
    pub(crate) output: ReportFormat,
}

#[derive(Debug, Args)]
pub(crate) struct FleetArguments {
    #[command(flatten)]
    pub(crate) cluster: ClusterArguments,
    /// How to show the table
    #[arg(short, long, value_enum, default_value_t = ReportFormat::Table)]
    pub(crate) output: ReportFormat,
}

/// How a report is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For a terminal
    Table,
    /// mooring.why/v1, mooring.fleet/v1
    Json,
    /// For an issue or a chat
    Markdown,
}

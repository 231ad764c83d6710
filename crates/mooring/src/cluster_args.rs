//! Arguments of the commands that read a cluster.
#![allow(clippy::doc_markdown, reason = "these comments are the help text, which is not Markdown")]

use std::path::PathBuf;

use clap::{Args, ValueEnum};

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
Examples:
  mooring why default-2jf98      a NodeClaim, even if it was deleted
  mooring why aks-default-2jf98  a node or a VM
  mooring why default            a NodePool or an AKS pool, with past failures
  mooring why system/3           an instance of an AKS pool
  mooring why default-2jf98 --run-command

Exits with 0 if no node failed, and with 1 if a node failed.";

pub(crate) const FLEET_HELP: &str = "\
Reads failures from the record of `mooring controller`, and nodes that joined
from the NodeClaims.

Examples:
  mooring fleet
  mooring fleet -o markdown";

#[derive(Debug, Args)]
pub(crate) struct ClusterName {
    /// Subscription ID [env: SUBSCRIPTION_ID or AZURE_SUBSCRIPTION_ID]
    #[arg(long, value_name = "ID")]
    pub(crate) subscription: Option<String>,
    /// Resource group of the cluster [env: RESOURCE_GROUP]
    #[arg(long, value_name = "NAME")]
    pub(crate) resource_group: Option<String>,
    /// Name of the cluster [env: CLUSTER_NAME]
    #[arg(long, value_name = "NAME")]
    pub(crate) cluster: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ClusterArguments {
    /// Path to the kubeconfig [default: $KUBECONFIG, ~/.kube/config or in-cluster]
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
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
    /// Namespace of the Lease and the failure record
    #[arg(long, value_name = "NAME", default_value = "mooring-system")]
    pub(crate) namespace: String,
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
}

#[derive(Debug, Args)]
pub(crate) struct WhyArguments {
    /// NodeClaim, node, VM, pool, or instance of a pool
    #[arg(value_name = "NODECLAIM|NODE|VM|POOL|POOL/INSTANCE")]
    pub(crate) what: String,
    #[command(flatten)]
    pub(crate) cluster: ClusterArguments,
    /// Read provision.json from the VM with Run Command (needs write permission)
    ///
    /// Used only if Azure has no result of the extension.
    #[arg(long)]
    pub(crate) run_command: bool,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = ReportFormat::Table)]
    pub(crate) output: ReportFormat,
}

#[derive(Debug, Args)]
pub(crate) struct FleetArguments {
    #[command(flatten)]
    pub(crate) cluster: ClusterArguments,
    /// Output format
    #[arg(short, long, value_enum, default_value_t = ReportFormat::Table)]
    pub(crate) output: ReportFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Human-readable table
    Table,
    /// JSON with a stable schema
    Json,
    /// Markdown, for issues and chats
    Markdown,
}

//! Arguments that name a cluster and what is read of it.
#![allow(clippy::doc_markdown, reason = "these comments are the help text, which is not Markdown")]

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::{parse_duration, parse_namespace};

/// Heading of the flags that select a cluster, below those of the command. It is set for each flag: that of a struct would
/// also apply to the flags that follow it.
pub(crate) const CLUSTER_HEADING: &str = "Cluster";

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ClusterName {
    /// Subscription ID [env: MOORING_SUBSCRIPTION, SUBSCRIPTION_ID or AZURE_SUBSCRIPTION_ID]
    #[arg(long, help_heading = CLUSTER_HEADING, value_name = "ID")]
    pub(crate) subscription: Option<String>,
    /// Resource group of the cluster [env: MOORING_RESOURCE_GROUP, RESOURCE_GROUP]
    #[arg(short = 'g', long, help_heading = CLUSTER_HEADING, value_name = "NAME")]
    pub(crate) resource_group: Option<String>,
    /// Name or resource ID of the cluster [env: MOORING_CLUSTER, CLUSTER_NAME]
    #[arg(long, help_heading = CLUSTER_HEADING, value_name = "NAME")]
    pub(crate) cluster: Option<String>,
}

/// Flags that select a cluster as kubectl does, and Mooring's objects in it.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct KubeArguments {
    /// Path to the kubeconfig [default: $KUBECONFIG, ~/.kube/config or in-cluster]
    #[arg(long, help_heading = CLUSTER_HEADING, value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig [env: MOORING_CONTEXT] [default: the current context]
    #[arg(long, help_heading = CLUSTER_HEADING, value_name = "NAME")]
    pub(crate) context: Option<String>,
    /// Namespace of Mooring's Lease, failure record and journals [env: MOORING_NAMESPACE] [default: that of
    /// the controller, or mooring-system]
    #[arg(short, long, help_heading = CLUSTER_HEADING, value_name = "NAME", value_parser = parse_namespace)]
    pub(crate) namespace: Option<String>,
}

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ClusterArguments {
    #[command(flatten)]
    pub(crate) kube: KubeArguments,
    #[command(flatten)]
    pub(crate) name: ClusterName,
    /// Node resource group [env: MOORING_NODE_RESOURCE_GROUP, AZURE_NODE_RESOURCE_GROUP] [default: read from the
    /// cluster]
    ///
    /// VMs are read in this resource group only. The environment variables are ignored if --resource-group or --cluster
    /// is set.
    #[arg(long, help_heading = CLUSTER_HEADING, value_name = "NAME")]
    pub(crate) node_resource_group: Option<String>,
    /// Azure Resource Manager endpoint [env: AZURE_RESOURCE_MANAGER_ENDPOINT] [default: public cloud]
    #[arg(long, help_heading = CLUSTER_HEADING, value_name = "URL")]
    pub(crate) arm_endpoint: Option<String>,
}

/// Flags of commands that read a cluster and Azure.
#[derive(Debug, Clone, Args)]
pub(crate) struct SourceArguments {
    #[command(flatten)]
    pub(crate) cluster: ClusterArguments,
    /// Read Azure: auto (continue without it after 10 s), never, or always (exit with 3 without it)
    #[arg(long, help_heading = CLUSTER_HEADING, value_enum, value_name = "WHEN", default_value_t = AzureMode::Auto, hide_possible_values = true)]
    pub(crate) azure: AzureMode,
    /// Give up after this time, such as 30s or 2m
    #[arg(long, help_heading = CLUSTER_HEADING, value_name = "DURATION", default_value = "30s", value_parser = parse_duration)]
    pub(crate) timeout: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AzureMode {
    Auto,
    Never,
    Always,
}

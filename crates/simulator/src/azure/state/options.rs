//! What is fixed for one run.

use std::time::Duration;

use mooring_contract::Secret;

use super::limits::Limits;
use super::machine::Cse;

/// Names, speed and limits of a simulated Azure.
#[derive(Debug, Clone)]
pub struct Options {
    pub subscription: String,
    /// The resource group of the cluster.
    pub resource_group: String,
    pub cluster: String,
    pub node_resource_group: String,
    /// The resource group of a network that the cluster does not own.
    pub network_resource_group: String,
    /// Whether the pools are in that network, and name their subnet; otherwise they are in one that AKS made.
    pub own_network: bool,
    pub rights: Rights,
    /// What is shown of a machine that is being deleted.
    pub deleting_view: DeletingView,
    pub location: String,
    /// The tenant of everybody.
    pub tenant: String,
    /// The application that may sign in, and its secret.
    pub client_id: String,
    /// See `client_id`.
    pub client_secret: Secret,
    /// The key that tokens are signed with.
    pub token_key: Secret,
    /// The object id of that application.
    pub principal: String,
    /// The object id under which AKS itself writes.
    pub aks_principal: String,
    /// The object id of Karpenter, which owns the node resource group and the cluster's pools.
    pub karpenter_principal: String,
    /// How much faster than in Azure things happen: an operation of three minutes takes three seconds at 60.
    pub speed: f64,
    /// How long the activity log takes to show what happened, at least and at most.
    pub ingestion_delay: (Duration, Duration),
    /// Rows of one page of a list.
    pub page_size: usize,
    /// How the bootstrap of a pool's new instances goes.
    pub pool_cse: Cse,
    /// The node image of new pools: `AKSAzureLinux-V3gen2-202601.13.0`.
    pub node_image: String,
    /// The version of the cluster.
    pub kubernetes_version: String,
    /// Whether AKS still serves preview versions of its API. They stop working about a year after their release.
    pub aks_previews: bool,
    /// How many processors the region may have in use; without it, enough.
    pub vcpu_quota: Option<i64>,
    pub limits: Limits,
    /// Where the cluster's own API is, if there is one.
    pub kubernetes: Option<KubernetesAccess>,
    pub require_token: bool,
    /// Scheme and authority of links, where a request does not say its own.
    pub endpoint: String,
    /// How many lines of the trace are kept.
    pub trace_lines: usize,
}

/// What an instance view shows while its machine is being deleted. Azure documents none of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeletingView {
    /// All that it showed before.
    #[default]
    Full,
    /// Its statuses, and neither agent nor extensions.
    StatusesOnly,
    /// Nothing: the machine is not found from the first moment on.
    Gone,
}

/// What the application that signs in may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rights {
    /// What the role definitions in `packaging/roles` give, each assigned where its description says.
    #[default]
    Shipped,
    /// Everything in the subscription.
    Owner,
}

/// How to reach a cluster's API, as the user credential says it.
#[derive(Debug, Clone)]
pub struct KubernetesAccess {
    pub server: String,
    /// The authority of its certificate.
    pub ca_pem: String,
    /// A token to put into the kubeconfig; without it, the kubeconfig asks `kubelogin`.
    pub token: Option<Secret>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            subscription: "00000000-0000-0000-0000-000000000001".to_owned(),
            resource_group: "rg-demo".to_owned(),
            cluster: "demo".to_owned(),
            node_resource_group: "MC_rg-demo_demo_westeurope".to_owned(),
            network_resource_group: "rg-network".to_owned(),
            own_network: false,
            rights: Rights::default(),
            deleting_view: DeletingView::default(),
            location: "westeurope".to_owned(),
            tenant: "00000000-0000-0000-0000-00000000000a".to_owned(),
            client_id: "00000000-0000-0000-0000-00000000000c".to_owned(),
            client_secret: Secret::from("simulated-secret"),
            token_key: Secret::from("simulated-token-key"),
            principal: "00000000-0000-0000-0000-00000000000f".to_owned(),
            aks_principal: "00000000-0000-0000-0000-0000000000ab".to_owned(),
            karpenter_principal: "00000000-0000-0000-0000-0000000000ca".to_owned(),
            speed: 1.0,
            ingestion_delay: (Duration::from_mins(3), Duration::from_mins(20)),
            page_size: 100,
            pool_cse: Cse::default(),
            node_image: "AKSAzureLinux-V3gen2-202601.13.0".to_owned(),
            kubernetes_version: "1.33.6".to_owned(),
            aks_previews: true,
            vcpu_quota: None,
            limits: Limits::default(),
            kubernetes: None,
            require_token: true,
            endpoint: "https://management.azure.com".to_owned(),
            trace_lines: 10_000,
        }
    }
}

impl Options {
    /// A duration of Azure as it is here.
    pub(crate) fn scaled(&self, duration: Duration) -> Duration {
        let speed = if self.speed.is_finite() && self.speed > 0.0 { self.speed } else { 1.0 };
        duration.div_f64(speed)
    }

    pub fn cluster_id(&self) -> String {
        let (subscription, group, cluster) =
            (&self.subscription, &self.resource_group, &self.cluster);
        format!(
            "/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.ContainerService/managedClusters/{cluster}"
        )
    }

    /// The id of a collection of compute resources in the nodes' group.
    pub fn compute(&self, kind: &str) -> String {
        let (subscription, group) = (&self.subscription, &self.node_resource_group);
        format!(
            "/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.Compute/{kind}"
        )
    }

    pub(crate) fn network(&self) -> String {
        let (group, name) = if self.own_network {
            (&self.network_resource_group, "hub-vnet")
        } else {
            (&self.node_resource_group, "aks-vnet")
        };
        let subscription = &self.subscription;
        format!(
            "/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.Network/virtualNetworks/{name}"
        )
    }

    /// The id of the subnet of all nodes.
    pub fn subnet(&self) -> String {
        format!("{}/subnets/aks-subnet", self.network())
    }

    pub(crate) fn groups(&self) -> Vec<String> {
        vec![
            self.resource_group.clone(),
            self.node_resource_group.clone(),
            self.network_resource_group.clone(),
        ]
    }
}

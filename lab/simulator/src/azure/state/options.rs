//! Options of one run.

use std::time::Duration;

use mooring_contract::Secret;

use super::limits::RateLimits;
use super::machine::Cse;

/// Names, speed and limits of simulated Azure.
#[derive(Debug, Clone)]
pub struct AzureOptions {
    pub subscription: String,
    pub resource_group: String,
    pub cluster: String,
    pub node_resource_group: String,
    /// Resource group of a network that the cluster does not own.
    pub network_resource_group: String,
    /// Pools are in that network and name their subnet; otherwise in one that AKS created.
    pub own_network: bool,
    pub rights: Rights,
    pub deleting_view: DeletingView,
    pub location: String,
    pub tenant: String,
    /// Application that may sign in, and its secret.
    pub client_id: String,
    /// See `client_id`.
    pub client_secret: Secret,
    /// PEM of the certificate that is registered with that application.
    pub client_certificate: Option<String>,
    pub token_key: Secret,
    /// Object id of that application.
    pub principal: String,
    /// Object id under which AKS itself writes.
    pub aks_principal: String,
    /// Object id of Karpenter, which owns the node resource group and the cluster's pools.
    pub karpenter_principal: String,
    /// Speed-up factor: at 60, an operation of three minutes takes three seconds.
    pub speed: f64,
    /// Minimum and maximum delay until the activity log shows an entry.
    pub ingestion_delay: (Duration, Duration),
    pub page_size: usize,
    /// Bootstrap of a pool's new instances.
    pub pool_cse: Cse,
    /// Node image of new pools: `AKSAzureLinux-V3gen2-202601.13.0`.
    pub node_image: String,
    pub kubernetes_version: String,
    /// AKS still serves preview versions of its API. They stop working about a year after their release.
    pub aks_previews: bool,
    /// Core quota of the region; none for no limit.
    pub vcpu_quota: Option<i64>,
    pub limits: RateLimits,
    /// Access to the cluster's own API, if any.
    pub kubernetes: Option<KubernetesAccess>,
    pub require_token: bool,
    /// Scheme and authority of links, if a request has none.
    pub endpoint: String,
    pub trace_lines: usize,
}

/// Instance view of a VM that is being deleted. Azure documents none of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeletingView {
    /// Unchanged.
    #[default]
    Full,
    /// Statuses without agent and extensions.
    StatusesOnly,
    /// Not found from the start.
    Gone,
}

/// Permissions of the application that signs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rights {
    /// Role definitions in `packaging/roles`, each assigned as its description states.
    #[default]
    Shipped,
    Owner,
    /// Assignments of the scenario. In the cluster, bindings of its object id.
    Assigned,
}

/// Access to a cluster's API, as in the user credential.
#[derive(Debug, Clone)]
pub struct KubernetesAccess {
    pub server: String,
    /// Certificate authority of the API server.
    pub ca_pem: String,
    /// Token for the kubeconfig; without it, the kubeconfig uses `kubelogin`.
    pub token: Option<Secret>,
}

impl Default for AzureOptions {
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
            client_certificate: None,
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
            limits: RateLimits::default(),
            kubernetes: None,
            require_token: true,
            endpoint: "https://management.azure.com".to_owned(),
            trace_lines: 10_000,
        }
    }
}

impl AzureOptions {
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

    /// Returns the id of a collection of compute resources in the node resource group.
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

use std::time::Duration;

use jiff::Timestamp;
use serde_json::json;

use crate::azure::{
    Azure, AzureOptions, BootMode, Cse, NewVm, Rights, add_defaults, earlier, later,
};
use crate::scenario::{Bootstrap, PoolSettings, Scenario, Vms, WedgeSettings};

/// Age of an existing cluster.
const OLD: i64 = 30 * 24 * 3600;
/// Seconds since the creation of a wedged pool's unregistered nodes.
const UNREGISTERED: i64 = 2 * 3600;
/// Seconds from a VM's creation until its bootstrap starts.
const BOOT: u64 = 40;

impl Scenario {
    pub fn build(&self, seed: u64, start: Timestamp, mut options: AzureOptions) -> Azure {
        if let Some(seconds) = self.ingestion_delay_seconds {
            options.ingestion_delay = (Duration::from_secs(seconds), Duration::from_secs(seconds));
        }
        if let Some(limits) = self.limits {
            options.limits = limits;
        }
        if let Some(bootstrap) = &self.pool_bootstrap {
            options.pool_cse = bootstrap.clone();
        }
        options.vcpu_quota = self.vcpu_quota.or(options.vcpu_quota);
        options.own_network |= self.own_network;
        options.client_certificate.clone_from(&self.client_certificate);
        if self.assignments.is_some() {
            options.rights = Rights::Assigned;
        }
        let mut azure = Azure::new(seed, start, options);
        azure.add_cluster(start);
        for pool in self.pools_or_usual() {
            let wedge = self.wedge.as_ref().filter(|wedge| wedge.pool == pool.name);
            azure.add_pool(&pool, wedge, start);
        }
        for vms in &self.vms {
            azure.add_vms(vms, start);
        }
        if let Some(update) = &self.cluster_update {
            azure.begin_stuck_update(earlier(start, i64::from(update.age_minutes) * 60));
        }
        for assignment in self.assignments.iter().flatten() {
            azure.assign(assignment.clone());
        }
        for denial in &self.denials {
            azure.deny(denial.clone());
        }
        for denial in &self.deny_assignments {
            azure.add_deny_assignment(denial.clone());
        }
        for lock in &self.locks {
            azure.add_lock(lock.clone());
        }
        for rule in &self.faults {
            azure.add_fault(rule.clone(), start);
        }
        azure
    }
}

impl Azure {
    fn add_cluster(&mut self, start: Timestamp) {
        let options = self.options().clone();
        let (name, location, version) =
            (&options.cluster, &options.location, &options.kubernetes_version);
        self.put_resource(json!({
            "id": options.cluster_id(),
            "name": name,
            "type": "Microsoft.ContainerService/ManagedClusters",
            "location": location,
            "tags": {"environment": "simulated"},
            "eTag": "7c1f0b0e-0000-4000-8000-000000000000",
            "sku": {"name": "Base", "tier": "Standard"},
            "identity": {"type": "SystemAssigned", "principalId": options.aks_principal, "tenantId": options.tenant},
            "properties": {
                "provisioningState": "Succeeded",
                "powerState": {"code": "Running"},
                "kubernetesVersion": version.rsplit_once('.').map_or(version.as_str(), |(minor, _)| minor),
                "currentKubernetesVersion": version,
                "dnsPrefix": name,
                "fqdn": format!("{name}-abcd1234.hcp.{location}.azmk8s.io"),
                "nodeResourceGroup": options.node_resource_group,
                "enableRBAC": true,
                "maxAgentPools": 100,
                "aadProfile": {"managed": true, "enableAzureRBAC": true, "tenantID": options.tenant},
                "disableLocalAccounts": true,
                "networkProfile": {
                    "networkPlugin": "azure", "networkDataplane": "cilium", "loadBalancerSku": "standard",
                    "outboundType": "loadBalancer", "serviceCidr": "10.0.0.0/16", "dnsServiceIP": "10.0.0.10",
                },
                "servicePrincipalProfile": {"clientId": "msi"},
                "resourceUID": format!("{:024x}", start.as_second()),
            },
        }));
        let (network, subnet) = (options.network(), options.subnet());
        self.put_resource(json!({
            "id": network, "name": network.rsplit('/').next(), "type": "Microsoft.Network/virtualNetworks", "location": location,
            "properties": {"provisioningState": "Succeeded", "addressSpace": {"addressPrefixes": ["10.224.0.0/12"]}},
        }));
        self.put_resource(json!({
            "id": subnet, "name": "aks-subnet", "type": "Microsoft.Network/virtualNetworks/subnets",
            "properties": {"provisioningState": "Succeeded", "addressPrefix": "10.224.0.0/16"},
        }));
    }

    fn add_pool(&mut self, pool: &PoolSettings, wedge: Option<&WedgeSettings>, start: Timestamp) {
        let options = self.options().clone();
        let id = format!("{}/agentPools/{}", options.cluster_id(), pool.name);
        let mut properties = json!({
            "provisioningState": if wedge.is_some() { "Failed" } else { "Succeeded" },
            "powerState": {"code": "Running"},
            "count": pool.nodes,
            "vmSize": pool.size,
            "availabilityZones": ["1", "2", "3"],
            "enableAutoScaling": pool.min_count.is_some(),
            "orchestratorVersion": options.kubernetes_version,
            "currentOrchestratorVersion": options.kubernetes_version,
            "mode": pool.mode,
            "nodeImageVersion": options.node_image,
            "nodeTaints": pool.taints,
            "eTag": format!("7c1f0b0e-0000-4000-8000-{:012x}", u64::from(pool.nodes)),
        });
        if let (Some(min), Some(max)) = (pool.min_count, pool.max_count) {
            properties["minCount"] = json!(min);
            properties["maxCount"] = json!(max);
        }
        if options.own_network {
            properties["vnetSubnetID"] = json!(options.subnet());
        }
        if let Some(properties) = properties.as_object_mut() {
            add_defaults(properties);
        }
        self.put_resource(json!({
            "id": id, "name": pool.name, "type": "Microsoft.ContainerService/managedClusters/agentPools", "properties": properties,
        }));
        let unregistered = wedge.map_or(0, |wedge| wedge.unregistered_nodes);
        self.add_nodes(&pool.name, pool.nodes - unregistered, earlier(start, OLD), BootMode::Grown);
        self.add_nodes(&pool.name, unregistered, earlier(start, UNREGISTERED), BootMode::NoNetwork);
        if let Some(wedge) = wedge {
            self.begin_wedge(wedge, start);
        }
    }

    /// Adds a wedge with the failures of its past.
    fn begin_wedge(&mut self, wedge: &WedgeSettings, now: Timestamp) {
        self.wedge(&wedge.pool, wedge.correlation, now);
        self.fail_writes(&wedge.pool, wedge.failed_writes, now);
        self.settle(now);
    }

    /// Wedges a pool of a running simulation with the failures of its past. Returns false if the pool does not exist.
    pub fn inject_wedge(&mut self, wedge: &WedgeSettings, now: Timestamp) -> bool {
        let id = format!("{}/agentPools/{}", self.options().cluster_id(), wedge.pool);
        if !self.set_state(&id, "Failed") {
            return false;
        }
        self.lose_nodes(&wedge.pool, wedge.unregistered_nodes, earlier(now, UNREGISTERED));
        self.begin_wedge(wedge, now);
        true
    }

    fn add_vms(&mut self, vms: &Vms, start: Timestamp) {
        let cse = match &vms.bootstrap {
            Bootstrap::Succeeds => Cse::default(),
            Bootstrap::OrasMissing => Cse::oras_missing(),
            Bootstrap::Custom(cse) => cse.clone(),
        };
        for (number, name) in vms.names.iter().enumerate() {
            let created = earlier(start, i64::from(vms.age_minutes) * 60);
            let took = Duration::from_secs(BOOT + cse.seconds.unwrap_or_default());
            self.create_vm(&NewVm {
                node_pool: vms.node_pool.clone(),
                size: vms.size.clone(),
                mode: vms.mode,
                zone: (number % 3 + 1).to_string(),
                grown: !vms.boots,
                ended: Some(later(created, took).min(start)),
                ..NewVm::booting(name, &vms.image_version, cse.clone(), created)
            });
        }
    }
}

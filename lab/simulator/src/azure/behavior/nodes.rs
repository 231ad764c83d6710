//! Nodes of VMs, as their cluster sees them.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::azure::state::{AzureNode, AzureState, Vm, image_of, last, list, text};

/// Tags by which Karpenter finds its VMs.
pub(crate) const CLAIM_TAG: &str = "karpenter.azure.com_nodeclaim";
pub(crate) const NODE_POOL_TAG: &str = "karpenter.sh_nodepool";

impl AzureState {
    pub(crate) fn node_of(&self, machine: &str) -> Option<AzureNode> {
        let body = self.store.get(machine)?;
        let id = text(body, "/id");
        let instance = body["instanceId"].as_str().map(|instance| {
            (id.rsplit('/').nth(2).unwrap_or_default().to_owned(), instance.to_owned())
        });
        let pool = body.pointer("/tags/aks-managed-poolName").and_then(Value::as_str);
        let pool_body = pool.and_then(|pool| self.pool_named(pool));
        let zone = text(body, "/zones/0");
        let location = &self.options.location;
        let image = image_of(body);
        let size = text(body, "/properties/hardwareProfile/vmSize");
        let mut labels = BTreeMap::new();
        let mut label = |name: &str, value: &str| labels.insert(name.to_owned(), value.to_owned());
        label("kubernetes.io/os", "linux");
        label("kubernetes.io/arch", "amd64");
        label("kubernetes.io/hostname", text(body, "/properties/osProfile/computerName"));
        label("node.kubernetes.io/instance-type", size);
        label("topology.kubernetes.io/region", location);
        label("topology.kubernetes.io/zone", &self.zone_name(zone));
        label("kubernetes.azure.com/cluster", &self.options.node_resource_group);
        if let Some(pool) = pool {
            label("agentpool", pool);
            label("kubernetes.azure.com/agentpool", pool);
        }
        let mut taints = Vec::new();
        if let Some(pool) = pool_body {
            label("kubernetes.azure.com/mode", &text(pool, "/properties/mode").to_lowercase());
            let image = text(pool, "/properties/nodeImageVersion");
            label("kubernetes.azure.com/node-image-version", image);
            let own = pool["properties"]["nodeLabels"].as_object();
            for (name, value) in own.into_iter().flatten() {
                label(name, value.as_str().unwrap_or_default());
            }
            let own = list(pool, "/properties/nodeTaints").iter();
            taints.extend(own.filter_map(Value::as_str).map(str::to_owned));
        }
        let claim = body.pointer(&format!("/tags/{CLAIM_TAG}")).and_then(Value::as_str);
        if claim.is_some() {
            label("karpenter.sh/nodepool", text(body, &format!("/tags/{NODE_POOL_TAG}")));
        }
        let version =
            pool_body.map_or("", |pool| text(pool, "/properties/currentOrchestratorVersion"));
        let version = if version.is_empty() { &self.options.kubernetes_version } else { version };
        Some(AzureNode {
            name: text(body, "/properties/osProfile/computerName").to_owned(),
            provider_id: format!("azure://{id}"),
            pool: pool.map(str::to_owned),
            instance,
            claim: claim.map(str::to_owned),
            vm_id: text(body, "/properties/vmId").to_owned(),
            labels,
            taints,
            image_version: last(image).to_owned(),
            kubernetes_version: version.to_owned(),
            address: self.address_of(id).to_owned(),
            join: self.joins.get(&id.to_lowercase()).copied().unwrap_or_default(),
        })
    }

    /// Returns the VM as Karpenter sees it; none if Karpenter did not create it.
    pub(crate) fn karpenter_vm(&self, machine: &str) -> Option<Vm> {
        let body = self.store.get(machine)?;
        let claim = body.pointer(&format!("/tags/{CLAIM_TAG}")).and_then(Value::as_str)?;
        Some(Vm {
            name: text(body, "/name").to_owned(),
            claim: claim.to_owned(),
            node_pool: text(body, &format!("/tags/{NODE_POOL_TAG}")).to_owned(),
            provider_id: format!("azure://{}", text(body, "/id")),
            image_version: last(image_of(body)).to_owned(),
            size: text(body, "/properties/hardwareProfile/vmSize").to_owned(),
            zone: self.zone_name(text(body, "/zones/0")),
        })
    }

    /// Returns the address of a VM's first interface, or an empty one.
    pub(crate) fn address_of(&self, machine: &str) -> &str {
        let nic = self.store.list(&format!("{machine}/networkInterfaces")).next();
        let address = "/properties/ipConfigurations/0/properties/privateIPAddress";
        nic.map_or("", |nic| text(nic, address))
    }

    fn zone_name(&self, zone: &str) -> String {
        if zone.is_empty() { "0".to_owned() } else { format!("{}-{zone}", self.options.location) }
    }

    pub(crate) fn pool_named(&self, pool: &str) -> Option<&Value> {
        self.store.get(&format!("{}/agentPools/{pool}", self.options.cluster_id()))
    }
}

//! A pool's body as AKS stores it: the members of the request and AKS's defaults.

use serde_json::{Map, Value, json};

use crate::azure::api::aks::pool_rules::{is_of_machines, is_stopped};
use crate::azure::api::request::ArmError;
use crate::azure::state::{AzureState, last, text};

/// First version in which `nodeImageVersion` can be set, which rolls a pool back.
const ROLLBACK_VERSION: &str = "2026-04-01";

impl AzureState {
    pub(crate) fn whole_pool(
        &mut self,
        cluster: &str,
        id: &str,
        mut properties: Map<String, Value>,
        old: Option<&Value>,
    ) -> Value {
        let current = self
            .store
            .get(cluster)
            .map_or("", |body| text(body, "/properties/currentKubernetesVersion"));
        let version = if current.is_empty() {
            self.options.kubernetes_version.clone()
        } else {
            current.to_owned()
        };
        let wanted =
            properties.get("orchestratorVersion").and_then(Value::as_str).unwrap_or_default();
        let wanted = if wanted.is_empty() { version.clone() } else { wanted.to_owned() };
        let node_image = self.image_of(&properties, old);
        let running = if wanted.matches('.').count() == 2 { wanted.clone() } else { version };
        let power = properties.remove("powerState").filter(|state| !state.is_null());
        let power = power.or_else(|| old.map(|old| old["properties"]["powerState"].clone()));
        let power = power.filter(|state| !state.is_null());
        for name in ["currentOrchestratorVersion", "provisioningState", "eTag", "status"] {
            properties.remove(name);
        }
        for (name, value) in [
            ("type", json!("VirtualMachineScaleSets")),
            ("mode", json!("User")),
            ("osType", json!("Linux")),
            ("osSKU", json!("AzureLinux")),
            ("osDiskType", json!("Managed")),
            ("kubeletDiskType", json!("OS")),
            ("maxPods", json!(110)),
            ("scaleDownMode", json!("Delete")),
            ("enableAutoScaling", json!(false)),
            ("enableNodePublicIP", json!(false)),
            ("enableEncryptionAtHost", json!(false)),
            ("enableUltraSSD", json!(false)),
            ("enableFIPS", json!(false)),
            ("upgradeSettings", json!({"maxSurge": "10%"})),
            ("securityProfile", json!({"enableVTPM": false, "enableSecureBoot": false})),
        ] {
            let member = properties.entry(name).or_insert(Value::Null);
            if member.is_null() {
                *member = value;
            }
        }
        // 0 means the default of the VM size.
        let disk = properties.entry("osDiskSizeGB").or_insert(Value::Null);
        if disk.as_i64().is_none_or(|size| size == 0) {
            *disk = json!(128);
        }
        if is_of_machines(&properties) {
            properties.remove("count");
            properties.insert("virtualMachineNodesStatus".to_owned(), nodes_of(&properties));
        } else {
            properties.entry("count").or_insert(json!(1));
        }
        for (name, value) in [
            ("orchestratorVersion", json!(wanted)),
            ("currentOrchestratorVersion", json!(running)),
            ("nodeImageVersion", json!(node_image)),
            ("powerState", power.unwrap_or_else(|| json!({"code": "Running"}))),
            ("provisioningState", json!(if old.is_none() { "Creating" } else { "Updating" })),
            ("eTag", json!(self.store.next_tag())),
        ] {
            properties.insert(name.to_owned(), value);
        }
        json!({
            "id": id,
            "name": last(id),
            "type": "Microsoft.ContainerService/managedClusters/agentPools",
            "properties": properties,
        })
    }

    /// Returns the image of new nodes: of the snapshot, the requested one, the pool's current one, or the newest.
    fn image_of(&self, properties: &Map<String, Value>, old: Option<&Value>) -> String {
        let snapshot = source_of(properties).and_then(|source| self.store.get(source));
        let sent = properties.get("nodeImageVersion").and_then(Value::as_str);
        let own = old.map_or("", |old| text(old, "/properties/nodeImageVersion"));
        snapshot
            .map(|body| text(body, "/properties/nodeImageVersion"))
            .or(sent)
            .into_iter()
            .chain([own, &self.options.node_image])
            .find(|image| !image.is_empty())
            .unwrap_or_default()
            .to_owned()
    }

    /// Rejects an image that the pool has not used recently, any image for a new pool, and an unknown snapshot.
    pub(crate) fn check_image(
        &self,
        id: &str,
        old: Option<&Value>,
        properties: &Map<String, Value>,
        version: &str,
    ) -> Result<(), ArmError> {
        if let Some(source) = source_of(properties).filter(|source| !self.store.has(source)) {
            return Err(ArmError::invalid_parameter(format!(
                "The value of parameter agentPoolProfile.creationData.sourceResourceId is invalid: the snapshot {source} was not found."
            )));
        }
        let Some(image) = properties.get("nodeImageVersion").and_then(Value::as_str) else {
            return Ok(());
        };
        if version < ROLLBACK_VERSION || image.is_empty() {
            return Ok(());
        }
        let used = format!("{id}/upgradeProfiles/default");
        let used = self.store.get(&used).map(|body| &body["properties"]["recentlyUsedVersions"]);
        let mut used = used.and_then(Value::as_array).into_iter().flatten();
        let own = old.map_or("", |old| text(old, "/properties/nodeImageVersion"));
        if image == own || used.any(|used| text(used, "/nodeImageVersion") == image) {
            return Ok(());
        }
        Err(ArmError::invalid_parameter(format!(
            "The value of parameter agentPoolProfile.nodeImageVersion is invalid: '{image}' is not a recently used version of the agent pool."
        )))
    }
}

fn source_of(properties: &Map<String, Value>) -> Option<&str> {
    properties.get("creationData")?.get("sourceResourceId")?.as_str()
}

/// Returns the sizes and counts of a pool of single VMs. The autoscaler starts with the minimum.
fn nodes_of(properties: &Map<String, Value>) -> Value {
    let scale = properties.get("virtualMachinesProfile").map(|profile| &profile["scale"]);
    let of = |how: &str, count: &str| -> Vec<Value> {
        let list = scale.and_then(|scale| scale[how].as_array());
        let list = list.into_iter().flatten();
        list.map(|entry| json!({"size": entry["size"], "count": entry[count]})).collect()
    };
    let stopped = is_stopped(properties);
    let nodes = [of("manual", "count"), of("autoscale", "minCount")].concat();
    if stopped { json!([]) } else { json!(nodes) }
}

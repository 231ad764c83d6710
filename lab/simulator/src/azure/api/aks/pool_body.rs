//! A pool's body as AKS stores it: the members of the request and AKS's defaults.

use serde_json::{Map, Value, json};

use crate::azure::api::aks::pool_rules::{is_of_machines, is_stopped};
use crate::azure::api::request::ArmError;
use crate::azure::state::{AzureState, last, list, string, text};

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
        let version = match self.store.text(cluster, "/properties/currentKubernetesVersion") {
            "" => self.options.kubernetes_version.clone(),
            current => current.to_owned(),
        };
        let wanted = match string(&properties, "orchestratorVersion") {
            "" => version.clone(),
            wanted => wanted.to_owned(),
        };
        let node_image = self.image_of(&properties, old);
        let running = if wanted.matches('.').count() == 2 { wanted.clone() } else { version };
        let power = properties.remove("powerState").filter(|state| !state.is_null());
        let power = power.or_else(|| old.map(|old| old["properties"]["powerState"].clone()));
        let power = power.filter(|state| !state.is_null());
        for name in ["currentOrchestratorVersion", "provisioningState", "eTag", "status"] {
            properties.remove(name);
        }
        add_defaults(&mut properties);
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
        let image = "/properties/nodeImageVersion";
        let sent = string(properties, "nodeImageVersion");
        let first = snapshot.map_or(sent, |body| text(body, image));
        let images = [first, old.map_or("", |old| text(old, image)), &self.options.node_image];
        images.into_iter().find(|image| !image.is_empty()).unwrap_or_default().to_owned()
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
        let image = string(properties, "nodeImageVersion");
        if version < ROLLBACK_VERSION || image.is_empty() {
            return Ok(());
        }
        let profile = self.store.get(&format!("{id}/upgradeProfiles/default"));
        let used = profile.map_or(&[][..], |body| list(body, "/properties/recentlyUsedVersions"));
        let own = old.map_or("", |old| text(old, "/properties/nodeImageVersion"));
        if image == own || used.iter().any(|used| used["nodeImageVersion"] == image) {
            return Ok(());
        }
        Err(ArmError::invalid_parameter(format!(
            "The value of parameter agentPoolProfile.nodeImageVersion is invalid: '{image}' is not a recently used version of the agent pool."
        )))
    }
}

/// Adds the members that AKS adds to a pool of scale sets.
pub(crate) fn add_defaults(properties: &mut Map<String, Value>) {
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
}

fn source_of(properties: &Map<String, Value>) -> Option<&str> {
    properties.get("creationData")?.get("sourceResourceId")?.as_str()
}

/// Returns the sizes and counts of a pool of single VMs. The autoscaler starts with the minimum.
fn nodes_of(properties: &Map<String, Value>) -> Value {
    if is_stopped(properties) {
        return json!([]);
    }
    let profile = properties.get("virtualMachinesProfile").unwrap_or(&Value::Null);
    let of = |how: &str, count: &'static str| {
        let entries = list(profile, &format!("/scale/{how}")).iter();
        entries.map(move |entry| json!({"size": entry["size"], "count": entry[count]}))
    };
    of("manual", "count").chain(of("autoscale", "minCount")).collect()
}

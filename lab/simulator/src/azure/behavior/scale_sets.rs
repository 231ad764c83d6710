//! Scale sets of pools: creation, growth and shrinking by operations.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::azure::state::{
    AzureState, BootMode, Extensions, NodeImage, VmSpec, Work, last, list, number, set, text,
};

impl AzureState {
    pub(crate) fn vmss_of(&self, pool: &str) -> Option<&Value> {
        self.store
            .list(&self.options.compute("virtualMachineScaleSets"))
            .find(|vmss| text(vmss, "/tags/aks-managed-poolName") == pool)
    }

    pub(crate) fn vmss_id(&self, pool: &str) -> Option<String> {
        self.vmss_of(pool).map(|vmss| text(vmss, "/id").to_owned())
    }

    /// Creates the scale set of a pool, with a name that was never used before.
    pub(crate) fn add_vmss(&mut self, pool: &str) -> Option<String> {
        let body = self.pool_named(pool)?.clone();
        let digits = 10_000_000 + self.random.below(90_000_000);
        let name = format!("aks-{pool}-{digits}-vmss");
        let id = format!("{}/{name}", self.options.compute("virtualMachineScaleSets"));
        let properties = &body["properties"];
        let version = text(properties, "/nodeImageVersion").rsplit('-').next().unwrap_or_default();
        let subnet = self.subnet_of(&body);
        let mut tags = json!({
            "aks-managed-poolName": pool,
            "aks-managed-orchestrator": format!("Kubernetes:{}", text(properties, "/currentOrchestratorVersion")),
            "aks-managed-createOperationID": self.guid(),
        });
        for (name, value) in properties["tags"].as_object().into_iter().flatten() {
            tags[name] = value.clone();
        }
        let vmss = json!({
            "id": id,
            "name": name,
            "type": "Microsoft.Compute/virtualMachineScaleSets",
            "location": self.options.location,
            "zones": properties.get("availabilityZones").cloned().unwrap_or_else(|| json!(["1", "2", "3"])),
            "tags": tags,
            "sku": {"name": text(properties, "/vmSize"), "tier": "Standard", "capacity": 0},
            "properties": {
                "singlePlacementGroup": false,
                "orchestrationMode": "Uniform",
                "upgradePolicy": {"mode": "Manual"},
                "overprovision": false,
                "provisioningState": "Updating",
                "uniqueId": self.guid(),
                "virtualMachineProfile": {
                    "osProfile": {"computerNamePrefix": name, "adminUsername": "azureuser", "linuxConfiguration": {"disablePasswordAuthentication": true}},
                    "storageProfile": {
                        "imageReference": {"id": NodeImage::parse(version).gallery_id()},
                        "osDisk": {"osType": "Linux", "createOption": "FromImage", "caching": "ReadOnly", "diskSizeGB": properties["osDiskSizeGB"]},
                    },
                    "networkProfile": {"networkInterfaceConfigurations": [{
                        "name": name,
                        "properties": {
                            "primary": true,
                            "enableIPForwarding": true,
                            "enableAcceleratedNetworking": true,
                            "dnsSettings": {"dnsServers": []},
                            "ipConfigurations": [{"name": "ipconfig1", "properties": {"primary": true, "subnet": {"id": subnet}, "privateIPAddressVersion": "IPv4"}}],
                        },
                    }]},
                    "extensionProfile": {"extensions": [{
                        "name": "vmssCSE",
                        "properties": {"publisher": "Microsoft.Azure.Extensions", "type": "CustomScript", "typeHandlerVersion": "2.0", "autoUpgradeMinorVersion": true, "settings": {}},
                    }]},
                },
            },
        });
        self.store.put(vmss);
        Some(id)
    }

    /// Returns a subnet with one entry for every address in use by an interface.
    pub(crate) fn with_addresses_in_use(&self, body: &Value) -> Value {
        let mut body = body.clone();
        if text(&body, "/type") == "Microsoft.Network/virtualNetworks/subnets" {
            let id = text(&body, "/id").to_owned();
            let used = self.store.all().flat_map(|nic| list(nic, "/properties/ipConfigurations"));
            let used = used
                .filter(|used| text(used, "/properties/subnet/id").eq_ignore_ascii_case(&id))
                .map(|used| json!({"id": used["id"]}))
                .collect::<Vec<_>>();
            set(&mut body, "ipConfigurations", used);
        }
        body
    }

    fn subnet_of(&self, pool: &Value) -> String {
        let own = text(pool, "/properties/vnetSubnetID");
        if own.is_empty() { self.options.subnet() } else { own.to_owned() }
    }

    pub(crate) fn add_instance(
        &mut self,
        vmss: &str,
        created: Timestamp,
        life: BootMode,
    ) -> Option<String> {
        let body = self.store.get(vmss)?.clone();
        let id = text(&body, "/id");
        let number = self
            .store
            .list(&format!("{id}/virtualMachines"))
            .map(|machine| text(machine, "/instanceId").parse::<u64>().unwrap_or_default() + 1)
            .max()
            .unwrap_or_default();
        let zones = body["zones"].as_array().map_or(1, Vec::len).max(1) as u64;
        let machine = format!("{id}/virtualMachines/{number}");
        let name = text(&body, "/name");
        self.add_machine(&VmSpec {
            id: machine.clone(),
            extensions: Extensions::AtBirth("vmssCSE"),
            image: body["properties"]["virtualMachineProfile"]["storageProfile"]["imageReference"].clone(),
            size: text(&body, "/sku/name").to_owned(),
            zone: Some((number % zones + 1).to_string()),
            computer_name: format!("{name}{}", base36(number)),
            subnet: text(
                &body,
                "/properties/virtualMachineProfile/networkProfile/networkInterfaceConfigurations/0/properties/ipConfigurations/0/properties/subnet/id",
            )
            .to_owned(),
            tags: body["tags"].clone(),
            created,
            ended: created,
            life,
            cse: self.options.pool_cse.clone(),
        });
        self.count_instances(id);
        Some(machine)
    }

    fn count_instances(&mut self, vmss: &str) {
        let count = self.store.list(&format!("{vmss}/virtualMachines")).count();
        if let Some(body) = self.store.get_mut(vmss) {
            body["sku"]["capacity"] = json!(count);
        }
    }

    /// Grows a pool's scale set to the count of its operation; creates the scale set if needed.
    pub(crate) fn grow_pool(&mut self, operation: &str, at: Timestamp) {
        let Some((pool, count)) = self.wanted(operation) else { return };
        let Some(vmss) = self.vmss_id(&pool).or_else(|| self.add_vmss(&pool)) else { return };
        let life = if self.is_wedged(&vmss) { BootMode::NoNetwork } else { BootMode::Boots };
        let there = self.store.list(&format!("{vmss}/virtualMachines")).count();
        for _ in there..usize::try_from(count).unwrap_or_default() {
            self.add_instance(&vmss, at, life);
        }
    }

    /// Removes surplus instances, the newest first.
    pub(crate) fn shrink_pool(&mut self, operation: &str) {
        let Some((pool, count)) = self.wanted(operation) else { return };
        let Some(vmss) = self.vmss_id(&pool) else { return };
        let mut machines = self.store.ids(&format!("{vmss}/virtualMachines"));
        machines.sort_by_key(|id| last(id).parse::<u64>().unwrap_or_default());
        for machine in machines.iter().skip(usize::try_from(count).unwrap_or_default()) {
            self.remove_machine(machine);
        }
        self.count_instances(&vmss);
    }

    pub(crate) fn remove_vmss(&mut self, vmss: &str) {
        for machine in self.store.ids(&format!("{vmss}/virtualMachines")) {
            self.remove_machine(&machine);
        }
        self.wedges.remove(&vmss.to_lowercase());
        self.store.remove(vmss);
    }

    /// Returns the pool of a running operation and its desired node count.
    fn wanted(&self, operation: &str) -> Option<(String, i64)> {
        let operation =
            self.operations.get(operation).filter(|operation| operation.is_running())?;
        let pool = self.store.get(&operation.target)?;
        if text(pool, "/properties/type") == "VirtualMachines" {
            return None;
        }
        let count = match operation.work {
            Work::PutPool { .. } if text(pool, "/properties/powerState/code") == "Stopped" => 0,
            Work::PutPool { .. } => number(pool, "/properties/count"),
            Work::DeletePool => 0,
            _ => return None,
        };
        Some((text(pool, "/name").to_owned(), count))
    }
}

/// Encodes the six digits after a computer name's prefix.
fn base36(mut number: u64) -> String {
    let mut digits = [b'0'; 6];
    for digit in digits.iter_mut().rev() {
        *digit = b"0123456789abcdefghijklmnopqrstuvwxyz"
            [usize::try_from(number % 36).unwrap_or_default()];
        number /= 36;
    }
    String::from_utf8_lossy(&digits).into_owned()
}

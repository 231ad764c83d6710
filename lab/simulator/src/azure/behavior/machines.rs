//! Virtual machines, of scale sets and single: creation, boot and deletion, with their NICs.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::azure::behavior::wedge::MESSAGE;
use crate::azure::state::{
    AzureChange, AzureState, BootMode, Cse, Guest, Join, ScheduledEvent, VmSpec, last, set, stamp,
};

/// Seconds from a VM's creation until it runs, and from the bootstrap's end until the node registers.
const BOOT: u64 = 40;
pub(crate) const REGISTRATION: u64 = 10;
const UNADDRESSED: u64 = 120;

/// Returns the key of the script that a VM runs without an extension.
pub(crate) fn unattended(machine: &str) -> String {
    format!("{}/unattended", machine.to_lowercase())
}

impl AzureState {
    pub(crate) fn add_machine(&mut self, birth: &VmSpec) {
        self.machines += 1;
        let (id, number) = (&birth.id, self.machines);
        let instance = last(id).to_owned();
        let nic = format!(
            "{id}/networkInterfaces/{}",
            if birth.life == BootMode::NoNetwork { "nic-1" } else { "nic-0" }
        );
        let in_scale_set = id.to_lowercase().contains("/virtualmachinescalesets/");
        let set_name = id.rsplit('/').nth(2).unwrap_or_default();
        let mut body = json!({
            "id": id,
            "name": if in_scale_set { format!("{set_name}_{instance}") } else { instance.clone() },
            "type": if in_scale_set { "Microsoft.Compute/virtualMachineScaleSets/virtualMachines" } else { "Microsoft.Compute/virtualMachines" },
            "location": self.options.location,
            "tags": birth.tags,
            "properties": {
                "vmId": self.guid(),
                "provisioningState": "Creating",
                "timeCreated": stamp(birth.created),
                "hardwareProfile": {"vmSize": birth.size},
                "storageProfile": {"imageReference": birth.image, "osDisk": {"osType": "Linux", "createOption": "FromImage"}},
                "osProfile": {"computerName": birth.computer_name, "adminUsername": "azureuser", "linuxConfiguration": {"disablePasswordAuthentication": true}},
                "networkProfile": {"networkInterfaces": [{"id": nic, "properties": {"primary": true}}]},
                "instanceView": {"statuses": [
                    {"code": "ProvisioningState/creating", "level": "Info", "displayStatus": "Creating"},
                    {"code": "PowerState/starting", "level": "Info", "displayStatus": "VM starting"},
                ]},
            },
        });
        if in_scale_set {
            body["instanceId"] = json!(instance);
            body["sku"] = json!({"name": birth.size, "tier": "Standard"});
            set(&mut body, "latestModelApplied", true);
            // AKS enables them for its scale sets; Karpenter does not.
            set(&mut body, "diagnosticsProfile", json!({"bootDiagnostics": {"enabled": true}}));
        }
        if let Some(zone) = &birth.zone {
            body["zones"] = json!([zone]);
        }
        self.store.put(body);
        self.add_nic(birth, &nic, number);
        if birth.cse.join != Join::Ready {
            self.joins.insert(id.to_lowercase(), birth.cse.join);
        }
        if birth.cse.guest != Guest::Ready {
            self.guests.insert(id.to_lowercase(), birth.cse.guest);
        }
        if birth.life != BootMode::NoNetwork {
            self.plan_extensions(birth);
        }
        match birth.life {
            BootMode::Grown => self.finish_boot(birth),
            BootMode::Boots => {
                let at = self.after(birth.created, BOOT);
                self.events.plan(at, ScheduledEvent::MachineRuns { id: id.to_lowercase() });
            }
            BootMode::NoNetwork => self.fail_network(id, birth.created),
        }
    }

    fn add_nic(&mut self, birth: &VmSpec, nic: &str, number: u32) {
        let address = format!("10.224.{}.{}", number / 250, 4 + number % 250);
        let addresses = if birth.life == BootMode::NoNetwork {
            // At first the list is null or missing.
            let at = self.after(birth.created, UNADDRESSED);
            self.events.plan(at, ScheduledEvent::InterfaceStaysEmpty { nic: nic.to_lowercase() });
            Value::Null
        } else {
            json!([{
                "name": "ipconfig1",
                "id": format!("{nic}/ipConfigurations/ipconfig1"),
                "properties": {
                    "provisioningState": "Succeeded",
                    "privateIPAddress": address,
                    "privateIPAllocationMethod": "Dynamic",
                    "primary": true,
                    "privateIPAddressVersion": "IPv4",
                    "subnet": {"id": birth.subnet},
                },
            }])
        };
        let mut body = json!({
            "id": nic,
            "name": last(nic),
            "properties": {
                "provisioningState": if birth.life == BootMode::NoNetwork { "Updating" } else { "Succeeded" },
                "macAddress": format!("00-0D-3A-{:02X}-{:02X}-{:02X}", number >> 16 & 0xff, number >> 8 & 0xff, number & 0xff),
                "enableAcceleratedNetworking": true,
                "enableIPForwarding": true,
                "primary": true,
                "virtualMachine": {"id": birth.id},
                "ipConfigurations": addresses,
            },
        });
        if birth.life == BootMode::NoNetwork
            && number.is_multiple_of(2)
            && let Some(properties) = body["properties"].as_object_mut()
        {
            properties.remove("ipConfigurations");
        }
        self.store.put(body);
    }

    pub(crate) fn empty_interface(&mut self, nic: &str) {
        if let Some(body) = self.store.get_mut(nic) {
            set(body, "ipConfigurations", json!([]));
        }
    }

    /// Bootstraps without an extension: visible are only the node, if it registers, and the files of the VM.
    pub(crate) fn bootstrap_unattended(&mut self, birth: &VmSpec) {
        let script = &birth.cse;
        self.scripts.insert(unattended(&birth.id), script.clone());
        if let (BootMode::Boots, true, Some(seconds)) =
            (birth.life, script.succeeds(), script.seconds)
        {
            let joins = self.after(birth.created, BOOT + seconds + REGISTRATION);
            self.events.plan(joins, ScheduledEvent::NodeJoins { id: birth.id.to_lowercase() });
        }
    }

    /// Returns true if a bootstrap without an extension has ended.
    pub(crate) fn has_ended(&self, id: &str, script: &Cse, now: Timestamp) -> bool {
        let created = self.store.text(id, "/properties/timeCreated").parse::<Timestamp>();
        let (Ok(created), Some(seconds)) = (created, script.seconds) else { return false };
        self.after(created, BOOT + seconds) <= now
    }

    /// Puts a VM that booted long ago into its final state.
    fn finish_boot(&mut self, birth: &VmSpec) {
        let id = birth.id.to_lowercase();
        self.run_machine(&id, birth.created, false);
        for extension in self.store.ids(&format!("{id}/extensions")) {
            self.end_extension(&extension.to_lowercase(), birth.ended, false);
        }
        if birth.cse.succeeds() {
            self.join_node(&id);
        }
    }

    /// Ends the VM's own operation: it runs, and its agent is ready unless the VM is faulty.
    pub(crate) fn run_machine(&mut self, id: &str, at: Timestamp, plan: bool) {
        let guest = self.guests.get(id).copied().unwrap_or_default();
        let Some(body) = self.store.get_mut(id) else { return };
        set(body, "provisioningState", "Succeeded");
        set(body, "instanceView", guest.instance_view(&stamp(at)));
        self.begin_extensions(id, at, plan);
    }

    fn fail_network(&mut self, id: &str, at: Timestamp) {
        let Some(body) = self.store.get_mut(id) else { return };
        set(body, "provisioningState", "Failed");
        set(
            body,
            "instanceView",
            json!({
                "platformUpdateDomain": 0,
                "platformFaultDomain": 0,
                "vmAgent": {"vmAgentVersion": "Unknown", "statuses": [{
                    "code": "ProvisioningState/Unavailable", "level": "Warning", "displayStatus": "Not Ready",
                    "message": "VM status blob is found but not yet populated.", "time": stamp(at),
                }]},
                "statuses": [
                    {
                        "code": "ProvisioningState/failed/NetworkingInternalOperationError", "level": "Error",
                        "displayStatus": "Provisioning failed", "message": MESSAGE, "time": stamp(at),
                    },
                    {"code": "PowerState/stopped", "level": "Info", "displayStatus": "VM stopped"},
                ],
            }),
        );
    }

    /// Deletes a VM and its dependent resources.
    pub(crate) fn remove_machine(&mut self, id: &str) {
        let key = id.to_lowercase();
        let vm = self.karpenter_vm(&key);
        if self.joined.remove(&key)
            && let Some(node) = self.node_of(&key)
        {
            self.queue_change(AzureChange::NodeGone {
                node: node.name,
                provider_id: node.provider_id,
            });
        }
        self.store.remove(&key);
        let under = format!("{key}/");
        self.scripts.retain(|extension, _| !extension.starts_with(&under));
        self.promises.remove(&key);
        self.joins.remove(&key);
        self.guests.remove(&key);
        self.remove_pool_machine_of(&key);
        if let Some(vm) = vm {
            self.queue_change(AzureChange::VmGone(vm));
        }
    }

    /// Registers the node of a VM that still exists, as far as its kubelet gets.
    pub(crate) fn join_node(&mut self, id: &str) {
        if let Some(node) = self.node_of(id)
            && !self.joined.contains(&id.to_lowercase())
        {
            if node.join.has_node() {
                self.joined.insert(id.to_lowercase());
            }
            self.queue_change(AzureChange::NodeJoined(node));
        }
    }
}

//! Virtual machines, of scale sets and single: how they are born, boot and go, with their NICs and extensions.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::agenda::Event;
use super::changes::Change;
use super::cse::Cse;
use super::store::{last, set, text};
use super::world::{World, stamp};

/// Seconds from a machine's creation until it runs, and from the bootstrap's end until the node registers.
const BOOT: u64 = 40;
const REGISTRATION: u64 = 10;

/// What a machine is, at the instant at which it appears.
#[derive(Debug, Clone)]
pub(crate) struct Birth {
    /// The id of the machine.
    pub(crate) id: String,
    /// The name of its bootstrap extension; without one it bootstraps by its custom data.
    pub(crate) extension: Option<&'static str>,
    /// The id of its node image.
    pub(crate) image: String,
    pub(crate) size: String,
    pub(crate) zone: Option<String>,
    pub(crate) computer_name: String,
    pub(crate) subnet: String,
    pub(crate) tags: Value,
    pub(crate) created: Timestamp,
    pub(crate) life: Life,
    pub(crate) cse: Cse,
}

/// What becomes of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    /// It boots, its bootstrap runs, its node may register.
    Boots,
    /// All of that is long past.
    Grown,
    /// It never gets an address, so nothing of it ever happens.
    NoNetwork,
}

/// The key of the script that a machine runs without an extension.
pub(crate) fn unattended(machine: &str) -> String {
    format!("{}/unattended", machine.to_lowercase())
}

impl World {
    /// Puts a machine into the world, and on the agenda what becomes of it.
    pub(crate) fn add_machine(&mut self, birth: &Birth) {
        self.machines += 1;
        let (id, number) = (&birth.id, self.machines);
        let instance = last(id).to_owned();
        let nic = format!(
            "{id}/networkInterfaces/{}",
            if birth.life == Life::NoNetwork { "nic-1" } else { "nic-0" }
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
                "storageProfile": {"imageReference": {"id": birth.image}, "osDisk": {"osType": "Linux", "createOption": "FromImage"}},
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
        }
        if let Some(zone) = &birth.zone {
            body["zones"] = json!([zone]);
        }
        self.store.put(body);
        self.add_nic(birth, &nic, number);
        match birth.extension {
            Some(_) if birth.life == Life::NoNetwork => {}
            Some(name) => self.add_extension(birth, name),
            None => self.bootstrap_unattended(birth),
        }
        match birth.life {
            Life::Grown => self.grow_up(birth),
            Life::Boots => {
                let at = self.after(birth.created, BOOT);
                self.agenda.plan(at, Event::MachineRuns { id: id.to_lowercase() });
            }
            Life::NoNetwork => self.fail_network(id, birth.created),
        }
    }

    fn add_nic(&mut self, birth: &Birth, nic: &str, number: u32) {
        let address = format!("10.224.{}.{}", number / 250, 4 + number % 250);
        let addresses = if birth.life == Life::NoNetwork {
            json!([])
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
        self.store.put(json!({
            "id": nic,
            "name": last(nic),
            "properties": {
                "provisioningState": if birth.life == Life::NoNetwork { "Updating" } else { "Succeeded" },
                "macAddress": format!("00-0D-3A-{:02X}-{:02X}-{:02X}", number >> 16 & 0xff, number >> 8 & 0xff, number & 0xff),
                "enableAcceleratedNetworking": true,
                "enableIPForwarding": true,
                "primary": true,
                "virtualMachine": {"id": birth.id},
                "ipConfigurations": addresses,
            },
        }));
    }

    fn add_extension(&mut self, birth: &Birth, name: &str) {
        let id = format!("{}/extensions/{name}", birth.id);
        let kind = text(self.store.get(&birth.id).unwrap_or(&Value::Null), "/type").to_owned();
        self.store.put(json!({
            "id": id,
            "name": name,
            "type": format!("{kind}/extensions"),
            "location": self.options.location,
            "properties": {
                "provisioningState": "Creating",
                "publisher": "Microsoft.Azure.Extensions",
                "type": "CustomScript",
                "typeHandlerVersion": "2.0",
                "autoUpgradeMinorVersion": true,
                "settings": {},
            },
        }));
        self.scripts.insert(id.to_lowercase(), birth.cse.clone());
    }

    /// The machine bootstraps without an extension: nothing of it is to be seen but the node, if it comes, and what
    /// it wrote down itself.
    fn bootstrap_unattended(&mut self, birth: &Birth) {
        let script = &birth.cse;
        self.scripts.insert(unattended(&birth.id), script.clone());
        if let (Life::Boots, 0, true, Some(seconds)) =
            (birth.life, script.exit_code, script.registers, script.seconds)
        {
            let joins = self.after(birth.created, BOOT + seconds + REGISTRATION);
            self.agenda.plan(joins, Event::NodeJoins { id: birth.id.to_lowercase() });
        }
    }

    /// Whether a bootstrap without an extension is over.
    pub(crate) fn has_ended(&self, id: &str, script: &Cse, now: Timestamp) -> bool {
        let created = self.store.get(id).map(|body| text(body, "/properties/timeCreated"));
        let created = created.and_then(|created| created.parse::<Timestamp>().ok());
        let (Some(created), Some(seconds)) = (created, script.seconds) else { return false };
        self.after(created, BOOT + seconds) <= now
    }

    /// A machine whose life began long ago.
    fn grow_up(&mut self, birth: &Birth) {
        let id = birth.id.to_lowercase();
        self.run_machine(&id, birth.created, false);
        if let Some(name) = birth.extension {
            let extension = format!("{id}/extensions/{}", name.to_lowercase());
            self.end_extension(&extension, birth.created, false);
        }
        if birth.cse.exit_code == 0 && birth.cse.registers {
            self.join_node(&id);
        }
    }

    /// The machine runs and its agent is ready; its bootstrap goes on from here.
    pub(crate) fn run_machine(&mut self, id: &str, at: Timestamp, plan: bool) {
        let Some(body) = self.store.get_mut(id) else { return };
        set(body, "provisioningState", "Updating");
        body["properties"]["instanceView"] = json!({
            "vmAgent": {
                "vmAgentVersion": "2.11.1.4",
                "statuses": [{"code": "ProvisioningState/succeeded", "level": "Info", "displayStatus": "Ready", "message": "Guest Agent is running", "time": stamp(at)}],
            },
            "statuses": [
                {"code": "ProvisioningState/updating", "level": "Info", "displayStatus": "Updating"},
                {"code": "PowerState/running", "level": "Info", "displayStatus": "VM running"},
            ],
        });
        let extensions: Vec<String> = self
            .store
            .list(&format!("{id}/extensions"))
            .map(|body| text(body, "/id").to_lowercase())
            .collect();
        if extensions.is_empty()
            && let Some(body) = self.store.get_mut(id)
        {
            // Nothing is waited for: for Azure the machine is complete.
            set(body, "provisioningState", "Succeeded");
            body["properties"]["instanceView"]["statuses"][0] = json!({"code": "ProvisioningState/succeeded", "level": "Info", "displayStatus": "Provisioning succeeded", "time": stamp(at)});
        }
        for extension in extensions {
            let Some(script) = self.scripts.get(&extension).cloned() else { continue };
            if let Some(body) = self.store.get_mut(&extension) {
                let view = script.instance_view(text(body, "/name"), None);
                set(body, "instanceView", view);
            }
            if let (true, Some(seconds)) = (plan, script.seconds) {
                let ends = self.after(at, seconds);
                self.agenda.plan(ends, Event::ExtensionEnds { id: extension });
            }
        }
    }

    /// The bootstrap has ended: the extension, and with it the machine, succeeded or failed.
    pub(crate) fn end_extension(&mut self, extension: &str, at: Timestamp, plan: bool) {
        let Some(script) = self.scripts.remove(extension) else { return };
        let Some(body) = self.store.get_mut(extension) else { return };
        let state = if script.exit_code == 0 { "Succeeded" } else { "Failed" };
        let view = script.instance_view(text(body, "/name"), Some(&stamp(at)));
        set(body, "instanceView", view);
        set(body, "provisioningState", state);
        let name = text(body, "/name").to_owned();
        let machine =
            extension.rsplit_once("/extensions/").map_or("", |(machine, _)| machine).to_owned();
        if let Some(body) = self.store.get_mut(&machine) {
            set(body, "provisioningState", state);
            body["properties"]["instanceView"]["statuses"][0] = if script.exit_code == 0 {
                json!({"code": "ProvisioningState/succeeded", "level": "Info", "displayStatus": "Provisioning succeeded", "time": stamp(at)})
            } else {
                json!({
                    "code": "ProvisioningState/failed/VMExtensionProvisioningError", "level": "Error",
                    "displayStatus": "Provisioning failed", "time": stamp(at),
                    "message": format!("VM has reported a failure when processing extension '{name}' (publisher 'Microsoft.Azure.Extensions' and type 'CustomScript'). Error message: '{}'. More information on troubleshooting is available at https://aka.ms/VMExtensionCSELinuxTroubleshoot. ", script.message()),
                })
            };
        }
        if let Some(vm) = self.karpenter_vm(&machine) {
            let (exit_code, message) = (script.exit_code, script.message());
            self.tell(Change::CseEnded { vm, exit_code, message });
        }
        if plan && script.exit_code == 0 && script.registers {
            let joins = self.after(at, REGISTRATION);
            self.agenda.plan(joins, Event::NodeJoins { id: machine });
        }
    }

    /// A machine that the network provider fails: no address, no guest agent.
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
                        "displayStatus": "Provisioning failed", "message": super::wedge::MESSAGE, "time": stamp(at),
                    },
                    {"code": "PowerState/stopped", "level": "Info", "displayStatus": "VM stopped"},
                ],
            }),
        );
    }

    /// The machine and everything of it is gone.
    pub(crate) fn remove_machine(&mut self, id: &str) {
        let key = id.to_lowercase();
        let vm = self.karpenter_vm(&key);
        if self.joined.remove(&key)
            && let Some(node) = self.node_of(&key)
        {
            self.tell(Change::NodeGone { node: node.name, provider_id: node.provider_id });
        }
        self.store.remove(&key);
        let under = format!("{key}/");
        self.scripts.retain(|extension, _| !extension.starts_with(&under));
        if let Some(vm) = vm {
            self.tell(Change::VmGone(vm));
        }
    }

    /// The node registers, if its machine is still there.
    pub(crate) fn join_node(&mut self, id: &str) {
        if let Some(node) = self.node_of(id)
            && self.joined.insert(id.to_lowercase())
        {
            self.tell(Change::NodeJoined(node));
        }
    }
}

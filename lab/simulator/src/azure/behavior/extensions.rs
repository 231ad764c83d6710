//! VM extensions: creation and results.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::azure::behavior::machines::REGISTRATION;
use crate::azure::state::{
    Azure, AzureChange, AzureState, Extensions, Guest, Promise, ScheduledEvent, VmSpec, set, stamp,
    text,
};

/// Extension by which Karpenter marks its VMs for billing.
const BILLING: &str = "computeAksLinuxBilling";
/// Publisher, type and version of the extension that runs the bootstrap.
const SCRIPT: (&str, &str, &str) = ("Microsoft.Azure.Extensions", "CustomScript", "2.0");
/// Seconds until the billing extension succeeds.
const BILLING_TIME: u64 = 10;

/// Status of a VM's agent in the VM's body.
pub(crate) const AGENT_STATUS: &str = "/properties/instanceView/vmAgent/statuses/0/displayStatus";

impl Azure {
    /// Creates the extensions of a VM whose own operation has ended, as Karpenter's poller does.
    pub(crate) fn keep_promise(&mut self, id: &str, now: Timestamp) {
        let id = id.to_lowercase();
        let state = self.state.store.text(&id, "/properties/provisioningState");
        if !matches!(state, "" | "Deleting") {
            self.state.create_extensions(&id, self.model_time(now), true);
        }
    }
}

impl AzureState {
    /// Creates the extensions of a new VM, and stores those that follow later.
    pub(crate) fn plan_extensions(&mut self, birth: &VmSpec) {
        let script = birth.cse.clone();
        match birth.extensions {
            Extensions::AtBirth(name) => {
                let id = self.put_extension(&birth.id, name, SCRIPT);
                self.scripts.insert(id, script);
            }
            Extensions::Later { cse, promised } => {
                if cse.is_none() {
                    self.bootstrap_unattended(birth);
                }
                let promise = Promise { cse: cse.map(|name| (name, script)), promised };
                self.promises.insert(birth.id.to_lowercase(), promise);
            }
        }
    }

    /// Starts the extensions of a running VM, and allows later ones.
    pub(crate) fn begin_extensions(&mut self, id: &str, at: Timestamp, plan: bool) {
        for extension in self.store.ids(&format!("{id}/extensions")) {
            self.begin_script(id, &extension.to_lowercase(), at, plan);
        }
        match self.promises.get(id) {
            Some(Promise { promised: true, .. }) if plan => {
                if let Some(vm) = self.karpenter_vm(id) {
                    self.queue_change(AzureChange::VmRuns(vm));
                }
            }
            Some(_) => self.create_extensions(id, at, plan),
            None => {}
        }
    }

    /// Creates the bootstrap extension, or the billing extension if no extension runs the bootstrap.
    fn create_extensions(&mut self, id: &str, at: Timestamp, plan: bool) {
        let Some(promise) = self.promises.get_mut(id) else { return };
        let Some((name, script)) = promise.cse.take() else {
            return self.create_billing(id, at, plan);
        };
        let extension = self.put_extension(id, name, SCRIPT);
        self.scripts.insert(extension.clone(), script);
        self.begin_script(id, &extension, at, plan);
    }

    fn begin_script(&mut self, machine: &str, extension: &str, at: Timestamp, plan: bool) {
        let Some(script) = self.scripts.get(extension).cloned() else { return };
        if let Some(body) = self.store.get_mut(machine) {
            set(body, "provisioningState", "Updating");
            body["properties"]["instanceView"]["statuses"][0] = json!({"code": "ProvisioningState/updating", "level": "Info", "displayStatus": "Updating"});
        }
        if let Some(body) = self.store.get_mut(extension) {
            let view = script.instance_view(text(body, "/name"), None);
            set(body, "instanceView", view);
        }
        if let (true, Guest::Ready, Some(seconds)) = (plan, script.guest, script.seconds) {
            let ends = self.after(at, seconds);
            self.events.plan(ends, ScheduledEvent::ExtensionEnds { id: extension.to_owned() });
        }
    }

    fn create_billing(&mut self, machine: &str, at: Timestamp, plan: bool) {
        if self.promises.remove(machine).is_none() || !self.store.has(machine) {
            return;
        }
        let handler = ("Microsoft.AKS", "Compute.AKS.Linux.Billing", "1.0");
        let extension = self.put_extension(machine, BILLING, handler);
        if plan {
            let ends = self.after(at, BILLING_TIME);
            self.events.plan(ends, ScheduledEvent::BillingEnds { id: extension });
        } else {
            self.end_billing(&extension, at);
        }
    }

    /// Ends the billing extension with success, which shows that the VM's agent works.
    pub(crate) fn end_billing(&mut self, extension: &str, at: Timestamp) {
        if self.store.text(machine_of(extension), AGENT_STATUS) != "Ready" {
            return;
        }
        let Some(body) = self.store.get_mut(extension) else { return };
        set(body, "provisioningState", "Succeeded");
        let view = json!({
            "name": BILLING, "type": "Microsoft.AKS.Compute.AKS.Linux.Billing", "typeHandlerVersion": "1.0.0",
            "statuses": [{"code": "ProvisioningState/succeeded", "level": "Info", "displayStatus": "Provisioning succeeded", "time": stamp(at)}],
        });
        set(body, "instanceView", view);
    }

    fn put_extension(
        &mut self,
        machine: &str,
        name: &str,
        (publisher, handler, version): (&str, &str, &str),
    ) -> String {
        let body = self.store.get(machine).unwrap_or(&Value::Null);
        let (machine, kind) = (text(body, "/id").to_owned(), text(body, "/type").to_owned());
        let id = format!("{machine}/extensions/{name}");
        self.store.put(json!({
            "id": id,
            "name": name,
            "type": format!("{kind}/extensions"),
            "location": self.options.location,
            "properties": {
                "provisioningState": "Creating",
                "publisher": publisher,
                "type": handler,
                "typeHandlerVersion": version,
                "autoUpgradeMinorVersion": true,
                "settings": {},
            },
        }));
        id.to_lowercase()
    }

    /// Ends the bootstrap: the extension, and with it the VM, succeeded or failed.
    pub(crate) fn end_extension(&mut self, extension: &str, at: Timestamp, plan: bool) {
        let Some(script) = self.scripts.remove(extension) else { return };
        let Some(body) = self.store.get_mut(extension) else { return };
        let state = if script.exit_code == 0 { "Succeeded" } else { "Failed" };
        let view = script.instance_view(text(body, "/name"), Some(at));
        set(body, "instanceView", view);
        set(body, "provisioningState", state);
        let name = text(body, "/name").to_owned();
        let machine = machine_of(extension).to_owned();
        if let Some(body) = self.store.get_mut(&machine) {
            set(body, "provisioningState", state);
            body["properties"]["instanceView"]["statuses"][0] = if script.exit_code == 0 {
                json!({"code": "ProvisioningState/succeeded", "level": "Info", "displayStatus": "Provisioning succeeded", "time": stamp(at)})
            } else {
                json!({
                    "code": "ProvisioningState/failed/VMExtensionProvisioningError", "level": "Error",
                    "displayStatus": "Provisioning failed", "time": stamp(at),
                    "message": format!("VM has reported a failure when processing extension '{name}' (publisher 'Microsoft.Azure.Extensions' and type 'CustomScript'). Error message: '{}'. More information on troubleshooting is available at https://aka.ms/VMExtensionCSELinuxTroubleshoot. ", script.message_at(Some(at))),
                })
            };
        }
        self.end_pool_machine(&machine, script.exit_code);
        if let Some(vm) = self.karpenter_vm(&machine) {
            let (exit_code, message) = (script.exit_code, script.message_at(Some(at)));
            self.queue_change(AzureChange::CseEnded { vm, exit_code, message });
        }
        if script.exit_code != 0 {
            return;
        }
        self.create_billing(&machine, at, plan);
        if plan && script.registers {
            let joins = self.after(at, REGISTRATION);
            self.events.plan(joins, ScheduledEvent::NodeJoins { id: machine });
        }
    }
}

fn machine_of(extension: &str) -> &str {
    extension.rsplit_once("/extensions/").map_or("", |(machine, _)| machine)
}

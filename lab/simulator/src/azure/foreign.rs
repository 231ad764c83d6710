//! Changes to VMs by other products: extensions by policies, an agent that stops reporting.

use serde_json::json;

use crate::azure::state::{Azure, text};

#[derive(Debug, Clone)]
pub struct ForeignExtension {
    pub name: String,
    pub publisher: String,
    /// A `CustomScript` may have any owner.
    pub kind: String,
    pub state: String,
    pub message: String,
    /// Failures are hidden from the resource and its VM.
    pub suppress_failures: bool,
}

impl Azure {
    /// Returns false if the VM does not exist.
    pub fn add_extension(&mut self, machine: &str, extension: &ForeignExtension) -> bool {
        let ForeignExtension { name, publisher, kind, state, message, suppress_failures } =
            extension;
        let Some(body) = self.state.store.get(machine) else { return false };
        let (id, resource) = (text(body, "/id").to_owned(), text(body, "/type").to_owned());
        let failed = state == "Failed";
        let shown = if failed && *suppress_failures { "Succeeded" } else { state };
        self.state.store.put(json!({
            "id": format!("{id}/extensions/{name}"),
            "name": name,
            "type": format!("{resource}/extensions"),
            "location": self.state.options.location,
            "properties": {
                "provisioningState": shown, "publisher": publisher, "type": kind,
                "typeHandlerVersion": "1.0", "autoUpgradeMinorVersion": true, "suppressFailures": suppress_failures,
                "instanceView": {
                    "name": name, "type": format!("{publisher}.{kind}"), "typeHandlerVersion": "1.0.4",
                    "statuses": [{
                        "code": format!("ProvisioningState/{}", state.to_lowercase()),
                        "level": if failed { "Error" } else { "Info" },
                        "displayStatus": format!("Provisioning {}", state.to_lowercase()),
                        "message": message,
                    }],
                },
            },
        }));
        true
    }

    /// Hides the resource of an extension; its view is still shown, as after a deletion.
    pub fn hide_extension(&mut self, machine: &str, name: &str) {
        if let Some(body) = self.state.store.get_mut(&format!("{machine}/extensions/{name}")) {
            body["hidden"] = json!(true);
        }
    }

    /// Stops the agent of a VM; its last status is shown for a while.
    pub fn stop_agent(&mut self, machine: &str) {
        self.state.dead_agents.insert(machine.to_lowercase());
    }

    pub fn silence_agent(&mut self, machine: &str) {
        if let Some(body) = self.state.store.get_mut(machine) {
            body["properties"]["instanceView"]["vmAgent"] = json!({
                "vmAgentVersion": "Unknown",
                "statuses": [{
                    "code": "ProvisioningState/Unavailable", "level": "Warning", "displayStatus": "Not Ready",
                    "message": "VM Agent is unresponsive.",
                }],
            });
        }
    }
}

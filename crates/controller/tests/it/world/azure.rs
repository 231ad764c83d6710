//! VMs with a fixed timeline.

use std::collections::BTreeMap;

use mooring_controller::observation::ProvisioningState;
use serde_json::{Value, json};

use super::Rows;

/// Timeline of a VM, in seconds.
#[derive(Clone, Debug)]
pub(crate) struct Vm {
    pub(crate) ready_at: i64,
    /// End of its bootstrap, and its result; none without an extension.
    pub(crate) ends: Option<(i64, String)>,
    pub(crate) deleted_at: i64,
    pub(crate) status: u16,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Azure {
    pub(crate) vms: BTreeMap<String, Vm>,
    pub(crate) machine_errors: BTreeMap<String, (i64, String)>,
}

pub(crate) fn failed(code: i32, output: &str) -> String {
    format!(
        "Enable failed: failed to execute command: command terminated with exit status={code}\n[stdout]\n\
         {{ \"ExitCode\": \"{code}\", \"Output\": \"{output}\", \"Error\": \"\", \"ExecDuration\": \"61\" }}\n\n[stderr]\n"
    )
}

pub(crate) const SUCCEEDED: &str = "Enable succeeded: \n[stdout]\n{ \"ExitCode\": \"0\", \"Output\": \"kubelet started TOKEN=hunter2\\nall done\", \"Error\": \"\", \"ExecDuration\": \"40\" }\n\n[stderr]\n";

impl Azure {
    pub(crate) fn vm(&self, name: &str, now: i64) -> (u16, Value) {
        let Some(vm) = self.vms.get(name).filter(|vm| now < vm.deleted_at) else {
            return (404, json!({}));
        };
        if vm.status != 200 {
            return (vm.status, json!({}));
        }
        if now < vm.ready_at {
            return (200, json!({"properties": {"provisioningState": "Creating"}}));
        }
        let billing = json!({"name": "computeAksLinuxBilling", "properties": {"publisher": "Microsoft.AKS", "type": "Compute.AKS.Linux.Billing", "provisioningState": "Failed"}});
        let mut body = json!({"properties": {"provisioningState": "Succeeded", "instanceView": {"extensions": [],
            "vmAgent": {"statuses": [{"code": "ProvisioningState/succeeded", "displayStatus": "Ready"}]},
            "statuses": [{"code": "ProvisioningState/succeeded"}, {"code": "PowerState/running"}]}}, "resources": [billing]});
        if let Some((ends, text)) = &vm.ends {
            let state = match (now >= *ends, text.contains("Enable succeeded")) {
                (false, _) => "transitioning",
                (true, true) => "succeeded",
                (true, false) => "failed/1",
            };
            let message = if now >= *ends { text.as_str() } else { "" };
            body["resources"].as_array_mut().unwrap().push(json!({"name": "cse-agent-karpenter", "properties":
                {"publisher": "Microsoft.Azure.Extensions", "type": "CustomScript", "provisioningState": "Creating"}}));
            body["properties"]["instanceView"]["extensions"] = json!([{"name": "cse-agent-karpenter", "type": "Microsoft.Azure.Extensions.CustomScript",
                "statuses": [{"code": format!("ProvisioningState/{state}"), "message": message}]}]);
        }
        (200, body)
    }

    pub(crate) fn machine(&self, name: &str, now: i64) -> (u16, Value) {
        match self.machine_errors.get(name) {
            Some((from, text)) if now >= *from => (
                200,
                json!({"name": name, "properties": {"provisioningState": "Failed",
                "status": {"provisioningError": {"code": "VMExtensionProvisioningError", "message": text}}}}),
            ),
            Some(_) => {
                (200, json!({"name": name, "properties": {"provisioningState": "Creating"}}))
            }
            None => (404, json!({})),
        }
    }

    pub(crate) fn sweep(&self, now: i64) -> Rows {
        let live = self.vms.iter().filter(|(_, vm)| now >= vm.ready_at && now < vm.deleted_at);
        live.filter_map(|(name, vm)| {
            let (ends, text) = vm.ends.as_ref()?;
            let progress = match (now >= *ends, text.contains("Enable succeeded")) {
                (false, _) => ProvisioningState::Running,
                (true, true) => ProvisioningState::Succeeded,
                (true, false) => ProvisioningState::Failed,
            };
            Some((name.clone(), progress))
        })
        .collect()
    }
}

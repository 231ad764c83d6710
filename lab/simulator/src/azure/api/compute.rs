//! Compute provider: scale sets, instances, single VMs, NICs, extensions.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::azure::api::aks::pool_rules::cores;
use crate::azure::api::request::{ArmCall, ArmError, ArmResult, Reply};
use crate::azure::behavior::extensions::AGENT_STATUS;
use crate::azure::behavior::machines::unattended;
use crate::azure::behavior::node_shell::{self, ShellOutput};
use crate::azure::state::{
    AzureState, COMPUTE, DeletingView, SimulatedOperation, Work, events, list, merge, text,
};
use crate::faults::OperationFault;

/// Simulated seconds: deletion of a VM, forced and not; a scale set's write; a command.
const DELETE: u64 = 60;
const FORCE_DELETE: u64 = 20;
const WRITE: u64 = 60;
const COMMAND: u64 = 30;
/// Simulated seconds after which Azure ends a command that the guest agent has not run.
const COMMAND_LIMIT: u64 = 90 * 60;
/// Path of a bootstrap's report.
const REPORT: &str = "/var/log/azure/aks/provision.json";

impl AzureState {
    /// Returns any resource as stored, or the gateway's 404.
    pub(crate) fn get_resource(
        &self,
        call: &ArmCall,
        id: &str,
        kind: &str,
    ) -> Result<&Value, ArmError> {
        let gone = |body: &&Value| {
            self.options.deleting_view == DeletingView::Gone
                && kind.to_lowercase().ends_with("/virtualmachines")
                && text(body, "/properties/provisioningState") == "Deleting"
        };
        self.store.get(id).filter(|body| !gone(body)).ok_or_else(|| {
            let name = call.path.segments.get(7..).unwrap_or_default();
            let name = name.iter().step_by(2).cloned().collect::<Vec<_>>().join("/");
            ArmError::no_resource(kind, &name, call.name(3))
        })
    }

    /// Returns a VM as responses show it.
    pub(crate) fn shown_machine(&self, body: &Value, view: bool) -> Value {
        let mut shown = plain(body, view);
        if view {
            shown["properties"]["instanceView"] = self.instance_view(body);
        }
        let extensions = self.store.list(&format!("{}/extensions", text(body, "/id")));
        let extensions = extensions.filter(|extension| extension["hidden"] != true);
        let extensions: Vec<Value> = extensions.map(|extension| plain(extension, false)).collect();
        if !extensions.is_empty() {
            shown["resources"] = json!(extensions);
        }
        shown
    }

    /// Returns a VM's instance view with those of its extensions.
    pub(crate) fn instance_view(&self, body: &Value) -> Value {
        let mut view = body["properties"]["instanceView"].clone();
        let is_going = text(body, "/properties/provisioningState") == "Deleting";
        if is_going && self.options.deleting_view != DeletingView::Full {
            return json!({"statuses": view["statuses"]});
        }
        let computer = text(body, "/properties/osProfile/computerName");
        if text(&view, "/vmAgent/statuses/0/displayStatus") == "Ready" {
            view["computerName"] = json!(computer);
            view["osName"] = json!("azurelinux");
            view["osVersion"] = json!("3.0");
        }
        view["hyperVGeneration"] = json!("V2");
        view["isVMInStandbyPool"] = json!(false);
        view["disks"] = json!([{
            "name": format!("{computer}_OsDisk_1"),
            "statuses": [{"code": "ProvisioningState/succeeded", "level": "Info", "displayStatus": "Provisioning succeeded"}],
        }]);
        // Azure does not keep an order: the view lists extensions in reverse order of the resources.
        let mut views: Vec<Value> = self
            .store
            .list(&format!("{}/extensions", text(body, "/id")))
            .filter_map(|extension| extension.pointer("/properties/instanceView").cloned())
            .collect();
        views.reverse();
        if !views.is_empty() {
            if view["vmAgent"].is_object() {
                let handlers = views.iter().map(|view| {
                    json!({
                        "type": view["type"], "typeHandlerVersion": view["typeHandlerVersion"],
                        "status": {"code": "ProvisioningState/succeeded", "level": "Info", "displayStatus": "Ready"},
                    })
                });
                view["vmAgent"]["extensionHandlers"] = handlers.collect();
            }
            view["extensions"] = json!(views);
        }
        view
    }

    /// Lists VMs of a collection; instance views only with `$expand`.
    pub(crate) fn list_machines(&self, call: &ArmCall, collection: &str) -> ArmResult {
        let view = call.expands("instanceView");
        let single = collection.to_lowercase().ends_with("microsoft.compute/virtualmachines");
        if view && single {
            let message = "$expand=instanceView is not supported when listing virtual machines without a filter on a virtual machine scale set.";
            return Err(ArmError::new(400, "BadRequest", message));
        }
        self.page(call, self.store.list(collection).map(|body| self.shown_machine(body, view)))
    }

    pub(crate) fn list_extensions(&self, call: &ArmCall, machine: &str) -> Reply {
        let view = call.expands("instanceView");
        let extensions = self.store.list(&format!("{machine}/extensions"));
        Reply::list(extensions.map(|body| plain(body, view)))
    }

    pub(crate) fn get_extension(&self, call: &ArmCall, id: &str, kind: &str) -> ArmResult {
        let body = self.get_resource(call, id, kind)?;
        Ok(Reply::ok(plain(body, call.expands("instanceView"))))
    }

    /// Lists the NICs of a whole scale set, or of one of its VMs.
    pub(crate) fn list_nics(&self, call: &ArmCall, parent: &str) -> ArmResult {
        let key = format!("{}/", parent.to_lowercase());
        let nics = self.store.all().filter(|body| {
            let id = text(body, "/id").to_lowercase();
            id.starts_with(&key) && id.rsplit('/').nth(1) == Some("networkinterfaces")
        });
        self.page(call, nics.cloned())
    }

    /// Returns a scale set's instance view: counts only.
    pub(crate) fn vmss_instance_view(&self, call: &ArmCall, vmss: &str) -> ArmResult {
        let body = self.get_resource(call, vmss, "Microsoft.Compute/virtualMachineScaleSets")?;
        let state = text(body, "/properties/provisioningState").to_lowercase();
        let mut codes: BTreeMap<&str, u32> = BTreeMap::new();
        for machine in self.store.list(&format!("{vmss}/virtualMachines")) {
            for status in list(machine, "/properties/instanceView/statuses") {
                *codes.entry(text(status, "/code")).or_default() += 1;
            }
        }
        let summary: Vec<Value> =
            codes.iter().map(|(code, count)| json!({"code": code, "count": count})).collect();
        Ok(Reply::ok(json!({
            "virtualMachine": {"statusesSummary": summary},
            "statuses": [{"code": format!("ProvisioningState/{state}"), "level": "Info", "displayStatus": "Provisioning"}],
        })))
    }

    /// `PATCH` of a scale set by a client, which fails like any write if the scale set is wedged.
    pub(crate) fn patch_vmss(&mut self, call: &ArmCall, vmss: &str) -> ArmResult {
        let patch = call.body.clone().unwrap_or_default();
        call.object()?;
        let mut body =
            self.get_resource(call, vmss, "Microsoft.Compute/virtualMachineScaleSets")?.clone();
        if !self.is_wedged(vmss) {
            merge(&mut body, &patch);
        }
        body["properties"]["provisioningState"] = json!("Updating");
        self.store.put(body.clone());
        let operation = self.begin(call, COMPUTE, vmss, Work::PatchVmss, WRITE);
        Ok(self.followed(Reply::ok(body), call, &operation))
    }

    /// Deletes a single VM, or one instance of a scale set.
    pub(crate) fn delete_machine(&mut self, call: &ArmCall, id: &str) -> Reply {
        let Some(body) = self.store.get_mut(id) else { return Reply::new(204) };
        body["properties"]["provisioningState"] = json!("Deleting");
        let seconds = if call.query_is("forcedeletion", "true") { FORCE_DELETE } else { DELETE };
        let operation = self.begin(call, COMPUTE, id, Work::DeleteMachine, seconds);
        let true_id = self.true_id(id);
        let action = "Microsoft.Compute/virtualMachines/delete";
        self.log_begin(call.now, action, &true_id, operation.origin());
        self.followed(Reply::new(202), call, &operation)
    }

    /// Runs a script in a real shell, on a node whose only file is the report of its bootstrap.
    pub(crate) fn run_command(&mut self, call: &ArmCall, machine: &str) -> ArmResult {
        let sent = call.object()?.get("script").and_then(Value::as_array);
        let lines: Vec<&str> = sent.into_iter().flatten().filter_map(Value::as_str).collect();
        let body = self.get_resource(call, machine, "Microsoft.Compute/virtualMachines")?;
        let works = text(body, AGENT_STATUS) == "Ready"
            && !self.dead_agents.contains(&machine.to_lowercase());
        let runs = |operation: &SimulatedOperation| {
            operation.is_running()
                && operation.target == machine.to_lowercase()
                && matches!(operation.work, Work::Answer { .. })
        };
        if self.operations.values().any(runs) {
            let message = "Run command extension execution is in progress. Please wait for completion before invoking a run command.";
            return Err(ArmError::new(409, "Conflict", message));
        }
        // Without its agent nothing runs the script.
        let printed = if works {
            let report = self.report_of(machine, call.now);
            let events = events(&report);
            let report = (!report.is_empty()).then_some((REPORT, report.as_str()));
            let events = events.iter().map(|(path, text)| (path.as_str(), text.as_str()));
            let files: Vec<(&str, &str)> = report.into_iter().chain(events).collect();
            node_shell::run(&lines, &files)
        } else {
            ShellOutput::default()
        };
        // The service reports success regardless of the script's exit status.
        let body = json!({"value": [{
            "code": "ProvisioningState/succeeded",
            "level": "Info",
            "displayStatus": "Provisioning succeeded",
            "message": format!("Enable succeeded: \n[stdout]\n{}\n[stderr]\n{}", printed.stdout, printed.stderr),
        }]});
        // Without its agent nothing runs the command, and it ends at its time limit.
        let mut call = call.clone();
        let seconds = if works { COMMAND } else { COMMAND_LIMIT };
        if !works {
            call.operation_fault = Some(OperationFault::Failed);
        }
        let operation = self.begin(&call, COMPUTE, machine, Work::Answer { body }, seconds);
        Ok(self.followed(Reply::new(202), &call, &operation))
    }

    /// Returns the content of a VM's `provision.json`; empty before its bootstrap has ended.
    fn report_of(&self, machine: &str, now: Timestamp) -> String {
        if let Some(script) = self.scripts.get(&unattended(machine))
            && self.has_ended(machine, script, now)
        {
            return script.file();
        }
        let extensions = self.store.list(&format!("{machine}/extensions"));
        let message = extensions
            .map(|extension| text(extension, "/properties/instanceView/statuses/0/message"))
            .find(|message| message.contains("[stdout]"))
            .unwrap_or_default();
        let behind = message.split_once("[stdout]\n").map_or("", |(_, behind)| behind);
        behind.split_once("\n[stderr]").map_or("", |(report, _)| report).trim_end().to_owned()
    }

    pub(crate) fn usages(&self) -> Reply {
        let limit = self.options.vcpu_quota.unwrap_or(100_000);
        Reply::ok(json!({"value": [{
            "limit": limit, "currentValue": self.vcpus_in_use(), "unit": "Count",
            "name": {"value": "cores", "localizedValue": "Total Regional vCPUs"},
        }]}))
    }

    /// Lists the sizes in use, each available in every zone.
    pub(crate) fn skus(&self) -> Reply {
        let sizes: BTreeSet<&str> = self
            .store
            .all()
            .map(|body| text(body, "/properties/vmSize"))
            .chain(["Standard_D4s_v5", "Standard_D8s_v5", "Standard_E8ds_v5"])
            .filter(|size| !size.is_empty())
            .collect();
        let location = &self.options.location;
        let skus = sizes.iter().map(|size| {
            json!({
                "resourceType": "virtualMachines", "name": size, "locations": [location],
                "locationInfo": [{"location": location, "zones": ["1", "2", "3"]}],
                "capabilities": [{"name": "vCPUs", "value": cores(size).to_string()}],
                "restrictions": [],
            })
        });
        Reply::list(skus)
    }

    pub(crate) fn page(&self, call: &ArmCall, all: impl Iterator<Item = Value>) -> ArmResult {
        let skip = match call.query.get("$skiptoken") {
            None => 0,
            Some(token) => token.parse::<usize>().map_err(|_| {
                ArmError::new(400, "InvalidParameter", "The skip token is invalid.")
            })?,
        };
        let mut rest = all.skip(skip);
        let page: Vec<Value> = rest.by_ref().take(self.options.page_size).collect();
        let mut body = json!({"value": page});
        if rest.next().is_some() {
            body["nextLink"] = json!(format!(
                "{}/{}?{}&$skiptoken={}",
                call.base,
                call.path.segments.join("/"),
                call.query_without_skip_token(),
                skip + self.options.page_size
            ));
        }
        Ok(Reply::ok(body))
    }
}

/// Returns a VM or an extension with or without its instance view.
fn plain(body: &Value, view: bool) -> Value {
    let mut body = body.clone();
    if !view && let Some(properties) = body["properties"].as_object_mut() {
        properties.remove("instanceView");
    }
    body
}

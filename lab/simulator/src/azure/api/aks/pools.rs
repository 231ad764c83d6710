//! Agent pools: create, update, delete, abort.

use serde_json::{Map, Value, json};

use crate::azure::api::aks::pool_members;
use crate::azure::api::aks::pool_rules::{
    check_counts, check_name, check_size, check_unchanged, cores, keep_immutable,
};
use crate::azure::api::request::{ArmCall, ArmError, ArmResult, Reply};
use crate::azure::state::{
    AKS, AzureState, ScheduledEvent, SimulatedOperation, Work, last, number, set, string, text,
};

/// Simulated seconds that operations take on a quiet day in a large region.
const CREATE: u64 = 120;
const UPDATE: u64 = 120;
const DELETE: u64 = 120;
const ABORT: u64 = 30;
/// Time from an operation's start until it reaches the scale set.
const GROW: u64 = 20;
const SHRINK: u64 = 60;
/// Time after its end in which an operation is still "the latest" and cannot be aborted.
const JUST_ENDED: u64 = 10;

impl AzureState {
    pub(crate) fn put_pool(&mut self, call: &ArmCall, cluster: &str, name: &str) -> ArmResult {
        let id = format!("{}/agentPools/{name}", self.true_id(cluster));
        let old = self.store.get(&id).cloned();
        let mut properties =
            call.object()?.get("properties").and_then(Value::as_object).cloned().ok_or_else(
                || ArmError::invalid_parameter("Required parameter properties is missing (null)."),
            )?;
        pool_members::trim(&mut properties, call.api_version());
        pool_members::check_kind(&properties, call.api_version())?;
        check_name(name, &properties)?;
        check_tag(call, old.as_ref(), "/properties/eTag")?;
        if let Some(old) = &old {
            if text(old, "/properties/provisioningState") == "Deleting"
                && self.running_on(&id).is_none()
            {
                let message = format!(
                    "Cannot run operation on node pool {name} because deletion has been initiated. Retry the delete."
                );
                return Err(ArmError::aks(400, "OperationNotAllowed", message));
            }
            self.check_idle(cluster)?;
            check_unchanged(old, &properties)?;
            keep_immutable(old, &mut properties);
            if text(old, "/properties/mode") == "System" && string(&properties, "mode") != "System"
            {
                self.check_other_system_pool(cluster, name)?;
            }
        } else {
            self.check_idle(cluster)?;
            check_size(&properties)?;
        }
        self.check_image(&id, old.as_ref(), &properties, call.api_version())?;
        check_counts(&properties)?;
        let count = properties.get("count").and_then(Value::as_i64).unwrap_or(1);
        self.check_quota(old.as_ref(), &properties, count)?;
        let body = self.whole_pool(cluster, &id, properties, old.as_ref());
        self.store.put(body.clone());
        // A new pool's operation waits for its nodes' bootstrap.
        let bootstrap = self.options.pool_cse.seconds.unwrap_or(900);
        let seconds = if old.is_none() { CREATE + bootstrap } else { UPDATE };
        let work = Work::PutPool { created: old.is_none(), count };
        let operation = self.begin(call, AKS, &id, work, seconds);
        self.plan_pool(&operation);
        self.log_begin(operation.started, &operation.action(), &id, operation.origin());
        let mut body = body;
        pool_members::trim_shown(&mut body, call.api_version());
        let reply = Reply::new(if old.is_none() { 201 } else { 200 }).json(body);
        Ok(self.followed(reply, call, &operation))
    }

    /// Schedules the events of a pool's operation.
    pub(crate) fn plan_pool(&mut self, operation: &SimulatedOperation) {
        let (id, started) = (operation.id.clone(), operation.started);
        match operation.work {
            Work::PutPool { .. } => {
                let (grow, shrink) = (self.after(started, GROW), self.after(started, SHRINK));
                self.events.plan(grow, ScheduledEvent::PoolGrows { operation: id.clone() });
                self.events.plan(shrink, ScheduledEvent::PoolShrinks { operation: id });
            }
            Work::DeletePool => {
                let at = self.after(started, SHRINK);
                self.events.plan(at, ScheduledEvent::PoolShrinks { operation: id });
            }
            _ => {}
        }
    }

    pub(crate) fn delete_pool(&mut self, call: &ArmCall, cluster: &str, name: &str) -> ArmResult {
        let id = format!("{}/agentPools/{name}", self.true_id(cluster));
        let Some(pool) = self.store.get(&id).cloned() else { return Ok(Reply::new(204)) };
        check_tag(call, Some(&pool), "/properties/eTag")?;
        if text(&pool, "/properties/mode") == "System" {
            self.check_other_system_pool(cluster, name)?;
        }
        self.check_idle(cluster)?;
        self.set_state(&id, "Deleting");
        let operation = self.begin(call, AKS, &id, Work::DeletePool, DELETE);
        self.plan_pool(&operation);
        self.log_begin(operation.started, &operation.action(), &id, operation.origin());
        Ok(self.followed(Reply::new(202), call, &operation))
    }

    /// `POST …/deleteMachines`: deletes VMs of a pool and lowers its count.
    pub(crate) fn delete_machines(
        &mut self,
        call: &ArmCall,
        cluster: &str,
        pool: &str,
    ) -> ArmResult {
        self.get_pool(cluster, pool)?;
        let names = call.object()?.get("machineNames").and_then(Value::as_array);
        let names: Vec<&str> = names.into_iter().flatten().filter_map(Value::as_str).collect();
        let id = format!("{cluster}/agentPools/{pool}");
        if let Some(answer) = self.delete_pool_machines(call, &id, &names) {
            return answer;
        }
        self.check_idle(cluster)?;
        let vmss = self.vmss_id(pool).unwrap_or_default();
        let is_named = |machine: &&Value| {
            let name = text(machine, "/properties/osProfile/computerName");
            names.iter().any(|wanted| wanted.eq_ignore_ascii_case(name))
        };
        let machines = self.store.list(&format!("{vmss}/virtualMachines")).filter(is_named);
        let machines: Vec<String> = machines.map(|body| text(body, "/id").to_owned()).collect();
        if machines.len() != names.len() || names.is_empty() {
            let message = "The value of parameter machineNames is invalid.";
            return Err(ArmError::invalid_parameter(message));
        }
        let id = self.true_id(&format!("{cluster}/agentPools/{pool}"));
        let before = self.store.get(&id).map_or(0, |body| number(body, "/properties/count"));
        let count = before - i64::try_from(machines.len()).unwrap_or_default();
        if let Some(body) = self.store.get_mut(&id) {
            set(body, "count", count);
        }
        self.set_state(&id, "Updating");
        for machine in machines {
            self.remove_machine(&machine);
        }
        let work = Work::PutPool { created: false, count };
        let operation = self.begin(call, AKS, &id, work, UPDATE);
        self.plan_pool(&operation);
        Ok(self.followed(Reply::new(202), call, &operation))
    }

    /// Aborts the latest operation of a cluster or a pool.
    pub(crate) fn abort(&mut self, call: &ArmCall, target: &str) -> ArmResult {
        let id = self.true_id(target);
        let key = id.to_lowercase();
        let own =
            |operation: &&SimulatedOperation| operation.target == key && operation.provider == AKS;
        let own: Vec<_> = self.operations.values().filter(own).collect();
        let mut running = own.iter().filter(|o| o.is_running());
        if running.clone().any(|o| matches!(o.work, Work::Abort { .. })) {
            return Err(too_late("another abort is already in progress"));
        }
        let Some(running) = running.next().map(|o| o.id.clone()) else {
            let just = |ended| self.after(ended, JUST_ENDED) >= call.now;
            let ended = own.iter().filter_map(|o| o.ended).max();
            return if ended.is_some_and(just) {
                Err(too_late("the latest operation already completed"))
            } else {
                Ok(Reply::new(204))
            };
        };
        self.set_state(&id, "Canceling");
        let operation = self.begin(call, AKS, &id, Work::Abort { operation: running }, ABORT);
        self.log_begin(operation.started, &operation.action(), &id, operation.origin());
        Ok(self.followed(Reply::new(202), call, &operation))
    }

    pub(crate) fn list_pools(&self, cluster: &str, version: &str) -> Reply {
        let pools = self.store.list(&format!("{cluster}/agentPools"));
        let pools: Vec<&Value> =
            pools.filter(|pool| pool_members::is_listed(pool, version)).collect();
        let mut body = json!({"value": pools});
        pool_members::trim_shown(&mut body, version);
        Reply::ok(body)
    }

    pub(crate) fn show_pool(&self, cluster: &str, name: &str, version: &str) -> ArmResult {
        let mut reply = self.get_pool(cluster, name)?;
        if let Some(body) = &mut reply.body {
            if !pool_members::is_listed(body, version) {
                return Err(no_pool(name));
            }
            pool_members::trim_shown(body, version);
        }
        Ok(reply)
    }

    pub(crate) fn get_pool(&self, cluster: &str, name: &str) -> ArmResult {
        self.store
            .get(&format!("{cluster}/agentPools/{name}"))
            .map(|body| Reply::ok(body.clone()))
            .ok_or_else(|| no_pool(name))
    }

    pub(crate) fn machines_of(&self, cluster: &str, pool: &str, which: Option<&str>) -> ArmResult {
        self.get_pool(cluster, pool)?;
        let cluster_id = self.true_id(cluster);
        let vmss = self.vmss_id(pool).unwrap_or_default();
        let machines = self.store.list(&format!("{vmss}/virtualMachines")).map(|machine| {
            let name = text(machine, "/properties/osProfile/computerName");
            let address = self.address_of(text(machine, "/id"));
            let mut body = json!({
                "id": format!("{cluster_id}/agentPools/{pool}/machines/{name}"),
                "name": name,
                "type": "Microsoft.ContainerService/managedClusters/agentPools/machines",
                "properties": {
                    "network": {"ipAddresses": if address.is_empty() { json!([]) } else { json!([{"ip": address, "family": "IPv4"}]) }},
                    "resourceId": text(machine, "/id"),
                    "provisioningState": text(machine, "/properties/provisioningState"),
                    "status": {"creationTimestamp": text(machine, "/properties/timeCreated")},
                },
            });
            let failure = machine.pointer("/properties/instanceView/statuses/0").filter(|status| text(status, "/level") == "Error");
            if let Some(failure) = failure {
                // `ProvisioningState/failed/NetworkingInternalOperationError`: the last segment is the code.
                body["properties"]["status"]["provisioningError"] =
                    json!({"code": last(text(failure, "/code")), "message": text(failure, "/message")});
            }
            if let Some(zones) = machine.get("zones") {
                body["zones"] = zones.clone();
            }
            body
        });
        // Machines that AKS creates one by one are separate resources.
        let single = self.store.list(&format!("{cluster}/agentPools/{pool}/machines")).cloned();
        let mut machines = machines.chain(single);
        match which {
            None => Ok(Reply::ok(json!({"value": machines.collect::<Vec<_>>()}))),
            Some(name) => machines
                .find(|body| text(body, "/name").eq_ignore_ascii_case(name))
                .map(Reply::ok)
                .ok_or_else(|| {
                    ArmError::aks(404, "NotFound", format!("Could not find the machine: {name}"))
                }),
        }
    }

    fn check_other_system_pool(&self, cluster: &str, name: &str) -> Result<(), ArmError> {
        let other = self.store.list(&format!("{cluster}/agentPools")).any(|pool| {
            matches!(text(pool, "/properties/mode"), "System" | "ManagedSystem")
                && text(pool, "/name") != name
                && text(pool, "/properties/provisioningState") != "Deleting"
        });
        if other {
            return Ok(());
        }
        let message = "There has to be at least one system agent pool.";
        Err(ArmError::aks(400, "OperationNotAllowed", message))
    }

    /// Rejects a call while another operation runs on the cluster.
    pub(crate) fn check_idle(&self, cluster: &str) -> Result<(), ArmError> {
        let Some(running) = self.running_on(cluster) else { return Ok(()) };
        let name = last(&running.target);
        let state = self
            .store
            .get(&running.target)
            .map_or("Updating", |body| text(body, "/properties/provisioningState"));
        let message = format!(
            "Operation is not allowed: Another operation ({name} - {state}) is in progress, please wait for it to finish before starting a new operation. See https://aka.ms/aks-pending-operation for more details"
        );
        Err(ArmError::aks(409, "OperationNotAllowed", message))
    }

    fn check_quota(
        &self,
        old: Option<&Value>,
        properties: &Map<String, Value>,
        count: i64,
    ) -> Result<(), ArmError> {
        let Some(limit) = self.options.vcpu_quota else { return Ok(()) };
        let before = old.map_or(0, |old| number(old, "/properties/count"));
        let more = (count - before).max(0) * cores(string(properties, "vmSize"));
        let left = (limit - self.vcpus_in_use()).max(0);
        if more <= left {
            return Ok(());
        }
        let message = format!(
            "Insufficient regional vcpu quota left for location {}. left regional vcpu quota {left}, requested quota {more}",
            self.options.location
        );
        Err(ArmError::aks(400, "ErrCode_InsufficientVCPUQuota", message))
    }

    /// Returns the cores of all pools and single VMs.
    pub(crate) fn vcpus_in_use(&self) -> i64 {
        let of = |body: &Value| match text(body, "/type") {
            "Microsoft.ContainerService/managedClusters/agentPools" => {
                number(body, "/properties/count") * cores(text(body, "/properties/vmSize"))
            }
            "Microsoft.Compute/virtualMachines" => {
                cores(text(body, "/properties/hardwareProfile/vmSize"))
            }
            _ => 0,
        };
        self.store.all().map(of).sum()
    }

    pub(crate) fn set_state(&mut self, id: &str, state: &str) {
        let tag = self.store.next_tag();
        if let Some(body) = self.store.get_mut(id) {
            set(body, "provisioningState", state);
            let tagged = if body.get("eTag").is_some() { body } else { &mut body["properties"] };
            tagged["eTag"] = json!(tag);
        }
    }

    /// Returns an id in the case in which its resource was created.
    pub(crate) fn true_id(&self, id: &str) -> String {
        self.store.get(id).map_or(id, |body| text(body, "/id")).to_owned()
    }
}

/// Checks `If-Match` and `If-None-Match` against the resource's tag.
pub(crate) fn check_tag(
    call: &ArmCall,
    old: Option<&Value>,
    pointer: &str,
) -> Result<(), ArmError> {
    let tag = old.map(|old| text(old, pointer));
    let plain = |text: &str| text.trim().trim_start_matches("W/").trim_matches('"').to_owned();
    let wrong = match (&call.if_match, tag) {
        (Some(_), None) => true,
        (Some(wanted), Some(tag)) => wanted.trim() != "*" && plain(wanted) != tag,
        (None, _) => false,
    };
    let exists =
        call.if_none_match.as_deref().is_some_and(|wanted| wanted.trim() == "*") && tag.is_some();
    if wrong || exists {
        let message = "The condition specified using HTTP conditional header(s) is not met. See https://aka.ms/aks-etag for more details";
        return Err(ArmError::aks(412, "PreconditionFailed", message));
    }
    Ok(())
}

fn no_pool(name: &str) -> ArmError {
    ArmError::aks(404, "NotFound", format!("Could not find the agentpool: {name}"))
}

fn too_late(message: &str) -> ArmError {
    ArmError::aks(409, "OperationNotAllowed", message)
}

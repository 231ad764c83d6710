//! Changes to simulated Azure outside its API, by tests and by operators of the simulator.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::azure::behavior::nodes::{CLAIM_TAG, NODE_POOL_TAG};
use crate::azure::behavior::wedge::CADENCE;
use crate::azure::state::{
    AKS, ActionDenial, Assignment, Azure, AzureChange, AzureNode, BootMode, Correlation, Cse,
    DenyAssignment, Extensions, KubernetesAccess, Lock, NodeImage, OperationStatus, ProvisionMode,
    SimulatedOperation, Vm, VmSpec, Work, earlier,
};
use crate::faults::FaultRule;

#[derive(Debug, Clone)]
pub struct NewVm {
    pub name: String,
    /// Defaults to the VM's name without `aks-`.
    pub claim: Option<String>,
    pub node_pool: String,
    /// Node image version, optionally with its image definition: `2204gen2containerd/202601.13.0`.
    pub image_version: String,
    pub size: String,
    pub zone: String,
    /// Decides the extensions and the form of the image reference.
    pub mode: ProvisionMode,
    /// Extensions are created only by Karpenter's poller, which a restart loses.
    pub promised: bool,
    pub cse: Cse,
    pub created: Timestamp,
    /// Bootstrap finished long ago; otherwise the VM boots now.
    pub grown: bool,
    /// End of a bootstrap that finished long ago; none: when the VM was created.
    pub ended: Option<Timestamp>,
}

impl NewVm {
    /// Returns a VM of the `NodePool` `default` in the default mode that boots now.
    pub fn booting(name: &str, image_version: &str, cse: Cse, created: Timestamp) -> Self {
        Self {
            name: name.to_owned(),
            claim: None,
            node_pool: "default".to_owned(),
            image_version: image_version.to_owned(),
            size: "Standard_D4s_v5".to_owned(),
            zone: "1".to_owned(),
            mode: ProvisionMode::default(),
            promised: false,
            cse,
            created,
            grown: false,
            ended: None,
        }
    }
}

impl Azure {
    /// Creates a Karpenter-style VM and returns its resource id.
    pub fn create_vm(&mut self, vm: &NewVm) -> String {
        let options = self.state.options.clone();
        let id = format!("{}/{}", options.compute("virtualMachines"), vm.name);
        let named = vm.name.strip_prefix("aks-").unwrap_or(&vm.name);
        self.state.add_machine(&VmSpec {
            id: id.clone(),
            extensions: match (vm.mode, vm.mode.extension()) {
                (ProvisionMode::Machine, Some(name)) => Extensions::AtBirth(name),
                (_, cse) => Extensions::Later { cse, promised: vm.promised },
            },
            image: NodeImage::parse(&vm.image_version).reference(vm.mode),
            size: vm.size.clone(),
            zone: Some(vm.zone.clone()),
            computer_name: vm.name.clone(),
            subnet: options.subnet(),
            tags: json!({
                CLAIM_TAG: vm.claim.as_deref().unwrap_or(named),
                NODE_POOL_TAG: vm.node_pool,
                "karpenter.azure.com_cluster": options.cluster,
            }),
            created: self.model_time(vm.created),
            ended: self.model_time(vm.ended.unwrap_or(vm.created)),
            life: if vm.grown { BootMode::Grown } else { BootMode::Boots },
            cse: vm.cse.clone(),
        });
        // The cluster receives the VM before its later changes.
        if let Some(created) = self.state.karpenter_vm(&id) {
            let at = self.state.changes.iter().position(|change| is_about(change, &created));
            let at = at.unwrap_or(self.state.changes.len());
            self.state.changes.insert(at, AzureChange::VmCreated(created));
        }
        id
    }

    pub(crate) fn set_speed(&mut self, speed: f64) {
        self.state.options.speed = speed;
    }

    /// Wedges a pool's scale set: its writes fail from now on. Returns false if the pool does not exist.
    pub fn wedge(&mut self, pool: &str, correlation: Correlation, now: Timestamp) -> bool {
        let Some(vmss) = self.state.vmss_id(pool) else { return false };
        self.state.wedge(&vmss, correlation, now);
        true
    }

    pub fn unwedge(&mut self, pool: &str, now: Timestamp) -> bool {
        let Some(vmss) = self.state.vmss_id(pool) else { return false };
        self.state.unwedge(&vmss, now);
        true
    }

    /// Returns false if the resource does not exist.
    pub fn set_state(&mut self, id: &str, state: &str) -> bool {
        self.state.set_state(id, state);
        self.state.store.has(id)
    }

    pub fn resource(&self, id: &str) -> Option<&Value> {
        self.state.store.get(id)
    }

    pub fn put_resource(&mut self, body: Value) {
        self.state.store.put(body);
    }

    pub fn add_fault(&mut self, rule: FaultRule, now: Timestamp) {
        self.trace
            .record(now, format_args!("rule {}", serde_json::to_string(&rule).unwrap_or_default()));
        self.faults.add(rule);
    }

    pub fn injected_faults(&self) -> u32 {
        self.faults.injected()
    }

    pub fn clear_faults(&mut self, now: Timestamp) {
        self.trace.record(now, format_args!("rules cleared"));
        self.faults.clear();
    }

    pub fn assign(&mut self, mut assignment: Assignment) {
        if assignment.principal.is_empty() {
            assignment.principal.clone_from(&self.state.options.principal);
        }
        self.state.assignments.push(assignment);
    }

    pub fn unassign(&mut self, scope: &str) {
        self.state.assignments.retain(|one| !one.scope.eq_ignore_ascii_case(scope));
    }

    pub fn add_deny_assignment(&mut self, denial: DenyAssignment) {
        self.state.deny_assignments.push(denial);
    }

    pub fn add_lock(&mut self, lock: Lock) {
        self.state.locks.push(lock);
    }

    pub fn deny(&mut self, denial: ActionDenial) {
        self.state.denials.push(denial);
    }

    /// Restores all denied actions.
    pub fn clear_denials(&mut self) {
        self.state.denials.clear();
    }

    /// Sets the address and credentials of the cluster's API.
    pub fn set_kubernetes(&mut self, access: Option<KubernetesAccess>) {
        self.state.options.kubernetes = access;
    }

    /// Starts an update of the cluster at `started` that never ends by itself.
    pub fn begin_stuck_update(&mut self, started: Timestamp) {
        let id = self.state.options.cluster_id();
        // The writes of a wedged scale set belong to the first operation that needs them.
        let mut shared = self.state.wedges.values().flatten().cloned();
        let taken = |id: &String| self.state.operations.values().any(|o| o.correlation == *id);
        let shared = shared.find(|id| !taken(id));
        let operation = SimulatedOperation {
            id: self.state.guid(),
            work: Work::UpdateCluster,
            target: id.to_lowercase(),
            provider: AKS,
            started,
            ends: None,
            ended: None,
            status: OperationStatus::InProgress,
            error: None,
            logged: self.state.guid(),
            correlation: shared.unwrap_or_else(|| self.state.guid()),
            caller: self.state.options.principal.clone(),
            fault: None,
            hidden: false,
        };
        self.state.operations.insert(operation.id.clone(), operation.clone());
        self.state.set_state(&id, "Updating");
        self.state.log_begin(started, &operation.action(), &id, operation.origin());
    }

    /// Returns the operations started by calls with this correlation id: the resource in lower case, the state, and
    /// true if a fault rule hides it. This is the model's own record of accepted writes.
    pub fn begun_by<'a>(
        &'a self,
        correlation: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'static str, bool)> + use<'a> {
        let own = self.state.operations.values().filter(move |o| o.correlation == correlation);
        own.map(|o| (o.target.as_str(), o.status.as_str(), o.hidden))
    }

    pub fn nodes(&self) -> Vec<AzureNode> {
        self.state.joined.iter().filter_map(|id| self.state.node_of(id)).collect()
    }

    pub fn state(&self) -> Value {
        let operations = self.state.operations.values().map(|o| {
            json!({"id": o.id, "target": o.target, "status": o.status.as_str(), "started": o.started.to_string(), "error": o.error})
        });
        json!({
            "seed": self.seed,
            "speed": self.state.options.speed,
            "resources": self.state.store.all().collect::<Vec<_>>(),
            "operations": operations.collect::<Vec<_>>(),
            "wedged": self.state.wedges.keys().collect::<Vec<_>>(),
            "registered": self.state.joined,
            "activityLogEntries": self.state.activity.len(),
            "faults": self.faults.rules().collect::<Vec<_>>(),
            "denials": self.state.denials,
            "locks": self.state.locks,
            "denyAssignments": self.state.deny_assignments,
            "roleAssignments": self.state.assignments,
        })
    }
}

fn is_about(change: &AzureChange, vm: &Vm) -> bool {
    match change {
        AzureChange::NodeJoined(node) => node.provider_id == vm.provider_id,
        AzureChange::CseEnded { vm: other, .. } => other == vm,
        _ => false,
    }
}

impl Azure {
    /// Adds nodes to a pool, creates its scale set if needed, and logs the successful write.
    pub(crate) fn add_nodes(&mut self, pool: &str, count: u16, created: Timestamp, life: BootMode) {
        let vmss = self.state.vmss_id(pool).or_else(|| self.state.add_vmss(pool));
        let Some(vmss) = vmss else { return };
        for _ in 0..count {
            self.state.add_instance(&vmss, created, life);
        }
        if life == BootMode::Grown {
            self.state.write_vmss(&vmss, created);
        }
    }

    /// Replaces the newest VMs of a pool with VMs that never came up.
    pub(crate) fn lose_nodes(&mut self, pool: &str, count: u16, since: Timestamp) {
        let Some(vmss) = self.state.vmss_id(pool) else { return };
        let machines = self.state.store.ids(&format!("{vmss}/virtualMachines"));
        for machine in machines.iter().skip(machines.len().saturating_sub(count.into())) {
            self.state.remove_machine(machine);
        }
        self.add_nodes(pool, count, since, BootMode::NoNetwork);
    }

    /// Logs the failed writes of a wedged pool's scale set until now; the most recent may not be visible yet.
    pub(crate) fn fail_writes(&mut self, pool: &str, count: u16, now: Timestamp) {
        let Some(vmss) = self.state.vmss_id(pool) else { return };
        let mut age = 0;
        let mut ages = Vec::new();
        for _ in 0..count {
            age += self.state.draw_seconds(CADENCE);
            ages.push(age);
        }
        for age in ages.into_iter().rev() {
            let at = earlier(now, age.try_into().unwrap_or(i64::MAX));
            self.state.log_vmss_write(&vmss, at, true);
        }
    }
}

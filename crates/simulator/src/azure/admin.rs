//! What a test or an operator of the simulator does to the world, behind Azure's back.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::azure::behavior::nodes::{CLAIM_TAG, NODE_POOL_TAG};
use crate::azure::behavior::wedge::CADENCE;
use crate::azure::state::{
    AKS, ActivityEntry, Assignment, Azure, Birth, Change, Correlation, Cse, Denial, DenyAssignment,
    Extensions, Image, KubernetesAccess, Life, Lock, Mode, Node, Operation, Status, Vm, Work,
    earlier, text,
};
use crate::faults::Rule;

/// A VM as Karpenter would make it.
#[derive(Debug, Clone)]
pub struct NewVm {
    pub name: String,
    /// The claim that it is for; without one, the VM's name without `aks-`.
    pub claim: Option<String>,
    pub node_pool: String,
    /// The node image's version, perhaps with its definition in front: `2204gen2containerd/202601.13.0`.
    pub image_version: String,
    pub size: String,
    pub zone: String,
    /// How it is provisioned, which decides its extensions and how its image is named.
    pub mode: Mode,
    /// Whether its extensions come only by a promise that Karpenter keeps.
    pub promised: bool,
    pub cse: Cse,
    pub created: Timestamp,
    /// Whether its bootstrap is long past; otherwise it boots now.
    pub grown: bool,
}

impl NewVm {
    /// One that boots now, for the `NodePool` `default`, in the default mode.
    pub fn booting(name: &str, image_version: &str, cse: Cse, created: Timestamp) -> Self {
        Self {
            name: name.to_owned(),
            claim: None,
            node_pool: "default".to_owned(),
            image_version: image_version.to_owned(),
            size: "Standard_D4s_v5".to_owned(),
            zone: "1".to_owned(),
            mode: Mode::default(),
            promised: false,
            cse,
            created,
            grown: false,
        }
    }
}

impl Azure {
    /// Makes a Karpenter-style VM and says its resource id.
    pub fn create_vm(&mut self, vm: &NewVm) -> String {
        let options = self.state.options.clone();
        let id = format!("{}/{}", options.compute("virtualMachines"), vm.name);
        let named = vm.name.strip_prefix("aks-").unwrap_or(&vm.name);
        self.state.add_machine(&Birth {
            id: id.clone(),
            extensions: match (vm.mode, vm.mode.extension()) {
                (Mode::Machine, Some(name)) => Extensions::AtBirth(name),
                (_, cse) => Extensions::Later { cse, promised: vm.promised },
            },
            image: Image::parse(&vm.image_version).reference(vm.mode),
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
            life: if vm.grown { Life::Grown } else { Life::Boots },
            cse: vm.cse.clone(),
        });
        // What the cluster hears of first is the VM.
        if let Some(created) = self.state.karpenter_vm(&id) {
            let at = self.state.changes.iter().position(|change| is_about(change, &created));
            let at = at.unwrap_or(self.state.changes.len());
            self.state.changes.insert(at, Change::VmCreated(created));
        }
        id
    }

    /// From now on, things happen so much faster than in Azure; what is under way keeps its time.
    pub(crate) fn set_speed(&mut self, speed: f64) {
        self.state.options.speed = speed;
    }

    /// Takes a VM away at once.
    pub fn delete_vm(&mut self, id: &str) {
        self.state.remove_machine(id);
    }

    /// Wedges a pool's scale set: its writes fail from now on. False if there is no such pool.
    pub fn wedge(&mut self, pool: &str, correlation: Correlation, now: Timestamp) -> bool {
        self.with_vmss(pool, |azure, vmss| azure.state.wedge(&vmss, correlation, now))
    }

    /// Heals a pool's scale set, which nothing in Azure would.
    pub fn unwedge(&mut self, pool: &str, now: Timestamp) -> bool {
        self.with_vmss(pool, |azure, vmss| azure.state.unwedge(&vmss, now))
    }

    fn with_vmss(&mut self, pool: &str, act: impl FnOnce(&mut Self, String)) -> bool {
        let vmss = self.state.vmss_of(pool).map(|body| text(body, "/id").to_owned());
        vmss.map(|vmss| act(self, vmss)).is_some()
    }

    /// Sets a resource's provisioning state. False if there is no such resource.
    pub fn set_state(&mut self, id: &str, state: &str) -> bool {
        self.state.set_state(id, state);
        self.state.store.has(id)
    }

    /// A resource's raw JSON.
    pub fn resource(&self, id: &str) -> Option<&Value> {
        self.state.store.get(id)
    }

    /// Puts a resource as raw JSON, under the `id` in it.
    pub fn put_resource(&mut self, body: Value) {
        self.state.store.put(body);
    }

    /// Adds a fault rule, and writes it into the trace.
    pub fn add_fault(&mut self, rule: Rule, now: Timestamp) {
        self.trace
            .record(now, format_args!("rule {}", serde_json::to_string(&rule).unwrap_or_default()));
        self.faults.add(rule);
    }

    /// Number of faults that the rules have made.
    pub fn faults_made(&self) -> u32 {
        self.faults.made()
    }

    /// Removes every fault rule.
    pub fn clear_faults(&mut self, now: Timestamp) {
        self.trace.record(now, format_args!("rules cleared"));
        self.faults.clear();
    }

    /// Gives a principal a role.
    pub fn assign(&mut self, assignment: Assignment) {
        self.state.assignments.push(assignment);
    }

    /// Takes the roles away that principals have at this scope.
    pub fn unassign(&mut self, scope: &str) {
        self.state.assignments.retain(|one| !one.scope.eq_ignore_ascii_case(scope));
    }

    pub fn add_deny_assignment(&mut self, denial: DenyAssignment) {
        self.state.deny_assignments.push(denial);
    }

    pub fn add_lock(&mut self, lock: Lock) {
        self.state.locks.push(lock);
    }

    pub fn clear_locks(&mut self) {
        self.state.locks.clear();
    }

    /// Takes a right away.
    pub fn deny(&mut self, denial: Denial) {
        self.state.denials.push(denial);
    }

    /// Gives back every right that was taken away.
    pub fn clear_denials(&mut self) {
        self.state.denials.clear();
    }

    /// Writes an entry into the activity log.
    pub fn append_activity(&mut self, entry: ActivityEntry) {
        self.state.activity.append(entry);
    }

    /// Says where the cluster's own API is.
    pub fn set_kubernetes(&mut self, access: Option<KubernetesAccess>) {
        self.state.options.kubernetes = access;
    }

    /// The cluster is being updated since `started`, by an operation that never ends by itself.
    pub fn begin_stuck_update(&mut self, started: Timestamp) {
        let id = self.state.options.cluster_id();
        // The writes of a wedged scale set belong to the first operation that wants them.
        let mut shared = self.state.wedges.values().filter_map(|wedge| wedge.correlation.clone());
        let taken = |id: &String| self.state.operations.values().any(|o| o.correlation == *id);
        let shared = shared.find(|id| !taken(id));
        let operation = Operation {
            id: self.state.guid(),
            work: Work::UpdateCluster,
            target: id.to_lowercase(),
            provider: AKS,
            started,
            ends: None,
            ended: None,
            status: Status::InProgress,
            error: None,
            logged: self.state.guid(),
            correlation: shared.unwrap_or_else(|| self.state.guid()),
            caller: self.state.options.principal.clone(),
            fate: None,
            hidden: false,
        };
        self.state.operations.insert(operation.id.clone(), operation.clone());
        self.state.set_state(&id, "Updating");
        let action = "Microsoft.ContainerService/managedClusters/write";
        self.state.log_begin(started, action, &id, operation.origin());
    }

    /// The operations that calls with this correlation id began: the resource in lower case, the state, and
    /// whether a fault rule hides it. This is the model's own record of accepted writes.
    pub fn begun_by<'a>(
        &'a self,
        correlation: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'static str, bool)> + use<'a> {
        let own = self.state.operations.values().filter(move |o| o.correlation == correlation);
        own.map(|o| (o.target.as_str(), o.status.as_str(), o.hidden))
    }

    /// Every node that has registered.
    pub fn nodes(&self) -> Vec<Node> {
        self.state.joined.iter().filter_map(|id| self.state.node_of(id)).collect()
    }

    pub fn karpenter_vms(&self) -> Vec<Vm> {
        let vms = self.state.store.list(&self.state.options.compute("virtualMachines"));
        vms.filter_map(|body| self.state.karpenter_vm(text(body, "/id"))).collect()
    }

    /// The inside, for people.
    pub fn state(&self) -> Value {
        let operations: Vec<Value> = self
            .state
            .operations
            .values()
            .map(|o| json!({"id": o.id, "target": o.target, "status": o.status.as_str(), "started": o.started.to_string(), "error": o.error}))
            .collect();
        json!({
            "seed": self.seed,
            "speed": self.state.options.speed,
            "resources": self.state.store.all().collect::<Vec<_>>(),
            "operations": operations,
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

fn is_about(change: &Change, vm: &Vm) -> bool {
    match change {
        Change::NodeJoined(node) => node.provider_id == vm.provider_id,
        Change::CseEnded { vm: other, .. } => other == vm,
        _ => false,
    }
}

impl Azure {
    /// Adds nodes to a pool, making its scale set first if there is none, and writes down that this succeeded.
    pub(crate) fn add_nodes(&mut self, pool: &str, count: u16, created: Timestamp, life: Life) {
        let vmss = self.state.vmss_of(pool).map(|body| text(body, "/id").to_owned());
        let Some(vmss) = vmss.or_else(|| self.state.add_vmss(pool)) else { return };
        for _ in 0..count {
            self.state.add_instance(&vmss, created, life);
        }
        if life == Life::Grown {
            self.state.write_vmss(&vmss, created);
        }
    }

    /// The newest machines of a pool are gone, and others in their place never came up.
    pub(crate) fn lose_nodes(&mut self, pool: &str, count: u16, since: Timestamp) {
        let Some(vmss) = self.state.vmss_of(pool).map(|body| text(body, "/id").to_owned()) else {
            return;
        };
        let machines = self.state.store.list(&format!("{vmss}/virtualMachines"));
        let mut machines: Vec<String> = machines.map(|body| text(body, "/id").to_owned()).collect();
        for machine in machines.drain(machines.len().saturating_sub(count.into())..) {
            self.state.remove_machine(&machine);
        }
        self.add_nodes(pool, count, since, Life::NoNetwork);
    }

    /// The failed writes of a wedged pool's scale set until now; of the youngest the log may not show all yet.
    pub(crate) fn fail_writes(&mut self, pool: &str, count: u16, now: Timestamp) {
        let Some(vmss) = self.state.vmss_of(pool).map(|body| text(body, "/id").to_owned()) else {
            return;
        };
        let mut ages: Vec<u64> = (0..count)
            .scan(0, |age, _| {
                *age += self.state.draw_seconds(CADENCE);
                Some(*age)
            })
            .collect();
        ages.reverse();
        for age in ages {
            let at = earlier(now, age.try_into().unwrap_or(i64::MAX));
            self.state.log_vmss_write(&vmss, at, true);
        }
    }
}

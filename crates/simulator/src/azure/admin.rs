//! What a test or an operator of the simulator does to the world, behind Azure's back.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::Azure;
use super::activity::Entry;
use super::changes::{Change, Node, Vm};
use super::cse::Cse;
use super::deny_assignments::DenyAssignment;
use super::extensions::Extensions;
use super::locks::Lock;
use super::machines::{Birth, Life};
use super::nodes::{CLAIM_TAG, NODE_POOL_TAG};
use super::operations::{AKS, Operation, Status, Work};
use super::options::KubernetesAccess;
use super::provision::{Image, Mode};
use super::roles::{Assignment, Denial};
use super::store::text;
use super::wedge::{CADENCE, Correlation};
use super::world::earlier;
use crate::faults::Rule;

/// A VM as Karpenter would make it.
#[derive(Debug, Clone)]
pub struct NewVm {
    /// The VM's name.
    pub name: String,
    /// The claim that it is for; without one, the VM's name without `aks-`.
    pub claim: Option<String>,
    /// The `NodePool`.
    pub node_pool: String,
    /// The node image's version, perhaps with its definition in front: `2204gen2containerd/202601.13.0`.
    pub image_version: String,
    /// Its size.
    pub size: String,
    /// Its zone.
    pub zone: String,
    /// How it is provisioned, which decides its extensions and how its image is named.
    pub mode: Mode,
    /// Whether its extensions come only by a promise that Karpenter keeps.
    pub promised: bool,
    /// How its bootstrap goes.
    pub cse: Cse,
    /// When it was made.
    pub created: Timestamp,
    /// Whether its bootstrap is long past; otherwise it boots now.
    pub grown: bool,
}

impl NewVm {
    /// One that boots now, for the `NodePool` `default`, in the default mode.
    #[must_use]
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
        let options = self.world.options.clone();
        let id = format!("{}/{}", options.compute("virtualMachines"), vm.name);
        let named = vm.name.strip_prefix("aks-").unwrap_or(&vm.name);
        self.world.add_machine(&Birth {
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
        if let Some(created) = self.world.karpenter_vm(&id) {
            let at = self.world.changes.iter().position(|change| is_about(change, &created));
            let at = at.unwrap_or(self.world.changes.len());
            self.world.changes.insert(at, Change::VmCreated(created));
        }
        id
    }

    /// From now on, things happen so much faster than in Azure; what is under way keeps its time.
    pub(crate) fn set_speed(&mut self, speed: f64) {
        self.world.options.speed = speed;
    }

    /// Takes a VM away at once.
    pub fn delete_vm(&mut self, id: &str) {
        self.world.remove_machine(id);
    }

    /// Wedges a pool's scale set: its writes fail from now on. False if there is no such pool.
    pub fn wedge(&mut self, pool: &str, correlation: Correlation, now: Timestamp) -> bool {
        self.with_vmss(pool, |azure, vmss| azure.world.wedge(&vmss, correlation, now))
    }

    /// Heals a pool's scale set, which nothing in Azure would.
    pub fn unwedge(&mut self, pool: &str, now: Timestamp) -> bool {
        self.with_vmss(pool, |azure, vmss| azure.world.unwedge(&vmss, now))
    }

    fn with_vmss(&mut self, pool: &str, act: impl FnOnce(&mut Self, String)) -> bool {
        let vmss = self.world.vmss_of(pool).map(|body| text(body, "/id").to_owned());
        vmss.map(|vmss| act(self, vmss)).is_some()
    }

    /// Sets a resource's provisioning state. False if there is no such resource.
    pub fn set_state(&mut self, id: &str, state: &str) -> bool {
        self.world.set_state(id, state);
        self.world.store.has(id)
    }

    /// A resource's raw JSON.
    #[must_use]
    pub fn resource(&self, id: &str) -> Option<&Value> {
        self.world.store.get(id)
    }

    /// Puts a resource as raw JSON, under the `id` in it.
    pub fn put_resource(&mut self, body: Value) {
        self.world.store.put(body);
    }

    /// Adds a fault rule, and writes it into the trace.
    pub fn add_fault(&mut self, rule: Rule, now: Timestamp) {
        self.trace
            .record(now, format_args!("rule {}", serde_json::to_string(&rule).unwrap_or_default()));
        self.faults.add(rule);
    }

    /// Number of faults that the rules have made.
    #[must_use]
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
        self.world.assignments.push(assignment);
    }

    /// Takes the roles away that principals have at this scope.
    pub fn unassign(&mut self, scope: &str) {
        self.world.assignments.retain(|one| !one.scope.eq_ignore_ascii_case(scope));
    }

    /// Adds a deny assignment.
    pub fn add_deny_assignment(&mut self, denial: DenyAssignment) {
        self.world.deny_assignments.push(denial);
    }

    /// Locks a scope.
    pub fn add_lock(&mut self, lock: Lock) {
        self.world.locks.push(lock);
    }

    /// Removes all locks.
    pub fn clear_locks(&mut self) {
        self.world.locks.clear();
    }

    /// Takes a right away.
    pub fn deny(&mut self, denial: Denial) {
        self.world.denials.push(denial);
    }

    /// Gives back every right that was taken away.
    pub fn clear_denials(&mut self) {
        self.world.denials.clear();
    }

    /// Writes an entry into the activity log.
    pub fn append_activity(&mut self, entry: Entry) {
        self.world.activity.append(entry);
    }

    /// Says where the cluster's own API is.
    pub fn set_kubernetes(&mut self, access: Option<KubernetesAccess>) {
        self.world.options.kubernetes = access;
    }

    /// The cluster is being updated since `started`, by an operation that never ends by itself.
    pub fn begin_stuck_update(&mut self, started: Timestamp) {
        let id = self.world.options.cluster_id();
        // The writes of a wedged scale set belong to the first operation that wants them.
        let mut shared = self.world.wedges.values().filter_map(|wedge| wedge.correlation.clone());
        let taken = |id: &String| self.world.operations.values().any(|o| o.correlation == *id);
        let shared = shared.find(|id| !taken(id));
        let operation = Operation {
            id: self.world.guid(),
            work: Work::UpdateCluster,
            target: id.to_lowercase(),
            provider: AKS,
            started,
            ends: None,
            ended: None,
            status: Status::InProgress,
            error: None,
            logged: self.world.guid(),
            correlation: shared.unwrap_or_else(|| self.world.guid()),
            caller: self.world.options.principal.clone(),
            fate: None,
            hidden: false,
        };
        self.world.operations.insert(operation.id.clone(), operation.clone());
        self.world.set_state(&id, "Updating");
        let action = "Microsoft.ContainerService/managedClusters/write";
        self.world.log_begin(started, action, &id, operation.origin());
    }

    /// The operations that calls with this correlation id began: the resource in lower case, the state, and
    /// whether a fault rule hides it. This is the model's own record of accepted writes.
    pub fn begun_by<'a>(
        &'a self,
        correlation: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'static str, bool)> + use<'a> {
        let own = self.world.operations.values().filter(move |o| o.correlation == correlation);
        own.map(|o| (o.target.as_str(), o.status.as_str(), o.hidden))
    }

    /// Every node that has registered.
    #[must_use]
    pub fn nodes(&self) -> Vec<Node> {
        self.world.joined.iter().filter_map(|id| self.world.node_of(id)).collect()
    }

    /// Every VM of Karpenter.
    #[must_use]
    pub fn karpenter_vms(&self) -> Vec<Vm> {
        let vms = self.world.store.list(&self.world.options.compute("virtualMachines"));
        vms.filter_map(|body| self.world.karpenter_vm(text(body, "/id"))).collect()
    }

    /// The inside, for people.
    #[must_use]
    pub fn state(&self) -> Value {
        let operations: Vec<Value> = self
            .world
            .operations
            .values()
            .map(|o| json!({"id": o.id, "target": o.target, "status": o.status.as_str(), "started": o.started.to_string(), "error": o.error}))
            .collect();
        json!({
            "seed": self.seed,
            "speed": self.world.options.speed,
            "resources": self.world.store.all().collect::<Vec<_>>(),
            "operations": operations,
            "wedged": self.world.wedges.keys().collect::<Vec<_>>(),
            "registered": self.world.joined,
            "activityLogEntries": self.world.activity.len(),
            "faults": self.faults.rules().collect::<Vec<_>>(),
            "denials": self.world.denials,
            "locks": self.world.locks,
            "denyAssignments": self.world.deny_assignments,
            "roleAssignments": self.world.assignments,
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

/// What only scenarios do.
impl Azure {
    /// Adds nodes to a pool, making its scale set first if there is none, and writes down that this succeeded.
    pub(crate) fn add_nodes(&mut self, pool: &str, count: u16, created: Timestamp, life: Life) {
        let vmss = self.world.vmss_of(pool).map(|body| text(body, "/id").to_owned());
        let Some(vmss) = vmss.or_else(|| self.world.add_vmss(pool)) else { return };
        for _ in 0..count {
            self.world.add_instance(&vmss, created, life);
        }
        if life == Life::Grown {
            self.world.write_vmss(&vmss, created);
        }
    }

    /// The newest machines of a pool are gone, and others in their place never came up.
    pub(crate) fn lose_nodes(&mut self, pool: &str, count: u16, since: Timestamp) {
        let Some(vmss) = self.world.vmss_of(pool).map(|body| text(body, "/id").to_owned()) else {
            return;
        };
        let machines = self.world.store.list(&format!("{vmss}/virtualMachines"));
        let mut machines: Vec<String> = machines.map(|body| text(body, "/id").to_owned()).collect();
        for machine in machines.drain(machines.len().saturating_sub(count.into())..) {
            self.world.remove_machine(&machine);
        }
        self.add_nodes(pool, count, since, Life::NoNetwork);
    }

    /// The failed writes of a wedged pool's scale set until now; of the youngest the log may not show all yet.
    pub(crate) fn fail_writes(&mut self, pool: &str, count: u16, now: Timestamp) {
        let Some(vmss) = self.world.vmss_of(pool).map(|body| text(body, "/id").to_owned()) else {
            return;
        };
        let mut ages: Vec<u64> = (0..count)
            .scan(0, |age, _| {
                *age += self.world.draw_seconds(CADENCE);
                Some(*age)
            })
            .collect();
        ages.reverse();
        for age in ages {
            let at = earlier(now, age.try_into().unwrap_or(i64::MAX));
            self.world.log_vmss_write(&vmss, at, true);
        }
    }
}

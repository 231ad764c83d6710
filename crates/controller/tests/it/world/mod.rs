//! A simulated API server and Azure of plain values, with a manual clock.
#![allow(dead_code, reason = "each test uses its part")]

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use mooring_controller::observation::karpenter::ProvisioningError;
use mooring_controller::observation::{MachineStatus, VmObservation};
use mooring_controller::state::{ReadRequest, ReadTarget, Sweep, SweepResult};
use mooring_controller::verdict::event::{EventForm, RegardingKind};
use mooring_controller::verdict::patch::PatchResult;
use mooring_controller::{Action, Input, Observation, Settings, State};
use mooring_nodes::claim::vm_id::Interner;
use mooring_nodes::record::RecordDocument;
use mooring_nodes::record::counts::{self, StoredCounts};
use mooring_nodes::verdict::registration::RequestState;
use mooring_nodes::{Claim, Scope};
use serde_json::{Value, json};

pub(crate) mod azure;
pub(crate) mod json_patch;
pub(crate) mod scenario;
mod writes;

pub(crate) use azure::Azure;
pub(crate) use scenario::Change;
pub(crate) use writes::Writes;

pub(crate) const CONDITION: &str = "CSEProvisioned";

pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).unwrap()
}

pub(crate) fn settings() -> Settings {
    let cluster = "/subscriptions/0/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/aks";
    let scope = Scope {
        subscription: "0".to_owned(),
        node_resource_group: "MC_g".to_owned(),
        cluster: Some(cluster.to_owned()),
    };
    Settings { scope, ..Settings::default() }
}

pub(crate) struct World {
    pub(crate) now: i64,
    pub(crate) claims: BTreeMap<String, Value>,
    pub(crate) events: BTreeMap<String, Value>,
    pub(crate) record: RecordDocument,
    pub(crate) counts: counts::CountsDocument,
    pub(crate) karpenter: Vec<ProvisioningError>,
    pub(crate) azure: Azure,
    pub(crate) writes: Writes,
    /// Time of the last new verdict of a NodeClaim.
    pub(crate) patched_at: BTreeMap<String, i64>,
    version: u64,
    /// Watch events that have not been delivered.
    pub(crate) outbox: Vec<Input>,
    /// Conditions of all NodeClaims at their removal.
    pub(crate) last_versions: BTreeMap<String, Value>,
    /// Crash around the write of this number: before it, or after it without a response.
    pub(crate) crash: Option<(u32, bool)>,
    /// Instead of being killed, the controller loses its Lease and acquires it again.
    pub(crate) demoted: bool,
    crashed: bool,
    interner: Interner,
}

impl World {
    pub(crate) fn new(azure: Azure) -> Self {
        Self {
            now: 0,
            claims: BTreeMap::new(),
            events: BTreeMap::new(),
            record: RecordDocument::default(),
            counts: counts::CountsDocument::new(at(0)),
            karpenter: Vec::new(),
            azure,
            writes: Writes::default(),
            patched_at: BTreeMap::new(),
            version: 100,
            outbox: Vec::new(),
            last_versions: BTreeMap::new(),
            crash: None,
            demoted: false,
            crashed: false,
            interner: Interner::default(),
        }
    }

    pub(crate) fn clock(&self) -> Timestamp {
        at(self.now)
    }

    fn project(&mut self, object: &Value) -> Claim {
        Claim::from_json(object.to_string().as_bytes(), CONDITION, &mut self.interner).unwrap()
    }

    pub(crate) fn put(&mut self, mut object: Value) {
        self.version += 1;
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        let claim = self.project(&object);
        self.outbox.push(Input::Claim(Box::new(claim)));
        self.claims.insert(name, object);
    }

    pub(crate) fn remove(&mut self, name: &str) {
        if let Some(object) = self.claims.remove(name) {
            let uid: Arc<str> = Arc::from(object["metadata"]["uid"].as_str().unwrap());
            self.last_versions.insert(name.to_owned(), object);
            self.outbox.push(Input::ClaimDeleted(uid));
        }
    }

    /// Returns all NodeClaims of a list, and its completion.
    pub(crate) fn list(&mut self) -> Vec<Input> {
        let objects: Vec<Value> = self.claims.values().cloned().collect();
        let mut inputs = Vec::new();
        let mut uids = HashSet::new();
        for object in objects {
            let claim = self.project(&object);
            uids.insert(Arc::clone(&claim.uid));
            inputs.push(Input::Claim(Box::new(claim)));
        }
        inputs.push(Input::Listed(uids));
        inputs.push(Input::Nodes(Vec::new()));
        inputs
    }

    /// Starts a controller, with all that it reads before it leads.
    pub(crate) fn start(&mut self, leads: bool) -> State {
        let mut state = State::new(settings(), self.clock());
        self.outbox.clear();
        let mut inputs = vec![
            Input::Object {
                kind: RegardingKind::NodePool,
                name: "default".into(),
                uid: "pool-uid".into(),
            },
            Input::Object {
                kind: RegardingKind::AksNodeClass,
                name: "default".into(),
                uid: "class-uid".into(),
            },
        ];
        inputs.extend(self.list());
        inputs.extend(self.karpenter.iter().cloned().map(Input::GivenUp));
        for input in inputs {
            assert!(
                state.handle(input, self.clock()).is_empty(),
                "a replica that does not lead does nothing"
            );
        }
        if leads {
            self.lead(&mut state);
        }
        state
    }

    pub(crate) fn lead(&mut self, state: &mut State) -> bool {
        state.handle(Input::Record(self.record.clone()), self.clock());
        let counted = StoredCounts::Counted(self.counts.counted().clone());
        state.handle(Input::Counts(counted), self.clock());
        let actions = state.handle(Input::Leads(true), self.clock());
        self.execute(state, actions)
    }

    /// Executes actions; false if the controller was killed.
    pub(crate) fn execute(&mut self, state: &mut State, actions: Vec<Action>) -> bool {
        let mut actions: VecDeque<Action> = actions.into();
        while let Some(action) = actions.pop_front() {
            let Some(inputs) = self.act(action) else { return false };
            for input in inputs {
                actions.extend(state.handle(input, self.clock()));
            }
        }
        true
    }

    pub(crate) fn has_crashed(&self) -> bool {
        self.crashed
    }

    /// Kills the controller after the write of this number.
    pub(crate) fn crash_at(&mut self, number: Option<u32>) {
        self.crash = number.map(|number| (number, true));
        self.crashed = false;
    }

    /// Returns true if the controller is killed before (`sent` false) or after (`sent` true) the next write.
    fn dies(&mut self, sent: bool) -> bool {
        let number = self.writes.number() - u32::from(sent);
        let dies = !self.crashed && self.crash == Some((number, sent));
        self.crashed |= dies;
        dies
    }

    /// Executes one action. Returns the resulting inputs, or none if the controller was killed.
    fn act(&mut self, action: Action) -> Option<Vec<Input>> {
        Some(match action {
            Action::Read(ReadRequest { uid, target, .. }) => {
                self.writes.reads += 1;
                let observation = match &target {
                    ReadTarget::Vm(vm) => {
                        let (status, body) = self.azure.vm(&vm.name, self.now);
                        observed(status, || Observation::Vm(VmObservation::of(&typed(body))))
                    }
                    ReadTarget::Machine(machine) => {
                        let (status, body) = self.azure.machine(&machine.name, self.now);
                        observed(status, || Observation::Machine(MachineStatus::of(&typed(body))))
                    }
                };
                vec![Input::Observed { uid, observation }]
            }
            Action::Sweep(Sweep::Extensions { group, .. }) => {
                self.writes.sweeps += 1;
                vec![Input::SweepResult(SweepResult::Extensions {
                    group,
                    rows: self.azure.sweep(self.now),
                })]
            }
            Action::Sweep(Sweep::Machines { pool }) => {
                self.writes.sweeps += 1;
                vec![Input::SweepResult(SweepResult::Machines { pool, machines: Vec::new() })]
            }
            Action::Inspect { uid, .. } => {
                self.writes.inspections += 1;
                vec![Input::Inspected { uid, request: RequestState::Absent }]
            }
            Action::Record(entry) => {
                if self.dies(false) {
                    return None;
                }
                self.writes.records += u32::from(self.record.merge(&[*entry], 50));
                if self.dies(true) {
                    return None;
                }
                Vec::new()
            }
            Action::Count(outcomes) => {
                if self.dies(false) {
                    return None;
                }
                // Through the text, as on the API server.
                let object = self.counts.config_map("mooring-system", None);
                self.counts = counts::CountsDocument::from_config_map(&object).unwrap();
                self.writes.counts += u32::from(self.counts.merge(&outcomes, self.clock()));
                if self.dies(true) {
                    return None;
                }
                Vec::new()
            }
            Action::Event(event) => {
                if self.dies(false) {
                    return None;
                }
                let about = &event.regarding;
                let uid = about.uid.clone().unwrap_or_else(|| format!("{}-uid", about.name));
                let exists = self.events.contains_key(&event.name(&uid));
                let body = || event.body(&uid, "test", EventForm::Plain);
                self.events.entry(event.name(&uid)).or_insert_with(body);
                *(if exists { &mut self.writes.events_again } else { &mut self.writes.events }) +=
                    1;
                if !exists && self.dies(true) {
                    return None;
                }
                Vec::new()
            }
            Action::Patch { uid, name, body, .. } => {
                if self.dies(false) {
                    return None;
                }
                let result = self.patch(&name, &body);
                if result == PatchResult::Written && self.dies(true) {
                    return None;
                }
                let object = self.claims.get(&name).cloned();
                let claim = object.map(|object| Input::Claim(Box::new(self.project(&object))));
                claim.into_iter().chain([Input::Patched { uid, result }]).collect()
            }
            Action::Reread { uid, name } => match self.claims.get(&name).cloned() {
                Some(object) => vec![Input::Claim(Box::new(self.project(&object)))],
                None => vec![Input::ClaimDeleted(uid)],
            },
            Action::LogDiagnosis(_)
            | Action::ImageFails { .. }
            | Action::ImageRecovered { .. }
            | Action::NodeFinding(_) => Vec::new(),
        })
    }

    fn patch(&mut self, name: &str, body: &Value) -> PatchResult {
        let Some(object) = self.claims.get(name) else { return PatchResult::of(Some(404)) };
        let Some(patched) = json_patch::apply(object, body) else {
            self.writes.rejected_patches += 1;
            return PatchResult::of(Some(422));
        };
        let condition_text = |object: &Value| {
            own_condition(object)
                .map(|c| [c["status"].clone(), c["reason"].clone(), c["message"].clone()])
        };
        assert_ne!(
            condition_text(object),
            condition_text(&patched),
            "a patch that changes nothing"
        );
        let message = own_condition(&patched).unwrap()["message"].as_str().unwrap().to_owned();
        // Computed here and not by the controller, which may have been restarted.
        let key = (name.to_owned(), message);
        if self.writes.verdicts.insert(key) {
            self.patched_at.insert(name.to_owned(), self.now);
        } else {
            self.writes.reasserts += 1;
        }
        self.put(patched);
        PatchResult::of(Some(200))
    }

    /// Returns the visible state, without times.
    pub(crate) fn picture(&self) -> Value {
        let mut conditions: BTreeMap<&str, Value> = BTreeMap::new();
        for (name, object) in self.claims.iter().chain(&self.last_versions) {
            let own =
                own_condition(object).map(|c| json!([c["status"], c["reason"], c["message"]]));
            conditions.entry(name).or_insert(own.unwrap_or_default());
        }
        let events: BTreeMap<&String, &Value> =
            self.events.iter().map(|(name, event)| (name, &event["note"])).collect();
        let records: BTreeMap<&str, &str> =
            self.record.entries().map(|e| (e.id.as_str(), e.message.as_str())).collect();
        let counts = self.counts.totals(counts::Filter::default()).into_iter();
        let counts: Vec<Value> = counts
            .map(|total| json!([total.pool, total.image, total.joined, total.failed]))
            .collect();
        json!({"conditions": conditions, "events": events, "records": records, "counts": counts})
    }
}

pub(crate) fn own_condition(object: &Value) -> Option<&Value> {
    let conditions = object["status"]["conditions"].as_array()?;
    let own: Vec<&Value> =
        conditions.iter().filter(|condition| condition["type"] == CONDITION).collect();
    assert!(own.len() <= 1, "the condition exists twice: {object}");
    own.first().copied()
}

/// Runs a controller until `until`, restarting it whenever it is killed. `disturb` may change deliveries.
pub(crate) fn run(
    world: &mut World,
    changes: &[(i64, Change)],
    until: i64,
    mut disturb: impl FnMut(&mut World, Vec<Input>) -> Vec<Input>,
) {
    let mut state = world.start(true);
    let mut changes = changes.iter().peekable();
    let mut steps = 0;
    while world.now <= until {
        while let Some((_, change)) = changes.next_if(|(when, _)| *when <= world.now) {
            change.apply(world);
        }
        loop {
            let out = std::mem::take(&mut world.outbox);
            let delivered = disturb(world, out);
            let mut alive = true;
            for input in delivered.into_iter().chain([Input::Tick]) {
                let actions = state.handle(input, world.clock());
                if !world.execute(&mut state, actions) {
                    alive = false;
                    break;
                }
            }
            if !alive && world.demoted {
                assert!(state.handle(Input::Leads(false), world.clock()).is_empty());
                let given_up = world.karpenter.clone().into_iter().map(Input::GivenUp);
                for input in world.list().into_iter().chain(given_up) {
                    assert!(state.handle(input, world.clock()).is_empty());
                }
                world.lead(&mut state);
            } else if !alive {
                state = world.start(true);
            }
            steps += 1;
            assert!(steps < 200_000, "the controller never comes to rest");
            if alive && world.outbox.is_empty() {
                break;
            }
        }
        let wake = state.wake_at(world.clock()).map_or(i64::MAX, |at| {
            let ahead = at.duration_since(world.clock());
            world.now
                + ahead.as_secs()
                + i64::from(ahead > SignedDuration::from_secs(ahead.as_secs()))
        });
        let change = changes.peek().map_or(i64::MAX, |(when, _)| *when);
        world.now = wake.min(change).min(until + 1).max(world.now + 1);
    }
}

pub(crate) type Rows = HashMap<String, mooring_controller::observation::ProvisioningState>;

fn typed<T: serde::de::DeserializeOwned>(body: Value) -> T {
    serde_json::from_value(body).unwrap()
}

fn observed(status: u16, read: impl FnOnce() -> Observation) -> Observation {
    match status {
        200 => read(),
        404 => Observation::Missing,
        401 | 403 => Observation::Denied { status },
        429 => Observation::Throttled { retry_after: None },
        _ => Observation::Unreadable { what: "server error" },
    }
}

//! The model: state, changes and invariants.

use mooring_workflow::Finish;
use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use mooring_repair::observation::AksOperation;
use mooring_repair::plan::Step;
use mooring_repair::workflow::{Entry, Run, Runs};
use mooring_workflow::PastRun;
use serde_json::{Value, json};

use super::model::{Node, Pod, Pool, Pools, Workload};
use crate::fixtures::fixture;

pub(crate) const CLUSTER: &str =
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/c";
pub(crate) const SETS: &str =
    "/subscriptions/s/resourceGroups/MC/providers/Microsoft.Compute/virtualMachineScaleSets";

/// A plain value: clones are independent.
#[derive(Clone)]
pub(crate) struct Cloud {
    pub(crate) now: Timestamp,
    pub(crate) cluster_state: String,
    pub(crate) cluster_tags: BTreeMap<String, String>,
    pub(crate) operation: Option<AksOperation>,
    pub(crate) pools: Pools,
    pub(crate) nodes: Vec<Node>,
    pub(crate) pods: Vec<Pod>,
    pub(crate) workloads: Vec<Workload>,
    /// All changes of all runs; the start of a run is that of a session.
    pub(crate) journal: Vec<Entry>,
    pub(crate) deletes: BTreeMap<(String, String), u32>,
    pub(crate) effects: u64,
    pub(crate) aborts: Vec<String>,
    pub(super) settles_at: Option<Timestamp>,
    /// Pools whose nodes join late, and when.
    pub(super) late: BTreeMap<String, Timestamp>,
    /// Pool whose nodes never join.
    pub(crate) barren: Option<&'static str>,
    /// Workload whose controller creates no pods.
    pub(crate) idle: Option<&'static str>,
    /// Number of deletions that are accepted and fail, and their code.
    pub(crate) fails_to_delete: u32,
    pub(crate) fails_with: &'static str,
    /// Error codes of failed operations by token.
    pub(crate) failed: BTreeMap<String, Vec<String>>,
    /// The stored run, and the earlier ones.
    pub(crate) state: Option<Run>,
    pub(crate) past: Vec<PastRun>,
    pub(super) made: u32,
    /// Effects whose key has this prefix are rejected permanently.
    pub(crate) forbidden: Option<&'static str>,
    /// End of the failing writes.
    pub(crate) failing_until: Option<Timestamp>,
    /// The clock jumps by this when an operation is aborted.
    pub(crate) jump: SignedDuration,
    /// The activity log is unavailable.
    pub(crate) mute: bool,
    /// The temporary pool has had a Ready node.
    up: bool,
    /// Duration of operations: short, since every poll takes test time.
    pub(crate) pace: SignedDuration,
}

impl Cloud {
    /// A cluster whose pool `system` is wedged: three instances, of which one has a node.
    pub(crate) fn wedged() -> Self {
        let mut system = fixture!("04_agentpool_get_system_wedged");
        system["id"] = format!("{CLUSTER}/agentPools/system").into();
        system["properties"]["provisioningState"] = "Failed".into();
        let mut user = system.clone();
        user["id"] = format!("{CLUSTER}/agentPools/user").into();
        user["name"] = "user".into();
        user["properties"]["mode"] = "User".into();
        user["properties"]["provisioningState"] = "Succeeded".into();
        let pool = |raw: Value, set: &str, wedged| Pool {
            raw: Arc::new(raw),
            set: set.into(),
            wedged,
            version: 1,
            operation: None,
            doomed: None,
        };
        let mut cloud = Self {
            now: "2026-05-26T20:40:00Z".parse().unwrap(),
            cluster_state: "Failed".into(),
            cluster_tags: BTreeMap::new(),
            operation: None,
            pools: [
                ("system".into(), pool(system, "aks-system-0", true)),
                ("user".into(), pool(user, "aks-user-0", false)),
            ]
            .into(),
            nodes: Vec::new(),
            pods: Vec::new(),
            workloads: vec![
                Workload { app: "coredns", replicas: 2, min_available: 1 },
                Workload { app: "metrics", replicas: 1, min_available: 0 },
            ],
            journal: Vec::new(),
            deletes: BTreeMap::new(),
            effects: 0,
            aborts: Vec::new(),
            settles_at: None,
            late: BTreeMap::new(),
            barren: None,
            idle: None,
            fails_to_delete: 0,
            fails_with: "AnyCode",
            failed: BTreeMap::new(),
            state: None,
            past: Vec::new(),
            made: 0,
            forbidden: None,
            failing_until: None,
            jump: SignedDuration::ZERO,
            mute: false,
            up: false,
            pace: SignedDuration::from_secs(8),
        };
        for (pool, set, index) in
            [("system", "aks-system-0", 0), ("user", "aks-user-0", 0), ("user", "aks-user-0", 1)]
        {
            cloud.nodes.push(node(pool, set, index));
        }
        cloud.pods.push(pod("agent-0", "agent", "DaemonSet", "aks-system-0-0"));
        for name in ["coredns-a", "coredns-b"] {
            cloud.pods.push(pod(name, "coredns", "ReplicaSet", "aks-system-0-0"));
        }
        cloud.pods.push(pod("metrics-a", "metrics", "ReplicaSet", "aks-system-0-0"));
        cloud
    }

    /// Changes are visible after a second; then only seconds with a due event count.
    pub(crate) fn advance(&mut self, to: Timestamp) {
        let second = SignedDuration::from_secs(1);
        let mut next = self.now.checked_add(second).unwrap();
        while self.now < to {
            self.now = to.min(next);
            self.tick();
            next = self.now.checked_add(second).unwrap().max(self.due().unwrap_or(to));
        }
    }

    /// Time of the next event.
    fn due(&self) -> Option<Timestamp> {
        let operations = self.pools.values().filter_map(|pool| Some(pool.operation?.0));
        let ends = self.pods.iter().filter_map(|pod| pod.ends_at);
        operations.chain(ends).chain(self.settles_at).chain(self.late.values().copied()).min()
    }

    fn tick(&mut self) {
        let now = self.now;
        if self.settles_at.is_some_and(|at| at <= now) {
            self.settles_at = None;
            self.cluster_state =
                if self.cluster_state == "Canceling" { "Canceled" } else { "Succeeded" }.into();
        }
        let due: Vec<String> = self
            .pools
            .iter()
            .filter(|(_, pool)| pool.operation.is_some_and(|(at, _)| at <= now))
            .map(|(name, _)| name.clone())
            .collect();
        for name in due {
            let pool = self.pools.get_mut(&name).unwrap();
            let (_, deletion) = pool.operation.take().unwrap();
            if let Some(end) = pool.doomed.take() {
                pool.set_state(end);
                if deletion {
                    let run = self.state.as_ref().unwrap().id.clone();
                    self.deletes.remove(&(name, run));
                }
                continue;
            }
            if deletion {
                self.pools.remove(&name);
                self.late.remove(&name);
                let gone: Vec<String> = self
                    .nodes
                    .iter()
                    .filter(|node| node.pool == name)
                    .map(|node| node.name.clone())
                    .collect();
                self.nodes.retain(|node| node.pool != name);
                self.pods.retain(|pod| pod.node.as_ref().is_none_or(|node| !gone.contains(node)));
                continue;
            }
            pool.set_state("Succeeded");
            self.late.entry(name).or_insert(now);
        }
        self.nodes_come();
        self.pods.retain(|pod| pod.ends_at.is_none_or(|at| at > now));
        for workload in self.workloads.iter().filter(|found| self.idle != Some(found.app)) {
            let have = self
                .pods
                .iter()
                .filter(|pod| pod.app == workload.app && pod.ends_at.is_none())
                .count();
            for _ in have..workload.replicas {
                self.made += 1;
                self.pods.push(Pod {
                    node: None,
                    serves_at: None,
                    ..pod(
                        &format!("{}-{}", workload.app, self.made),
                        workload.app,
                        "ReplicaSet",
                        "",
                    )
                });
            }
        }
        let usable: Vec<String> = self
            .nodes
            .iter()
            .filter(|node| node.usable() && node.pool != "user")
            .map(|node| node.name.clone())
            .collect();
        for (index, pod) in self.pods.iter_mut().filter(|pod| pod.node.is_none()).enumerate() {
            if let Some(node) = usable.get(index % usable.len().max(1)) {
                pod.node = Some(node.clone());
                pod.serves_at = Some(now.checked_add(SignedDuration::from_secs(2)).unwrap());
            }
        }
        self.up |= self.nodes.iter().any(|node| node.pool == "systmp" && node.usable());
        self.check();
    }

    fn nodes_come(&mut self) {
        let now = self.now;
        let due: Vec<String> =
            self.late.iter().filter(|(_, at)| **at <= now).map(|(name, _)| name.clone()).collect();
        for name in due {
            self.late.remove(&name);
            let Some(pool) = self.pools.get(&name).filter(|_| self.barren != Some(&name)) else {
                continue;
            };
            for index in 0..pool.count() {
                let new = node(&name, &pool.set, index);
                if !self.nodes.iter().any(|node| node.name == new.name) {
                    self.nodes.push(new);
                }
            }
        }
    }

    /// Changes the readiness of a pool's nodes and their pods.
    pub(crate) fn set_ready(&mut self, pool: &str, ready: bool, since: Timestamp) {
        for node in self.nodes.iter_mut().filter(|node| node.pool == pool) {
            (node.ready, node.since) = (ready, since);
            for pod in self.pods.iter_mut().filter(|pod| pod.node.as_ref() == Some(&node.name)) {
                pod.lame = !ready;
            }
        }
    }

    /// Lets missing nodes join.
    pub(crate) fn nodes_come_after_all(&mut self) {
        if let Some(pool) = self.barren.take()
            && self.pools.get(pool).is_some_and(|pool| pool.state() == "Succeeded")
        {
            self.late.insert(pool.to_owned(), self.now);
        }
    }

    /// Checks the invariants.
    pub(crate) fn check(&self) {
        let ours = |state: &Run| state.attempts.contains_key("put pool systmp");
        if self.pools.contains_key("systmp")
            && self.state.as_ref().is_some_and(ours)
            && let Some(Entry::Finished { finish, left }) = self.journal.last()
        {
            assert_eq!(*finish, Finish::Aborted, "an orphan at {}", self.now);
            let named = left.iter().any(|left| left.what.contains("systmp was kept"));
            assert!(named, "an unreported orphan at {}: {left:?}", self.now);
        }
        if self.up {
            let system =
                self.nodes.iter().filter(|node| node.pool != "user" && node.usable()).count();
            assert!(system > 0, "no schedulable system node at {}", self.now);
        }
        for ((pool, run), count) in &self.deletes {
            assert!(*count <= 1, "pool {pool} was deleted {count} times by run {run}");
        }
    }

    pub(crate) fn runs(&self) -> Runs {
        Runs { last: self.state.clone(), past: self.past.clone() }
    }

    /// Starts another run.
    pub(crate) fn begin(&mut self, run: Run) {
        let mut runs = self.runs();
        runs.archive(self.now);
        self.past = runs.past;
        let entry = Entry::Resumed(Box::new(run.session.clone()));
        self.journal.push(entry);
        self.state = Some(run);
        self.check();
    }

    /// Stores the run after a change.
    pub(crate) fn append(&mut self, entry: &Entry, run: &Run) {
        self.journal.push(entry.clone());
        self.state = Some(run.clone());
        self.check();
    }

    /// Stores a change of the run by another process.
    pub(crate) fn change(&mut self, entry: &Entry) {
        let mut run = self.state.clone().unwrap();
        run.change(self.now, entry).expect("the change follows");
        self.append(entry, &run);
    }

    pub(crate) fn finish(&self) -> Option<Finish> {
        match self.journal.last()? {
            Entry::Finished { finish, .. } => Some(*finish),
            _ => None,
        }
    }

    /// Final state without values that differ between runs.
    pub(crate) fn end_state(&self) -> Value {
        let pools: BTreeMap<_, _> = self
            .pools
            .iter()
            .map(|(name, pool)| {
                let mut raw = (*pool.raw).clone();
                raw["properties"].as_object_mut().unwrap().remove("eTag");
                (name.clone(), json!({"raw": raw, "wedged": pool.wedged}))
            })
            .collect();
        let nodes = |pool: &str| {
            self.nodes.iter().filter(|node| node.pool == pool && node.usable()).count()
        };
        let serving = |app: &str| {
            self.pods.iter().filter(|pod| pod.app == app && pod.serving(self.now)).count()
        };
        json!({
            "pools": pools, "cluster": self.cluster_state, "tags": self.cluster_tags.len(),
            "nodes": [nodes("system"), nodes("user"), nodes("systmp")],
            "cordoned": self.nodes.iter().filter(|node| node.cordoned).count(),
            "serving": self.workloads.iter().map(|workload| serving(workload.app)).collect::<Vec<_>>(),
            "deletes": self.deletes.iter().map(|((pool, _), count)| json!([pool, count])).collect::<Vec<_>>(),
        })
    }

    pub(crate) fn steps(&self) -> Vec<Step> {
        self.journal
            .iter()
            .filter_map(|record| match record {
                Entry::StepDone { step, .. } => Some(*step),
                _ => None,
            })
            .collect()
    }
}

pub(crate) fn node(pool: &str, set: &str, index: usize) -> Node {
    Node {
        name: format!("{set}-{index}"),
        pool: pool.into(),
        instance: format!("{SETS}/{set}/virtualMachines/{index}"),
        ready: true,
        since: Timestamp::UNIX_EPOCH,
        cordoned: false,
    }
}

pub(crate) fn pod(name: &str, app: &str, kind: &'static str, node: &str) -> Pod {
    Pod {
        name: name.into(),
        app: app.into(),
        kind,
        node: Some(node.into()),
        serves_at: Some(Timestamp::UNIX_EPOCH),
        lame: false,
        ends_at: None,
    }
}

//! Azure and the cluster as one plain value.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::ClusterOptions;
use super::{claims, workloads};
use crate::azure::{AKS_SERVER, Azure, Rights, earlier, later};
use crate::exchange::{Request, ServerReply, header};
use crate::faults::{FaultRule, ServiceName};
use crate::karpenter::{self, Karpenter};
use crate::kubernetes::{self, Kubernetes, StatusError, User};
use crate::scenario::Scenario;
use crate::secrets::decode_claims;

/// Enough rounds for any cascade; the limit turns a mistake into an end instead of an endless loop.
const ROUNDS: usize = 100_000;

/// Seconds since the creation of the cluster.
const CLUSTER_AGE: i64 = 30 * 24 * 3600;

pub struct SimulatedCluster {
    pub(super) seed: u64,
    pub(super) options: ClusterOptions,
    pub(super) azure: Azure,
    pub(super) kubernetes: Kubernetes,
    pub(super) karpenter: Option<Karpenter>,
    /// Registered nodes that are not Ready yet, by the time at which they will be.
    pub(super) starting: BTreeSet<(Timestamp, String)>,
    /// Certificate signing requests, by the time of their removal.
    pub(super) requests: BTreeSet<(Timestamp, String)>,
    pub(super) now: Timestamp,
}

impl SimulatedCluster {
    pub fn new(scenario: &Scenario, seed: u64, start: Timestamp, options: ClusterOptions) -> Self {
        let azure = scenario.build(seed, start, options.azure.clone());
        let scaled = |time: Duration| azure.options().scaled(time);
        let mut faults = options.kubernetes.faults.clone();
        let of_kubernetes = |rule: &&FaultRule| rule.when.service == Some(ServiceName::Kubernetes);
        faults.extend(scenario.faults.iter().filter(of_kubernetes).cloned());
        let delays = options.kubernetes.delays;
        let mut kubernetes = Kubernetes::new(kubernetes::KubernetesOptions {
            seed,
            start,
            controllers: true,
            open: false,
            delays: kubernetes::Delays {
                start: scaled(delays.start),
                stop: scaled(delays.stop),
                ..delays
            },
            // Faults start only after the setup.
            faults: Vec::new(),
            ..options.kubernetes.clone()
        });
        kubernetes.add_token(options.token.expose(), User::administrator());
        let mut world = Self {
            seed,
            azure,
            kubernetes,
            karpenter: None,
            starting: BTreeSet::new(),
            requests: BTreeSet::new(),
            now: start,
            options,
        };
        world.create_initial_objects(scenario, start);
        for rule in faults {
            world.kubernetes.add_fault(rule);
        }
        if let Some(karpenter) = world.options.karpenter.clone().or(scenario.karpenter.clone()) {
            world.start_karpenter(karpenter, start);
        }
        world
    }

    fn create_initial_objects(&mut self, scenario: &Scenario, start: Timestamp) {
        let founded = earlier(start, CLUSTER_AGE);
        claims::install(&mut self.kubernetes, self.options.atomic_conditions, founded);
        for change in self.azure.take_changes() {
            self.recall(&change, start);
        }
        if self.options.workloads {
            workloads::install(&mut self.kubernetes, founded);
        }
        for object in &scenario.objects {
            if let Err(error) = self.kubernetes.create(object.clone(), founded) {
                self.kubernetes.trace.record(start, format_args!("refused {}", error.message));
            }
        }
        // Twice: pods are scheduled, and then they run.
        self.kubernetes.settle(founded);
        self.kubernetes.settle(later(founded, Duration::from_mins(1)));
        self.kubernetes.settle(start);
        // Watches cannot resume from before the first client.
        self.kubernetes.forget_history();
    }

    pub fn handle(
        &mut self,
        service: ServiceName,
        request: &Request,
        now: Timestamp,
    ) -> ServerReply {
        self.settle(now);
        let outcome = match service {
            ServiceName::Kubernetes => match known(&self.azure, request, now) {
                Some(request) => self.kubernetes.handle(&request, now),
                None => self.kubernetes.handle(request, now),
            },
            _ => self.azure.handle(request, now),
        };
        self.settle_at(now);
        outcome
    }

    /// Adds a fault rule for the calls that it selects, of Azure or the cluster's API.
    pub fn add_fault(&mut self, rule: &FaultRule, now: Timestamp) {
        self.kubernetes.add_fault(rule.clone());
        self.azure.add_fault(rule.clone(), now);
    }

    pub fn clear_faults(&mut self, now: Timestamp) {
        self.kubernetes.clear_faults();
        self.azure.clear_faults(now);
    }

    /// Applies every change that is due by `now`, each at its time.
    pub fn settle(&mut self, now: Timestamp) {
        for _ in 0..ROUNDS {
            let Some(next) = self.next_change().filter(|next| *next < now) else { break };
            let at = next.max(self.now);
            self.settle_at(at);
            // A change that stays due must not keep time from passing.
            if self.next_change().is_some_and(|again| again <= at) {
                break;
            }
        }
        self.settle_at(now);
    }

    fn settle_at(&mut self, at: Timestamp) {
        self.now = self.now.max(at);
        for _ in 0..ROUNDS {
            self.azure.settle(at);
            let changes = self.azure.take_changes();
            let quiet = changes.is_empty();
            for change in changes {
                self.follow(&change, at);
            }
            let ready = self.ready_nodes(at);
            self.clean_requests(at);
            self.kubernetes.settle(at);
            let acted = match &mut self.karpenter {
                Some(karpenter) => karpenter.settle(&mut self.azure, &mut self.kubernetes, at),
                None => false,
            };
            if quiet && !ready && !acted {
                break;
            }
        }
    }

    /// Returns the time of the next change without a request.
    pub fn next_change(&self) -> Option<Timestamp> {
        let node = self.starting.first().map(|(at, _)| *at);
        let karpenter = self.karpenter.as_ref().and_then(Karpenter::next_change);
        let request = self.requests.first().map(|(at, _)| *at);
        [self.azure.next_change(), self.kubernetes.next_change(), node, request, karpenter]
            .into_iter()
            .flatten()
            .min()
    }

    pub fn create_claim(&mut self, name: &str, now: Timestamp) -> Result<Value, StatusError> {
        claims::create(&mut self.kubernetes, name, now)
    }

    /// Sets the speed-up factor of later changes; those in progress keep their time.
    pub fn set_speed(&mut self, speed: f64) {
        self.azure.set_speed(speed);
        if let Some(karpenter) = &mut self.karpenter {
            karpenter.set_speed(speed);
        }
    }

    /// Starts Karpenter, in place of a running one.
    pub fn start_karpenter(&mut self, options: karpenter::KarpenterOptions, now: Timestamp) {
        self.karpenter = Some(Karpenter::new(options, self.seed, now, &self.azure));
    }

    /// Stops Karpenter: it no longer launches, registers or deletes anything, and its pollers are lost.
    pub fn stop_karpenter(&mut self) {
        if let Some(karpenter) = &mut self.karpenter {
            karpenter.stop();
        }
    }

    /// Starts a stopped Karpenter again with its options.
    pub fn resume_karpenter(&mut self, now: Timestamp) {
        if let Some(karpenter) = &mut self.karpenter {
            karpenter.restart(now);
        }
    }

    pub fn azure(&self) -> &Azure {
        &self.azure
    }

    /// Returns Azure to change it. Consequences follow when the model settles.
    pub fn azure_mut(&mut self) -> &mut Azure {
        &mut self.azure
    }

    pub fn kubernetes(&self) -> &Kubernetes {
        &self.kubernetes
    }

    /// Returns the cluster's API to change it.
    pub fn kubernetes_mut(&mut self) -> &mut Kubernetes {
        &mut self.kubernetes
    }

    pub fn karpenter_mut(&mut self) -> Option<&mut Karpenter> {
        self.karpenter.as_mut()
    }

    pub fn options(&self) -> &ClusterOptions {
        &self.options
    }

    /// Returns the cluster's internal state, human-readable.
    pub fn cluster_state(&self) -> Value {
        let names = |resource: &str| -> Vec<Value> {
            self.kubernetes
                .objects(resource, None)
                .map(|one| one["metadata"]["name"].clone())
                .collect()
        };
        json!({
            "namespaces": names("namespaces"),
            "nodes": names("nodes"),
            "nodeClaims": names(claims::NODE_CLAIMS),
            "pods": names("pods"),
            "objects": self.kubernetes.total(),
            "revision": self.kubernetes.revision(),
            "karpenter": self.karpenter.as_ref().is_some_and(Karpenter::is_running),
        })
    }

    /// Returns the requests and responses of both sides.
    pub fn trace(&self) -> String {
        format!("{}{}", self.azure.trace().text(), self.kubernetes.trace())
    }
}

/// Returns the request as a user of the cluster, if its token is Azure's and issued for the cluster.
fn known(azure: &Azure, request: &Request, now: Timestamp) -> Option<Request> {
    let header = header(request, "authorization")?;
    let claims = decode_claims(header.strip_prefix("Bearer ")?.split('.').nth(1)?)?;
    if claims["aud"].as_str()?.trim_end_matches('/') != AKS_SERVER {
        return None;
    }
    let name = azure.check_token(header, now)?;
    let user = match azure.options().rights {
        // Entra names an application by its object id.
        Rights::Assigned if !azure.administers(&name) => {
            User { name, groups: vec!["system:authenticated".to_owned()] }
        }
        Rights::Assigned | Rights::Owner | Rights::Shipped => {
            User { name, ..User::administrator() }
        }
    };
    let mut known = request.clone();
    known.extensions_mut().insert(user);
    Some(known)
}

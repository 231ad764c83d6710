//! Steps of Karpenter for a NodeClaim. A failed write is retried a moment later.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::claim::conditions::Conditions;
use super::claim::disruption;
use super::claim::objects::{self, FINALIZER};
use super::client::{Client, path_of, went_well};
use super::event;
use super::state::{ClaimStep, Karpenter, KarpenterClaim};
use super::state::{FINALIZE_POLL, LAUNCH, POLL, REGISTRATION};
use crate::azure::{Azure, later};
use crate::kubernetes::Kubernetes;
use crate::kubernetes::store::objects::{finalizers, is_being_deleted, text, time_at, uid};

/// Seconds until a new NodeClaim is launched, until a failed write is retried, and until a failed
/// NodeClaim is replaced.
const SOON: u64 = 2;
pub(super) const AGAIN: u64 = 1;
const SUCCESSOR: u64 = 10;

impl Karpenter {
    pub(super) fn notice(&mut self, name: &str, object: &Value, azure: &Azure, now: Timestamp) {
        let created = time_at(object, &["metadata", "creationTimestamp"]).unwrap_or(now);
        if self.claims.get(name).is_none_or(|claim| claim.uid != uid(object)) {
            let conditions = Conditions::read(object, created);
            let machine = text(object, &["status", "providerID"]).strip_prefix("azure://");
            let node = machine.and_then(|machine| azure.node_of_machine(machine));
            let [is_launched, is_registered, is_initialized] =
                ["Launched", "Registered", "Initialized"].map(|stage| conditions.is(stage));
            let is_there = node.is_some();
            let since = conditions.since("Registered").unwrap_or(created);
            self.claims.insert(
                name.to_owned(),
                KarpenterClaim {
                    uid: uid(object).to_owned(),
                    conditions,
                    machine: machine.map(str::to_owned),
                    node,
                    awaited: false,
                    failed: false,
                    ending: false,
                },
            );
            if !is_launched {
                self.plan(name, ClaimStep::Launch, SOON, now);
                self.plan(name, ClaimStep::CheckLaunch, LAUNCH, created);
            } else if !is_there {
                self.plan(name, ClaimStep::CheckDisruption, disruption::FIRST, now);
            }
            // A Node that came during the stop is found before the timeout is.
            if is_there && !is_registered {
                self.plan(name, ClaimStep::Register, 0, now);
            }
            if !is_registered {
                self.plan_liveness(name, since, now);
            }
            if is_there && !is_initialized {
                self.plan(name, ClaimStep::Initialize, AGAIN, now);
            }
        }
        if let Some(claim) = self.claims.get_mut(name)
            && is_being_deleted(object)
            && !claim.ending
        {
            claim.ending = true;
            self.plan(name, ClaimStep::Finalize, AGAIN, now);
        }
    }

    /// Plans the check fifteen minutes after the last transition of `Registered`, which at first is
    /// the NodeClaim's creation. The part before Karpenter started is not scaled.
    fn plan_liveness(&mut self, name: &str, since: Timestamp, now: Timestamp) {
        let age = self.started.duration_since(since).max(SignedDuration::ZERO);
        let left = REGISTRATION.saturating_sub(u64::try_from(age.as_secs()).unwrap_or_default());
        let from = if age.is_zero() { since } else { now };
        self.plan(name, ClaimStep::CheckLiveness, left, from);
    }

    pub(super) fn take(&mut self, name: &str, step: ClaimStep, client: &mut Client<'_>) {
        let now = client.now;
        if step == ClaimStep::Replace {
            self.synced |= !has_unknown_node(client.kubernetes);
            if !self.synced {
                return self.plan(name, step, AGAIN, now);
            }
            return self.replace(name, client);
        }
        let (Some(claim), Some(object)) = (self.claims.get(name), self.cache.newest(name).cloned())
        else {
            return;
        };
        let claim = claim.clone();
        match &step {
            ClaimStep::Launch if !claim.ending => self.launch(name, &object, client),
            ClaimStep::CreateExtensions => {
                if let Some(vm) = &claim.machine {
                    client.azure.keep_promise(vm, now);
                }
            }
            ClaimStep::Register if !claim.ending => {
                match nodes_of(client.kubernetes, &claim) {
                    // It may have no provider id yet, or never.
                    0 => return,
                    1 => {}
                    _ => {
                        self.change(name, |claim| claim.conditions.multiple_nodes(now));
                        self.write_status(name, json!({}), client);
                        self.plan_liveness(name, now, now);
                        return self.plan(name, step, FINALIZE_POLL, now);
                    }
                }
                if !claim.conditions.is("Registered") {
                    self.pools.remember(&object, true, client);
                }
                self.advance(name, &step, Conditions::registered, client);
            }
            ClaimStep::Initialize if !claim.ending => {
                self.advance(name, &step, Conditions::initialized, client);
            }
            ClaimStep::Announce { message } => {
                let error = match claim.machine.as_deref() {
                    Some(vm) => self.error_of(name, vm, message, client.azure),
                    None => message.clone(),
                };
                let report = event::object(&object, &error, now);
                if !went_well(client.create(event::EVENTS, &report)) {
                    return self.plan(name, step, AGAIN, now);
                }
                self.change(name, |claim| (claim.failed, claim.awaited) = (true, false));
                match self.options.linger_seconds {
                    0 => self.delete_machine(name, client),
                    seconds => {
                        let at = later(now, Duration::from_secs(seconds));
                        self.plan_at(name, ClaimStep::DeleteMachine, at);
                    }
                }
            }
            ClaimStep::DeleteMachine => self.delete_machine(name, client),
            ClaimStep::DeleteClaim => {
                let same = json!({"preconditions": {"uid": claim.uid}});
                let status = client.delete(&path_of(name), &same);
                if !went_well(status) && !matches!(status, 404 | 409) {
                    self.plan(name, step, AGAIN, now);
                }
                if self.replaced < self.options.replacements {
                    self.replaced += 1;
                    self.plan(name, ClaimStep::Replace, SUCCESSOR, now);
                }
            }
            ClaimStep::CheckLiveness
                if !claim.ending && !claim.failed && !claim.conditions.is("Registered") =>
            {
                let since = claim.conditions.since("Registered");
                let ends = since.map(|since| self.after(since, REGISTRATION));
                match ends.filter(|ends| *ends > now && since > Some(self.started)) {
                    // The condition has changed since then, and the timeout starts again.
                    Some(ends) => self.plan_at(name, step, ends),
                    None => self.give_up(name, &object, client),
                }
            }
            ClaimStep::CheckLaunch if !claim.ending && !claim.conditions.is("Launched") => {
                self.give_up(name, &object, client);
            }
            ClaimStep::CheckDisruption
                if !claim.ending && nodes_of(client.kubernetes, &claim) == 0 =>
            {
                self.blocked.report(&object, client);
                self.plan(name, step, disruption::AGAIN, now);
            }
            ClaimStep::Finalize => self.finalize(name, &claim, &object, client),
            _ => {}
        }
    }

    /// Deletes a NodeClaim after its timeout without an event, and counts it against its NodePool.
    fn give_up(&mut self, name: &str, object: &Value, client: &mut Client<'_>) {
        self.pools.remember(object, false, client);
        self.plan(name, ClaimStep::DeleteClaim, 0, client.now);
    }

    /// Sets the conditions of a NodeClaim that reached its next stage.
    fn advance(
        &mut self,
        name: &str,
        step: &ClaimStep,
        how: impl FnOnce(&mut Conditions, Timestamp),
        client: &mut Client<'_>,
    ) {
        self.change(name, |claim| how(&mut claim.conditions, client.now));
        let node = self.claims.get(name).and_then(|claim| claim.node.clone());
        let label = if *step == ClaimStep::Register {
            "karpenter.sh/registered"
        } else {
            "karpenter.sh/initialized"
        };
        if let Some(node) = &node {
            let patch = json!({"metadata": {"labels": {label: "true"}}});
            client.patch(&format!("/api/v1/nodes/{node}"), &patch);
        }
        if !self.write_status(name, json!({"nodeName": node}), client) {
            self.plan(name, step.clone(), AGAIN, client.now);
        }
    }

    /// Writes a NodeClaim's status: the whole list of conditions, without a resourceVersion, from a
    /// copy that may be old.
    pub(super) fn write_status(
        &mut self,
        name: &str,
        mut status: Value,
        client: &mut Client<'_>,
    ) -> bool {
        let age = if self.random.random_bool(self.options.stale) {
            let most = Duration::from_secs(self.options.stale_seconds).div_f64(self.speed);
            self.random.between(most / 2, most)
        } else {
            let most = Duration::from_millis(self.options.work_millis).div_f64(self.speed);
            self.random.between(Duration::ZERO, most)
        };
        let Some(copy) = self.cache.old(name, age, client.now) else { return true };
        let Some(claim) = self.claims.get(name) else { return true };
        status["conditions"] = claim.conditions.merged_with(copy);
        let path = format!("{}/status", path_of(name));
        let answer = client.patch(&path, &json!({"status": status}));
        went_well(answer) || answer == 404
    }

    fn error_of(&mut self, name: &str, vm: &str, message: &str, azure: &Azure) -> String {
        let machine = azure.machine_for(vm);
        if let Some((code, text)) = machine.as_deref().and_then(|id| azure.machine_error(id)) {
            return event::machine_error(name, code, text);
        }
        let operation = format!(
            "{:08x}-0000-4000-8000-{:012x}",
            self.random.draw() >> 32,
            self.random.draw() >> 16
        );
        let vm = vm.rsplit('/').next().unwrap_or_default();
        event::error(vm, azure.options(), message, &operation)
    }

    /// Requests the deletion of the VM from its creator; the next steps wait until it is deleted.
    fn delete_machine(&mut self, name: &str, client: &mut Client<'_>) {
        let claim = self.claims.get(name);
        let Some(vm) = claim.and_then(|claim| claim.machine.clone()) else { return };
        let Some(body) = client.azure.resource(&vm) else { return };
        if text(body, &["properties", "provisioningState"]) == "Deleting" {
            return;
        }
        let status = match client.azure.machine_for(&vm) {
            Some(machine) => client.delete_machine(&machine),
            None => client.delete_vm(&vm),
        };
        if !went_well(status) {
            self.plan(name, ClaimStep::DeleteMachine, POLL, client.now);
        }
    }

    /// Finalizes a deleted NodeClaim: requests the deletion of its VM, records that, and removes
    /// the finalizer after the VM is deleted. These writes have a resourceVersion.
    fn finalize(
        &mut self,
        name: &str,
        claim: &KarpenterClaim,
        object: &Value,
        client: &mut Client<'_>,
    ) {
        let now = client.now;
        self.delete_machine(name, client);
        let path = path_of(name);
        if !claim.conditions.is("InstanceTerminating") {
            let mut conditions = claim.conditions.clone();
            conditions.terminating(now);
            let body = json!({
                "metadata": {"resourceVersion": object["metadata"]["resourceVersion"]},
                "status": {"conditions": conditions.merged_with(object)},
            });
            if went_well(client.patch(&format!("{path}/status"), &body)) {
                self.change(name, |claim| claim.conditions = conditions);
            }
            return self.plan(name, ClaimStep::Finalize, AGAIN, now);
        }
        if claim.machine.as_ref().is_some_and(|vm| client.azure.resource(vm).is_some()) {
            return self.plan(name, ClaimStep::Finalize, FINALIZE_POLL, now);
        }
        let others: Vec<&str> = finalizers(object).filter(|one| *one != FINALIZER).collect();
        let body = json!({"metadata": {
            "resourceVersion": object["metadata"]["resourceVersion"], "finalizers": others,
        }});
        if !went_well(client.patch(&path, &body)) {
            self.plan(name, ClaimStep::Finalize, AGAIN, now);
        }
    }

    /// Creates a replacement, since the pods still need a node.
    fn replace(&mut self, name: &str, client: &mut Client<'_>) {
        let successor = format!("default-{:05x}", self.random.below(0x10_0000));
        let pool = crate::kubernetes::Key::new(None, "default");
        let pool = client.kubernetes.get("nodepools.karpenter.sh", &pool);
        let claim = objects::claim(&successor, pool, &self.options.size, "westeurope-1");
        if !went_well(client.create("/apis/karpenter.sh/v1/nodeclaims", &claim)) {
            self.plan(name, ClaimStep::Replace, AGAIN, client.now);
        }
    }

    pub(super) fn change(&mut self, name: &str, how: impl FnOnce(&mut KarpenterClaim)) {
        if let Some(claim) = self.claims.get_mut(name) {
            how(claim);
        }
    }
}

/// Counts the Nodes with the provider id of a NodeClaim's VM.
fn nodes_of(kubernetes: &Kubernetes, claim: &KarpenterClaim) -> usize {
    let machine = claim.machine.as_deref().unwrap_or_default();
    let own = |node: &&Value| {
        let id = text(node, &["spec", "providerID"]);
        id.strip_prefix("azure://").is_some_and(|id| id.eq_ignore_ascii_case(machine))
    };
    kubernetes.objects("nodes", None).filter(own).count()
}

/// Returns true if a Node of a NodePool has no provider id. At its start, Karpenter waits until none exists.
fn has_unknown_node(kubernetes: &Kubernetes) -> bool {
    kubernetes.objects("nodes", None).any(|node| {
        let labels = &node["metadata"]["labels"];
        labels.get("karpenter.sh/nodepool").is_some()
            && text(node, &["spec", "providerID"]).is_empty()
    })
}

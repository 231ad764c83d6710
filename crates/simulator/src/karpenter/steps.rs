//! What Karpenter does for a claim, step by step. A write that fails is tried again a moment later.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::client::{self, went_well};
use super::objects::{self, FINALIZER};
use super::{Claim, Conditions, Karpenter, POLL, REGISTRATION, Step, event, machine};
use crate::azure::{Azure, lower_group};
use crate::kubernetes::Kubernetes;
use crate::kubernetes::objects::{finalizers, is_being_deleted, text, time_at, uid};

/// Seconds until a new claim is launched, until a failed write is tried again, and until a failed claim has a successor.
const LAUNCH: u64 = 2;
const AGAIN: u64 = 1;
const SUCCESSOR: u64 = 10;

impl Karpenter {
    /// A claim is new or has changed.
    pub(super) fn notice(&mut self, name: &str, object: &Value, azure: &Azure, now: Timestamp) {
        let created = time_at(object, &["metadata", "creationTimestamp"]).unwrap_or(now);
        if self.claims.get(name).is_none_or(|claim| claim.uid != uid(object)) {
            let conditions = Conditions::read(object, created);
            let machine = text(object, &["status", "providerID"]).strip_prefix("azure://");
            let node = machine.and_then(|machine| azure.node_of_machine(machine));
            let has = ["Launched", "Registered", "Initialized"].map(|stage| conditions.is(stage));
            let (is_launched, is_registered, is_initialized) = (has[0], has[1], has[2]);
            let is_there = node.is_some();
            self.claims.insert(
                name.to_owned(),
                Claim {
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
                self.plan(name, Step::Launch, LAUNCH, now);
            }
            if !is_registered {
                self.plan_liveness(name, created, now);
            }
            if is_there && !is_registered {
                self.plan(name, Step::Register, AGAIN, now);
            }
            if is_there && !is_initialized {
                self.plan(name, Step::Initialize, AGAIN, now);
            }
        }
        if let Some(claim) = self.claims.get_mut(name)
            && is_being_deleted(object)
            && !claim.ending
        {
            claim.ending = true;
            self.plan(name, Step::Finalize, AGAIN, now);
        }
    }

    /// Fifteen minutes from its creation on. What of them was over before Karpenter started is not scaled.
    fn plan_liveness(&mut self, name: &str, created: Timestamp, now: Timestamp) {
        let age = self.started.duration_since(created).max(SignedDuration::ZERO);
        let left = REGISTRATION.saturating_sub(u64::try_from(age.as_secs()).unwrap_or_default());
        let from = if age.is_zero() { created } else { now };
        self.plan(name, Step::CheckLiveness, left, from);
    }

    pub(super) fn take(
        &mut self,
        name: &str,
        step: Step,
        azure: &mut Azure,
        kubernetes: &mut Kubernetes,
        now: Timestamp,
    ) {
        if step == Step::Replace {
            return self.replace(name, kubernetes, now);
        }
        let (Some(claim), Some(object)) = (self.claims.get(name), self.cache.newest(name).cloned())
        else {
            return;
        };
        let (claim, path) = (claim.clone(), client::path_of(name));
        match &step {
            Step::Launch if !claim.ending => self.launch(name, &object, azure, kubernetes, now),
            Step::Register if !claim.ending => {
                if let Some(vm) = &claim.machine {
                    machine::end_machine(azure, vm, None);
                }
                self.advance(name, &step, Conditions::registered, kubernetes, now);
            }
            Step::Initialize if !claim.ending => {
                self.advance(name, &step, Conditions::initialized, kubernetes, now);
            }
            Step::Announce { message } => {
                let error = match claim.machine.as_deref() {
                    Some(vm) => self.error_of(name, vm, message, azure),
                    None => message.clone(),
                };
                let said = event::object(&object, &error, now);
                let events = "/api/v1/namespaces/default/events";
                if !went_well(client::create(kubernetes, events, &said, now)) {
                    return self.plan(name, step, AGAIN, now);
                }
                self.change(name, |claim| (claim.failed, claim.awaited) = (true, false));
                match self.options.linger_seconds {
                    0 => self.delete_machine(name, azure, now),
                    seconds => {
                        let at = now.saturating_add(Duration::from_secs(seconds));
                        self.plan_at(name, Step::DeleteMachine, at.unwrap_or(Timestamp::MAX));
                    }
                }
            }
            Step::DeleteMachine => self.delete_machine(name, azure, now),
            Step::DeleteClaim => {
                let same = json!({"preconditions": {"uid": claim.uid}});
                let status = client::delete(kubernetes, &path, &same, now);
                if !went_well(status) && !matches!(status, 404 | 409) {
                    self.plan(name, step, AGAIN, now);
                }
                if self.replaced < self.options.replacements {
                    self.replaced += 1;
                    self.plan(name, Step::Replace, SUCCESSOR, now);
                }
            }
            Step::CheckLiveness
                if !claim.ending && !claim.failed && !claim.conditions.is("Registered") =>
            {
                self.plan(name, Step::DeleteClaim, 0, now);
            }
            Step::Finalize => self.finalize(name, &claim, &object, azure, kubernetes, now),
            _ => {}
        }
    }

    fn launch(
        &mut self,
        name: &str,
        object: &Value,
        azure: &mut Azure,
        kubernetes: &mut Kubernetes,
        now: Timestamp,
    ) {
        let path = client::path_of(name);
        let launched = self.launch_machine(object, azure, now);
        let body = azure.resource(&launched.id).cloned().unwrap_or_default();
        let image = body.pointer("/properties/storageProfile/imageReference/id").cloned();
        let provider_id = lower_group(&format!("azure://{}", launched.id));
        let status = objects::status(&provider_id, &image.unwrap_or_default(), &self.options.size);
        self.change(name, |claim| {
            claim.machine = Some(launched.id.clone());
            claim.awaited |= launched.is_new;
            claim.conditions.launched(now);
        });
        let mut metadata = json!({});
        if let Some(annotations) = launched.annotations {
            metadata["annotations"] = annotations;
        }
        if !finalizers(object).any(|one| one == FINALIZER) {
            let mut all: Vec<&str> = finalizers(object).collect();
            all.push(FINALIZER);
            metadata["finalizers"] = json!(all);
        }
        let labelled = metadata == json!({})
            || went_well(client::patch(kubernetes, &path, &json!({"metadata": metadata}), now));
        if !labelled || !self.write_status(name, status, kubernetes, now) {
            self.plan(name, Step::Launch, AGAIN, now);
        }
    }

    /// A claim has come further, and its conditions say so.
    fn advance(
        &mut self,
        name: &str,
        step: &Step,
        how: impl FnOnce(&mut Conditions, Timestamp),
        kubernetes: &mut Kubernetes,
        now: Timestamp,
    ) {
        self.change(name, |claim| how(&mut claim.conditions, now));
        let node = self.claims.get(name).and_then(|claim| claim.node.clone());
        let label = if *step == Step::Register {
            "karpenter.sh/registered"
        } else {
            "karpenter.sh/initialized"
        };
        if let Some(node) = &node {
            let patch = json!({"metadata": {"labels": {label: "true"}}});
            client::patch(kubernetes, &format!("/api/v1/nodes/{node}"), &patch, now);
        }
        if !self.write_status(name, json!({"nodeName": node}), kubernetes, now) {
            self.plan(name, step.clone(), AGAIN, now);
        }
    }

    /// Writes a claim's status: the whole list of conditions, without a lock, from a copy that may be old.
    fn write_status(
        &mut self,
        name: &str,
        mut status: Value,
        kubernetes: &mut Kubernetes,
        now: Timestamp,
    ) -> bool {
        let age = if self.random.chance(self.options.stale) {
            let most = Duration::from_secs(self.options.stale_seconds).div_f64(self.speed);
            self.random.between(most / 2, most)
        } else {
            Duration::ZERO
        };
        let Some(copy) = self.cache.old(name, age, now) else { return true };
        let Some(claim) = self.claims.get(name) else { return true };
        status["conditions"] = claim.conditions.beside(copy);
        let path = format!("{}/status", client::path_of(name));
        let answer = client::patch(kubernetes, &path, &json!({"status": status}), now);
        went_well(answer) || answer == 404
    }

    fn error_of(&mut self, name: &str, vm: &str, message: &str, azure: &mut Azure) -> String {
        if machine::end_machine(azure, vm, Some(message)).is_some() {
            let (code, text) = machine::aks_error(message);
            return event::machine_error(name, code, &text);
        }
        let operation = format!(
            "{:08x}-0000-4000-8000-{:012x}",
            self.random.draw() >> 32,
            self.random.draw() >> 16
        );
        event::error(
            vm.rsplit('/').next().unwrap_or_default(),
            azure.options(),
            message,
            &operation,
        )
    }

    /// Asks for the machine's end; what follows waits until the machine is gone.
    fn delete_machine(&mut self, name: &str, azure: &mut Azure, now: Timestamp) {
        let Some(vm) = self.claims.get(name).and_then(|claim| claim.machine.clone()) else {
            return;
        };
        if azure.resource(&vm).is_some() && !went_well(client::delete_machine(azure, &vm, now)) {
            self.plan(name, Step::DeleteMachine, POLL, now);
        }
    }

    /// A claim that is being deleted goes when its machine has gone. These writes are locked.
    fn finalize(
        &mut self,
        name: &str,
        claim: &Claim,
        object: &Value,
        azure: &mut Azure,
        kubernetes: &mut Kubernetes,
        now: Timestamp,
    ) {
        if let Some(vm) = &claim.machine {
            if let Some(body) = azure.resource(vm) {
                let going = text(body, &["properties", "provisioningState"]) == "Deleting";
                if !going {
                    self.delete_machine(name, azure, now);
                }
                return;
            }
            machine::remove_machine(azure, vm);
        }
        let path = client::path_of(name);
        if !claim.conditions.is("InstanceTerminating") {
            let mut conditions = claim.conditions.clone();
            conditions.terminating(now);
            let body = json!({
                "metadata": {"resourceVersion": object["metadata"]["resourceVersion"]},
                "status": {"conditions": conditions.beside(object)},
            });
            if went_well(client::patch(kubernetes, &format!("{path}/status"), &body, now)) {
                self.change(name, |claim| claim.conditions = conditions);
            }
            return self.plan(name, Step::Finalize, AGAIN, now);
        }
        let others: Vec<&str> = finalizers(object).filter(|one| *one != FINALIZER).collect();
        let body = json!({"metadata": {
            "resourceVersion": object["metadata"]["resourceVersion"], "finalizers": others,
        }});
        if !went_well(client::patch(kubernetes, &path, &body, now)) {
            self.plan(name, Step::Finalize, AGAIN, now);
        }
    }

    /// The pods that waited for a node still wait for one.
    fn replace(&mut self, name: &str, kubernetes: &mut Kubernetes, now: Timestamp) {
        let successor = format!("default-{:05x}", self.random.below(0x10_0000));
        let pool = crate::kubernetes::Key::new(None, "default");
        let pool = kubernetes.get("nodepools.karpenter.sh", &pool);
        let claim = objects::claim(&successor, pool, &self.options.size, "westeurope-1");
        if !went_well(client::create(kubernetes, "/apis/karpenter.sh/v1/nodeclaims", &claim, now)) {
            self.plan(name, Step::Replace, AGAIN, now);
        }
    }

    fn change(&mut self, name: &str, how: impl FnOnce(&mut Claim)) {
        if let Some(claim) = self.claims.get_mut(name) {
            how(claim);
        }
    }
}

//! Effects on the model, and their faults.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use mooring_repair::effects::{Effect, Precondition};
use mooring_repair::plan::Step;
use mooring_workflow::EffectResult;
use serde_json::Value;

use super::cloud::{CLUSTER, Cloud};
use super::model::Pool;

/// Longer than any timeout.
const SLOW: SignedDuration = SignedDuration::from_mins(25);

/// Fault of one call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Fault {
    Refused(u16),
    LostBefore,
    LostAfter,
    /// The operation is accepted and fails later.
    Doomed,
    /// The operation is accepted and canceled later.
    Cancelled,
    /// The operation is accepted and replaced by a longer one, which succeeds.
    Replaced,
    /// The operation is accepted and takes longer than any timeout.
    Slow,
    /// The operation succeeds, and the nodes join after all timeouts.
    Barren,
}

impl Fault {
    /// Final state of the operation.
    fn end(self) -> Option<&'static str> {
        match self {
            Self::Doomed => Some("Failed"),
            Self::Cancelled => Some("Canceled"),
            _ => None,
        }
    }
}

impl Cloud {
    pub(crate) fn perform(&mut self, effect: &Effect, fault: Option<Fault>) -> EffectResult {
        let refused = |status: u16| EffectResult::Refused {
            status,
            code: format!("Fault{status}"),
            message: String::new(),
            retry_after: (status == 429).then(|| SignedDuration::from_secs(7)),
        };
        match fault {
            Some(Fault::Refused(status)) => return refused(status),
            Some(Fault::LostBefore) => {
                return EffectResult::Unknown { why: "connection reset".into() };
            }
            _ => {}
        }
        if self.forbidden.is_some_and(|start| effect.key().starts_with(start)) {
            return refused(403);
        }
        self.effects += 1;
        let mut fault = fault;
        if self.fails_to_delete > 0 && matches!(effect, Effect::DeletePool { .. }) {
            self.fails_to_delete -= 1;
            fault = Some(Fault::Doomed);
        }
        let result = self.apply(effect, fault);
        self.check();
        match fault {
            Some(Fault::LostAfter) => EffectResult::Unknown { why: "connection reset".into() },
            _ => result.unwrap_or_else(refused),
        }
    }

    fn apply(&mut self, effect: &Effect, fault: Option<Fault>) -> Result<EffectResult, u16> {
        let pace = match fault {
            Some(Fault::Slow) => SLOW,
            Some(Fault::Replaced) => self.pace * 3,
            _ => self.pace,
        };
        let ends = self.now.checked_add(pace).unwrap();
        let soon = self.soon();
        let token = format!("op-{}", self.effects);
        if matches!(fault, Some(Fault::Doomed | Fault::Cancelled | Fault::Replaced)) {
            self.failed.insert(token.clone(), vec![self.fails_with.to_owned()]);
        }
        let started = EffectResult::Started { token };
        match effect {
            Effect::PutPool { pool, body, only } => {
                self.put(pool, body, only.as_ref(), fault, ends)?;
                Ok(started)
            }
            Effect::DeletePool { pool, if_match } => {
                let gone = !self.delete(pool, if_match.as_deref(), fault, ends)?;
                Ok(if gone { EffectResult::AlreadyDone } else { started })
            }
            Effect::Cordon { node, .. } | Effect::Uncordon { node, .. } => {
                let cordon = matches!(effect, Effect::Cordon { .. });
                let node =
                    self.nodes.iter_mut().find(|found| found.name == *node).ok_or(404_u16)?;
                node.cordoned = cordon;
                Ok(EffectResult::Done)
            }
            Effect::Evict { pod, .. } => self.end_pod(pod, true),
            Effect::DeletePod { pod, .. } => self.end_pod(pod, false),
            Effect::TagCluster { name, value } => {
                self.cluster_tags.insert(name.clone(), value.clone());
                self.cluster_state = "Updating".into();
                self.settles_at = Some(soon);
                Ok(EffectResult::Done)
            }
            Effect::AbortOperation { operation, .. } => {
                // The abort is sent only after a read of the running operation.
                if self.operation.as_ref().is_none_or(|running| running.name != *operation) {
                    return Err(409);
                }
                self.operation = None;
                self.failing_until = Some(self.now);
                self.now += self.jump;
                self.aborts.push(operation.clone());
                self.cluster_state = "Canceling".into();
                self.settles_at = Some(soon);
                Ok(started)
            }
        }
    }

    fn put(
        &mut self,
        name: &str,
        body: &Value,
        only: Option<&Precondition>,
        fault: Option<Fault>,
        ends: Timestamp,
    ) -> Result<(), u16> {
        let old = self.pools.get(name);
        if old.is_some_and(|pool| pool.operation.is_some()) {
            return Err(409);
        }
        let holds = match only {
            None => true,
            Some(Precondition::IfAbsent) => old.is_none(),
            Some(Precondition::IfMatch(tag)) => old.is_some_and(|pool| pool.etag() == Some(tag)),
        };
        if !holds {
            return Err(412);
        }
        let over_the_wedged = name == "system" && old.is_some_and(|pool| pool.wedged);
        assert!(!over_the_wedged, "the wedged pool was written over");
        let mut raw = body.clone();
        raw["id"] = format!("{CLUSTER}/agentPools/{name}").into();
        raw["name"] = name.into();
        raw["properties"]["tags"]["aks-managed-x"] = "y".into();
        raw["properties"]["currentOrchestratorVersion"] =
            raw["properties"]["orchestratorVersion"].clone();
        self.made += 1;
        let set = self
            .pools
            .get(name)
            .map_or_else(|| format!("aks-{name}-{}", self.made), |pool| pool.set.clone());
        let version = u64::from(self.made) * 1000;
        let mut pool = Pool {
            raw: Arc::new(raw),
            set,
            wedged: false,
            version,
            operation: Some((ends, false)),
            doomed: fault.and_then(Fault::end),
        };
        pool.set_state("Creating");
        self.pools.insert(name.to_owned(), pool);
        if fault == Some(Fault::Barren) {
            self.late.insert(name.to_owned(), ends.checked_add(SLOW).unwrap());
        }
        Ok(())
    }

    fn delete(
        &mut self,
        name: &str,
        if_match: Option<&str>,
        fault: Option<Fault>,
        ends: Timestamp,
    ) -> Result<bool, u16> {
        let Some(pool) = self.pools.get_mut(name) else {
            return Ok(false);
        };
        if pool.operation.is_some() {
            return Err(409);
        }
        if if_match.is_some_and(|tag| Some(tag) != pool.etag()) {
            return Err(412);
        }
        pool.set_state("Deleting");
        pool.operation = Some((ends, true));
        pool.doomed = fault.and_then(Fault::end);
        let state = self.state.as_ref().unwrap();
        if name == "system" {
            assert!(state.has_done(Step::Snapshot), "deleted without a durable snapshot");
            assert!(
                state.has_done(Step::VerifyWorkloads),
                "deleted without a proven temporary pool"
            );
            assert!(self.nodes.iter().any(|node| node.pool == "systmp" && node.usable()));
        }
        *self.deletes.entry((name.to_owned(), state.id.clone())).or_default() += 1;
        Ok(true)
    }

    fn soon(&self) -> Timestamp {
        self.now.checked_add(SignedDuration::from_secs(2)).unwrap()
    }

    fn end_pod(&mut self, name: &str, heeds_budgets: bool) -> Result<EffectResult, u16> {
        let found = self.pods.iter().find(|found| found.name == name).ok_or(404_u16)?;
        let workload = self.workloads.iter().find(|workload| workload.app == found.app);
        let budget = workload.map(|workload| workload.budget(&self.pods, self.now));
        // Pending pods are evicted regardless of PDBs.
        let heeds_budgets = heeds_budgets && found.seen(self.now).phase != "Pending";
        if heeds_budgets && budget.is_some_and(|budget| budget.allowed <= 0) {
            return Err(429);
        }
        let soon = self.soon();
        let found = self.pods.iter_mut().find(|found| found.name == name).ok_or(404_u16)?;
        found.ends_at.get_or_insert(soon);
        Ok(EffectResult::Done)
    }
}

//! PodDisruptionBudgets.

use std::fmt;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube::core::{Selector, SelectorExt as _};
use serde::Deserialize as _;
use serde_json::Value;

use super::{Pod, entries, text};

#[derive(Debug, Clone, PartialEq)]
pub struct Pdb {
    pub namespace: String,
    pub name: String,
    /// None selects nothing, and an empty one everything.
    selector: Option<Selector>,
    /// `disruptionsAllowed`
    pub allowed: i64,
    /// `expectedPods`
    pub expected: i64,
    /// `desiredHealthy`
    pub desired: i64,
    /// `currentHealthy`
    pub healthy: i64,
    /// Pods that are not Ready can always be evicted.
    pub unready_may_go: bool,
}

impl Pdb {
    pub fn read(raw: &Value) -> Option<Self> {
        let number = |name: &str| raw["status"][name].as_i64().unwrap_or(0);
        let selector = LabelSelector::deserialize(&raw["spec"]["selector"]).ok();
        Some(Self {
            namespace: text(raw, "/metadata/namespace")?,
            name: text(raw, "/metadata/name")?,
            selector: selector.and_then(|selector| selector.try_into().ok()),
            allowed: number("disruptionsAllowed"),
            expected: number("expectedPods"),
            desired: number("desiredHealthy"),
            healthy: number("currentHealthy"),
            unready_may_go: text(raw, "/spec/unhealthyPodEvictionPolicy").as_deref()
                == Some("AlwaysAllow"),
        })
    }

    pub fn read_list(body: &Value) -> Option<Vec<Self>> {
        entries(body, "/items", Self::read)
    }

    pub fn protects(&self, pod: &Pod) -> bool {
        self.namespace == pod.namespace
            && self.selector.as_ref().is_some_and(|selector| selector.matches(&pod.labels))
    }

    /// Returns true if the API evicts this pod now.
    pub fn allows_eviction(&self, pod: &Pod) -> bool {
        let enough_without = self.desired > 0 && self.healthy >= self.desired;
        self.allowed > 0 || (!pod.ready && (self.unready_may_go || enough_without))
    }

    /// Returns false if no disruption can ever be allowed: all expected pods must be healthy. With no expected pods, the
    /// status is not populated yet.
    pub fn can_clear(&self) -> bool {
        self.desired < self.expected || self.expected == 0
    }
}

/// A PDB that blocks the eviction of a pod.
#[derive(Debug, Clone)]
pub struct EvictionBlocker<'a> {
    pub pod: &'a Pod,
    pub budget: &'a Pdb,
    /// Other PDBs of the pod: the API evicts no pod with more than one.
    others: Vec<&'a Pdb>,
}

impl<'a> EvictionBlocker<'a> {
    /// Returns none if the API would evict the pod.
    pub fn of(pod: &'a Pod, budgets: &'a [Pdb]) -> Option<Self> {
        if pod.phase == "Pending" {
            // The API evicts pending pods regardless of PDBs.
            return None;
        }
        let mut others: Vec<&Pdb> = budgets.iter().filter(|budget| budget.protects(pod)).collect();
        // PDBs that block by themselves come first.
        others.sort_by_key(|budget| (budget.allows_eviction(pod), budget.can_clear()));
        let several = others.len() > 1;
        others.first().filter(|budget| several || !budget.allows_eviction(pod))?;
        let budget = others.remove(0);
        Some(Self { pod, budget, others })
    }

    /// Returns false if waiting does not help.
    pub fn can_clear(&self) -> bool {
        self.budget.can_clear() && self.others.is_empty()
    }
}

impl fmt::Display for EvictionBlocker<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Pdb { namespace, name, desired, expected, .. } = self.budget;
        write!(f, "PDB {namespace}/{name} blocks eviction of pod {}: ", self.pod.name)?;
        if !self.others.is_empty() {
            let others: Vec<&str> = self.others.iter().map(|other| other.name.as_str()).collect();
            let others = others.join(", ");
            write!(
                f,
                "it never allows a disruption: the pod also has PDB {others}, and pods with two PDBs are not evicted"
            )
        } else if *expected == 0 {
            f.write_str("its status is not populated yet")
        } else if self.can_clear() {
            write!(f, "waiting for {} of {expected} pods to be healthy", desired + 1)
        } else {
            write!(f, "it never allows a disruption (all {expected} pods must stay)")
        }
    }
}

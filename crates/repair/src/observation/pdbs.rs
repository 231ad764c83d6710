//! PodDisruptionBudgets.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use super::Pod;
use super::json::{entries, text, texts};

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Selector {
    labels: BTreeMap<String, String>,
    expressions: Vec<(String, String, Vec<String>)>,
}

impl Selector {
    /// Returns none for an absent selector, which selects nothing.
    pub fn read(raw: &Value) -> Option<Self> {
        raw.as_object()?;
        let expression = |raw: &Value| {
            let values = entries(raw, "/values", |v| v.as_str().map(str::to_owned));
            Some((text(raw, "/key")?, text(raw, "/operator")?, values.unwrap_or_default()))
        };
        Some(Self {
            labels: texts(raw, "/matchLabels"),
            expressions: entries(raw, "/matchExpressions", expression).unwrap_or_default(),
        })
    }

    /// An empty selector selects all labels.
    pub fn selects(&self, labels: &BTreeMap<String, String>) -> bool {
        self.labels.iter().all(|(key, value)| labels.get(key) == Some(value))
            && self.expressions.iter().all(|(key, operator, values)| {
                let value = labels.get(key);
                match operator.as_str() {
                    "In" => value.is_some_and(|value| values.contains(value)),
                    "NotIn" => value.is_none_or(|value| !values.contains(value)),
                    "Exists" => value.is_some(),
                    "DoesNotExist" => value.is_none(),
                    _ => false,
                }
            })
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Pdb {
    pub namespace: String,
    pub name: String,
    pub selector: Option<Selector>,
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
        let number = |name: &str| {
            raw.pointer(&format!("/status/{name}")).and_then(Value::as_i64).unwrap_or(0)
        };
        Some(Self {
            namespace: text(raw, "/metadata/namespace")?,
            name: text(raw, "/metadata/name")?,
            selector: raw.pointer("/spec/selector").and_then(Selector::read),
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
            && self.selector.as_ref().is_some_and(|selector| selector.selects(&pod.labels))
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

//! Disruption budgets.

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
    /// A selector from its JSON; an absent one selects nothing.
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

    /// True if these labels are selected; an empty selector selects all.
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
    /// Which pods it protects; none if it protects nothing.
    pub selector: Option<Selector>,
    /// How many pods may be evicted now.
    pub allowed: i64,
    /// How many pods it counts.
    pub expected: i64,
    /// How many of them must be healthy.
    pub desired: i64,
    /// How many of them are healthy.
    pub healthy: i64,
    /// A pod that is not ready may always go.
    pub unready_may_go: bool,
}

impl Pdb {
    /// A budget from its JSON.
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

    /// The budgets of a list answer.
    pub fn read_list(body: &Value) -> Option<Vec<Self>> {
        entries(body, "/items", Self::read)
    }

    /// True if the budget protects this pod.
    pub fn protects(&self, pod: &Pod) -> bool {
        self.namespace == pod.namespace
            && self.selector.as_ref().is_some_and(|selector| selector.selects(&pod.labels))
    }

    /// True if it lets one of its pods be evicted now, as the API decides it.
    pub fn lets_go(&self, pod: &Pod) -> bool {
        let enough_without = self.desired > 0 && self.healthy >= self.desired;
        self.allowed > 0 || (!pod.ready && (self.unready_may_go || enough_without))
    }

    /// False if no eviction can ever be allowed: all pods that it counts must be healthy. One that counts nothing
    /// was not counted yet.
    pub fn can_clear(&self) -> bool {
        self.desired < self.expected || self.expected == 0
    }
}

/// What does not let a pod go now.
#[derive(Debug, Clone)]
pub struct EvictionBlocker<'a> {
    pub pod: &'a Pod,
    /// The budget that holds it.
    pub budget: &'a Pdb,
    /// The others that it is under: the API evicts no pod that is under more than one.
    others: Vec<&'a Pdb>,
}

impl<'a> EvictionBlocker<'a> {
    /// What holds this pod; none if the API would let it go.
    pub fn of(pod: &'a Pod, budgets: &'a [Pdb]) -> Option<Self> {
        if pod.phase == "Pending" {
            // It serves nobody: the API evicts it whatever its budgets say.
            return None;
        }
        let mut others: Vec<&Pdb> = budgets.iter().filter(|budget| budget.protects(pod)).collect();
        // What holds it by itself, too, comes first.
        others.sort_by_key(|budget| (budget.lets_go(pod), budget.can_clear()));
        let several = others.len() > 1;
        others.first().filter(|budget| several || !budget.lets_go(pod))?;
        let budget = others.remove(0);
        Some(Self { pod, budget, others })
    }

    /// False if waiting is useless.
    pub fn can_clear(&self) -> bool {
        self.budget.can_clear() && self.others.is_empty()
    }
}

impl fmt::Display for EvictionBlocker<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Pdb { namespace, name, desired, expected, .. } = self.budget;
        write!(f, "budget {namespace}/{name} holds pod {}; ", self.pod.name)?;
        if !self.others.is_empty() {
            let others: Vec<&str> = self.others.iter().map(|other| other.name.as_str()).collect();
            let others = others.join(", ");
            write!(
                f,
                "it can never clear: the pod is under {others}, too, and no such pod is evicted"
            )
        } else if *expected == 0 {
            f.write_str("nobody has counted its pods yet")
        } else if self.can_clear() {
            write!(f, "it clears when {} of its {expected} pods are healthy", desired + 1)
        } else {
            f.write_str("it can never clear: all its pods must stay")
        }
    }
}

//! Limits of a subscription, and its token buckets.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Limit {
    /// Maximum calls at once.
    pub burst: f64,
    /// Calls refilled per second.
    pub per_second: f64,
}

impl Limit {
    const fn new(burst: f64, per_second: f64) -> Self {
        Self { burst, per_second }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Limits {
    /// Reads, per subscription and principal.
    pub reads: Limit,
    /// Writes, per subscription and principal.
    pub writes: Limit,
    /// Deletes, per subscription and principal.
    pub deletes: Limit,
    pub machine: Limit,
    /// Lists of virtual machines and scale sets.
    pub machine_list: Limit,
    /// The AKS resource provider.
    pub aks: Limit,
    /// Reads of one AKS operation's status.
    pub aks_operations: Limit,
    /// Resource Graph: 15 queries in 5 seconds.
    pub graph: Limit,
    /// Initial fill level of the buckets, from 0 to 1.
    pub full: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            reads: Limit::new(250.0, 25.0),
            writes: Limit::new(200.0, 10.0),
            deletes: Limit::new(200.0, 10.0),
            machine: Limit::new(36.0, 12.0 / 60.0),
            machine_list: Limit::new(900.0, 300.0 / 60.0),
            aks: Limit::new(60.0, 1.0),
            aks_operations: Limit::new(200.0, 2.0),
            graph: Limit::new(15.0, 3.0),
            full: 1.0,
        }
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Buckets {
    pub(crate) levels: BTreeMap<String, (f64, Timestamp)>,
}

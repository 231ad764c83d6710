//! Limits of a subscription, and its token buckets.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BucketRate {
    /// Maximum calls at once.
    pub burst: f64,
    /// Calls refilled per second.
    pub per_second: f64,
}

impl BucketRate {
    const fn new(burst: f64, per_second: f64) -> Self {
        Self { burst, per_second }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RateLimits {
    /// Reads, per subscription and principal.
    pub reads: BucketRate,
    /// Writes, per subscription and principal.
    pub writes: BucketRate,
    /// Deletes, per subscription and principal.
    pub deletes: BucketRate,
    pub machine: BucketRate,
    /// Lists of virtual machines and scale sets.
    pub machine_list: BucketRate,
    /// The AKS resource provider.
    pub aks: BucketRate,
    /// Reads of one AKS operation's status.
    pub aks_operations: BucketRate,
    /// Resource Graph: 15 queries in 5 seconds.
    pub graph: BucketRate,
    /// Initial fill level of the buckets, from 0 to 1.
    pub full: f64,
}

impl Default for RateLimits {
    fn default() -> Self {
        Self {
            reads: BucketRate::new(250.0, 25.0),
            writes: BucketRate::new(200.0, 10.0),
            deletes: BucketRate::new(200.0, 10.0),
            machine: BucketRate::new(36.0, 12.0 / 60.0),
            machine_list: BucketRate::new(900.0, 300.0 / 60.0),
            aks: BucketRate::new(60.0, 1.0),
            aks_operations: BucketRate::new(200.0, 2.0),
            graph: BucketRate::new(15.0, 3.0),
            full: 1.0,
        }
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Buckets {
    pub(crate) levels: BTreeMap<String, (f64, Timestamp)>,
}

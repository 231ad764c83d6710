//! Rate limits of Azure as token buckets, shared by the whole process.
//!
//! A request is counted in all buckets that Azure counts it in. Requests wait in one queue, ordered by priority and
//! arrival, and are sent when every bucket has enough for them *and for all requests ahead*: so none is overtaken
//! within a priority, and a request for a busy VM does not block the others. Lower priorities keep a reserve in each
//! bucket, so that a trigger finds tokens during a sweep.

mod admission;
mod bucket;
#[cfg(test)]
mod tests;

use http::Method;

use crate::request_class::Class;

pub use admission::Budget;
pub(crate) use admission::NotAdmitted;
pub use bucket::{Bucket, BucketLimit, BudgetLimits, Priority};

/// A bucket: one per VM, and one of each other type.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum BucketName {
    Reads,
    Writes,
    ComputeReads,
    ComputeLists,
    ComputeWrites,
    ComputeOperations,
    Aks,
    AksClusters,
    AksOperations,
    Graph,
    /// Lowercase path of the VM.
    Vm(String),
}

impl BucketName {
    pub(crate) fn limit(&self, limits: &BudgetLimits) -> BucketLimit {
        match self {
            Self::Reads => limits.reads,
            Self::Writes => limits.writes,
            Self::ComputeReads => limits.compute_reads,
            Self::ComputeLists => limits.compute_lists,
            Self::ComputeWrites => limits.compute_writes,
            Self::ComputeOperations => limits.compute_operations,
            Self::Aks => limits.aks,
            Self::AksClusters => limits.aks_clusters,
            Self::AksOperations => limits.aks_operations,
            Self::Graph => limits.graph,
            Self::Vm(_) => limits.vm_reads,
        }
    }

    /// Returns the metric label; all VMs share one.
    pub(crate) fn as_str(&self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::ComputeReads => "compute_reads",
            Self::ComputeLists => "compute_lists",
            Self::ComputeWrites => "compute_writes",
            Self::ComputeOperations => "compute_operations",
            Self::Aks => "aks",
            Self::AksClusters => "aks_clusters",
            Self::AksOperations => "aks_operations",
            Self::Graph => "graph",
            Self::Vm(_) => "vm",
        }
    }
}

/// Returns the buckets of a request: the resource manager's first, the most specific last.
pub(crate) fn buckets(class: Class, method: &Method, path: &str) -> Vec<BucketName> {
    let path = path.split('?').next().unwrap_or_default().to_ascii_lowercase();
    let gate = if class == Class::Read { BucketName::Reads } else { BucketName::Writes };
    let mut names = vec![gate];
    // Tags etc. are children of another resource: the last provider handles the request.
    let Some((_, tail)) = path.rsplit_once("/providers/") else { return names };
    let segments: Vec<&str> = tail.split('/').filter(|segment| !segment.is_empty()).collect();
    let kind = segments.get(1..).unwrap_or_default();
    let get = method == Method::GET;
    match (segments.first().copied().unwrap_or_default(), kind) {
        ("microsoft.compute", ["locations", ..]) => names.push(BucketName::ComputeOperations),
        (
            "microsoft.compute",
            [_] | [_, _, .., "networkinterfaces"] | [_, _, "virtualmachines"],
        ) if get => names.push(BucketName::ComputeLists),
        ("microsoft.compute", ["virtualmachines", vm, ..]) if class == Class::Read => {
            names.push(BucketName::ComputeReads);
            let below = path.find("/virtualmachines/").unwrap_or(0);
            let end = below + "/virtualmachines/".len() + vm.len();
            names.push(BucketName::Vm(path[..end].to_owned()));
        }
        ("microsoft.compute", _) if class == Class::Read => names.push(BucketName::ComputeReads),
        ("microsoft.compute", _) => names.push(BucketName::ComputeWrites),
        ("microsoft.containerservice", ["locations", ..] | [.., "operations", _]) => {
            names.push(BucketName::AksOperations);
        }
        ("microsoft.containerservice", ["managedclusters", _]) if get => {
            names.push(BucketName::AksClusters);
        }
        ("microsoft.containerservice", _) => names.push(BucketName::Aks),
        ("microsoft.resourcegraph", _) => names.push(BucketName::Graph),
        _ => {}
    }
    names
}

//! Buckets of a request, by method and path.

use http::Method;

use super::bucket::{BucketLimit, BudgetLimits};
use crate::request_class::Class;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_for_one_vm_share_its_bucket() {
        let vm =
            "/subscriptions/S/resourceGroups/RG/providers/Microsoft.Compute/virtualMachines/VM1";
        for path in [vm.to_owned(), format!("{vm}?x=y"), format!("{vm}/extensions/e")] {
            let names = buckets(Class::Read, &Method::GET, &path);
            assert_eq!(names.last(), Some(&BucketName::Vm(vm.to_ascii_lowercase())), "{path}");
        }
    }

    #[test]
    #[allow(clippy::too_many_lines, reason = "one table")]
    fn calls_are_counted_in_the_buckets_of_azure() {
        let rg = "/subscriptions/S/resourceGroups/RG/providers";
        let (get, put, post) = (&Method::GET, &Method::PUT, &Method::POST);
        let (read, write) = (Class::Read, Class::Idempotent);
        for (class, method, path, expected) in [
            (
                read,
                get,
                format!("{rg}/Microsoft.Compute/virtualMachines/VM1?$expand=instanceView"),
                "reads compute_reads vm",
            ),
            (
                read,
                get,
                format!("{rg}/Microsoft.Compute/virtualMachines/VM1/extensions/x"),
                "reads compute_reads vm",
            ),
            (read, get, format!("{rg}/Microsoft.Compute/virtualMachines"), "reads compute_lists"),
            (
                read,
                get,
                format!("{rg}/microsoft.Compute/virtualMachineScaleSets/v/networkInterfaces"),
                "reads compute_lists",
            ),
            (
                read,
                get,
                format!("{rg}/Microsoft.Compute/virtualMachineScaleSets/v/virtualMachines"),
                "reads compute_lists",
            ),
            (
                read,
                get,
                format!(
                    "{rg}/Microsoft.Compute/virtualMachineScaleSets/v/virtualMachines/7/instanceView"
                ),
                "reads compute_reads",
            ),
            (
                write,
                &Method::PATCH,
                format!("{rg}/Microsoft.Compute/virtualMachineScaleSets/v"),
                "writes compute_writes",
            ),
            (
                Class::Once,
                post,
                format!("{rg}/Microsoft.Compute/virtualMachines/v/runCommand"),
                "writes compute_writes",
            ),
            (
                Class::Once,
                post,
                format!("{rg}/Microsoft.Compute/virtualMachineScaleSets/v/virtualMachines"),
                "writes compute_writes",
            ),
            (
                read,
                get,
                "/subscriptions/S/providers/Microsoft.Compute/locations/l/operations/o".to_owned(),
                "reads compute_operations",
            ),
            (
                read,
                get,
                format!("{rg}/Microsoft.ContainerService/managedClusters/c"),
                "reads aks_clusters",
            ),
            (
                write,
                put,
                format!("{rg}/Microsoft.ContainerService/managedClusters/c"),
                "writes aks",
            ),
            (
                read,
                get,
                format!("{rg}/Microsoft.ContainerService/managedClusters/c/agentPools"),
                "reads aks",
            ),
            (
                write,
                put,
                format!("{rg}/Microsoft.ContainerService/managedClusters/c/agentPools/p"),
                "writes aks",
            ),
            (
                read,
                get,
                format!("{rg}/Microsoft.ContainerService/managedClusters/c/operations/latest"),
                "reads aks_operations",
            ),
            (
                read,
                get,
                "/subscriptions/S/providers/Microsoft.ContainerService/locations/l/operations/o"
                    .to_owned(),
                "reads aks_operations",
            ),
            (
                write,
                &Method::PATCH,
                format!(
                    "{rg}/Microsoft.ContainerService/managedClusters/c/providers/Microsoft.Resources/tags/default"
                ),
                "writes",
            ),
            (
                read,
                get,
                "/subscriptions/S/providers/Microsoft.Insights/eventtypes/management/values"
                    .to_owned(),
                "reads",
            ),
            (read, post, "/providers/Microsoft.ResourceGraph/resources".to_owned(), "reads graph"),
            (read, get, "/subscriptions".to_owned(), "reads"),
        ] {
            let found: Vec<_> =
                buckets(class, method, &path).iter().map(BucketName::as_str).collect();
            assert_eq!(found.join(" "), expected, "{method} {path}");
        }
    }

    #[test]
    fn vm_bucket_ignores_case() {
        let name = |path: &str| buckets(Class::Read, &Method::GET, path).pop().unwrap();
        let rg = "/subscriptions/S/resourceGroups/RG/providers/Microsoft.Compute";
        assert_eq!(
            name(&format!("{rg}/virtualMachines/VM1")),
            name(&format!("{}/virtualmachines/vm1/extensions/e", rg.to_lowercase()))
        );
        assert_ne!(
            name(&format!("{rg}/virtualMachines/vm1")),
            name(&format!("{rg}/virtualMachines/vm10"))
        );
    }
}

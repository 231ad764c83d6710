//! API versions.

/// Pools use the newest stable version: GET and PUT lose every member that their version lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Versions {
    /// Clusters and pools. `ignore-pod-disruption-budget` and `If-Match` exist since 2025-02-01.
    pub aks: &'static str,
    /// `operations/latest` exists in preview versions only, which stop working about a year after their release.
    pub aks_operations: &'static str,
    /// Machines. `status.provisioningError` exists only in newer versions.
    pub machines: &'static str,
    /// VMs, scale sets, extensions, run command.
    pub compute: &'static str,
    /// Network interfaces of scale sets, which exist only in this old version.
    pub scale_set_network: &'static str,
    pub network: &'static str,
    pub activity_log: &'static str,
    pub tags: &'static str,
    /// Permissions and deny assignments.
    pub authorization: &'static str,
    pub locks: &'static str,
    pub graph: &'static str,
    /// Version of requests about resource groups.
    pub resources: &'static str,
}

impl Default for Versions {
    fn default() -> Self {
        Self {
            aks: "2026-05-01",
            aks_operations: "2026-04-02-preview",
            machines: "2026-05-01",
            compute: "2024-07-01",
            scale_set_network: "2018-10-01",
            network: "2024-05-01",
            activity_log: "2015-04-01",
            tags: "2021-04-01",
            authorization: "2022-04-01",
            locks: "2020-05-01",
            graph: "2022-10-01",
            resources: "2021-04-01",
        }
    }
}

//! Steps of a scenario, each with its expected result.

use mooring_repair::plan::Step;
use mooring_simulator::faults::Rule;
use serde::Deserialize;

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StepSpec {
    /// Pods are pending, Karpenter creates VMs, and they boot.
    Boot(Boot),
    /// Shows a failed NodeClaim as `kubectl describe` showed it while it existed.
    Describe(Describe),
    /// `mooring why`.
    Why(Why),
    /// `mooring fleet`.
    Fleet(Fleet),
    Wedge(Wedge),
    Fault(Fault),
    /// Deletes an object of the cluster, as by `kubectl delete`.
    Delete(Delete),
    /// `mooring repair detect`.
    Detect(Detect),
    /// `mooring repair plan`.
    Plan(Plan),
    /// `mooring repair apply` of that plan.
    Apply(Apply),
    /// `mooring repair resume`.
    Resume(Resume),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Boot {
    pub image: String,
    pub nodes: u16,
    #[serde(default)]
    pub joined: u16,
    #[serde(default)]
    pub failed: u16,
    #[serde(default)]
    pub code: Option<i32>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Describe {
    #[serde(default)]
    pub contains: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum NodeFilter {
    Failed,
    Joined,
    /// The last one whose bootstrap succeeded without a node.
    Silent,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Why {
    pub of: NodeFilter,
    #[serde(default)]
    pub contains: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Fleet {
    pub image: String,
    pub cause: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Wedge {
    pub pool: String,
    /// Failed writes in the activity log.
    pub failed_writes: u16,
    pub unregistered_nodes: u16,
    /// Age of a stuck cluster update in minutes; none without it.
    #[serde(default)]
    pub update_minutes: Option<u32>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Fault {
    pub message: String,
    pub rule: Rule,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Delete {
    pub path: String,
    /// Actor and reason, as a clause.
    pub because: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Detect {
    /// `healthy`, `suspect`, `confirmed` or `unknown`.
    pub verdict: String,
    #[serde(default)]
    pub contains: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Plan {}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Apply {
    /// Stop as soon as a PDB blocks eviction of a pod.
    #[serde(default)]
    pub stop_at_budgets: bool,
    /// The step during which the process is killed.
    #[serde(default)]
    pub kill_at: Option<Step>,
    /// Exit code unless killed: 0 repaired, 4 blocked, 5 can be resumed.
    #[serde(default)]
    pub exit: i32,
    #[serde(default)]
    pub contains: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Resume {
    /// The step during which the process is killed.
    #[serde(default)]
    pub kill_at: Option<Step>,
    /// Exit code unless killed.
    #[serde(default)]
    pub exit: i32,
}

//! Steps of a scenario, each with its expected result.

use mooring_repair::plan::Step;
use mooring_simulator::faults::FaultRule;
use serde::Deserialize;

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum StepSpec {
    /// Pods are pending, Karpenter creates VMs, and they boot.
    Boot(BootStep),
    /// Shows a failed NodeClaim as `kubectl describe` showed it while it existed.
    Describe(DescribeStep),
    /// `mooring why`.
    Why(WhyStep),
    /// `mooring fleet`.
    Fleet(FleetStep),
    Wedge(WedgeStep),
    Fault(FaultStep),
    /// Deletes an object of the cluster, as by `kubectl delete`.
    Delete(DeleteStep),
    /// `mooring repair detect`.
    Detect(DetectStep),
    /// `mooring repair plan`.
    Plan {},
    /// `mooring repair apply` of that plan.
    Apply(ApplyStep),
    /// `mooring repair resume`.
    Resume(ResumeStep),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BootStep {
    pub image: String,
    pub nodes: u16,
    #[serde(default)]
    pub joined: u16,
    #[serde(default)]
    pub failed: u16,
    pub code: Option<i32>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DescribeStep {
    #[serde(default)]
    pub contains: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum NodeEnd {
    Joined,
    Failed,
    /// Its bootstrap succeeded, and no node appeared.
    Silent,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WhyStep {
    /// End of the node; of several, the last one counts.
    pub of: NodeEnd,
    #[serde(default)]
    pub contains: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FleetStep {
    pub image: String,
    pub cause: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WedgeStep {
    pub pool: String,
    /// Failed writes in the activity log.
    pub failed_writes: u16,
    pub unregistered_nodes: u16,
    /// Age of a stuck cluster update in minutes; none without it.
    pub update_minutes: Option<u32>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FaultStep {
    pub message: String,
    pub rule: FaultRule,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeleteStep {
    pub path: String,
    /// Actor and reason, as a clause.
    pub because: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DetectStep {
    /// `healthy`, `suspect`, `confirmed` or `unknown`.
    pub verdict: String,
    #[serde(default)]
    pub contains: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ApplyStep {
    /// Stop as soon as a PDB blocks eviction of a pod.
    #[serde(default)]
    pub stop_at_budgets: bool,
    /// The step during which the process is killed.
    pub kill_at: Option<Step>,
    /// Exit code unless killed: 0 repaired, 4 blocked, 5 can be resumed.
    #[serde(default)]
    pub exit: i32,
    #[serde(default)]
    pub contains: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ResumeStep {
    /// The step during which the process is killed.
    pub kill_at: Option<Step>,
    /// Exit code unless killed.
    #[serde(default)]
    pub exit: i32,
}

//! What can happen in a story, each with what must come of it.

use mooring_repair::plan::Step;
use mooring_simulator::faults::Rule;
use serde::Deserialize;

use super::Scenario;

/// One thing that happens.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Act {
    /// Pods wait, Karpenter makes machines, and they boot.
    Boot(Boot),
    /// A failed claim is shown as `kubectl describe` showed it while it lived.
    Describe(Describe),
    /// `mooring why` is asked.
    Why(Why),
    /// `mooring fleet` is asked.
    Fleet(Fleet),
    /// A pool's scale set is wedged.
    Wedge(Wedge),
    /// Something goes wrong from here on, by rule.
    Fault(Fault),
    /// An object of the cluster is deleted, as by `kubectl delete`.
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

/// See [`Act::Boot`].
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Boot {
    pub image: String,
    pub nodes: u16,
    #[serde(default)]
    pub joined: u16,
    #[serde(default)]
    pub failed: u16,
    /// The exit code of those that fail.
    #[serde(default)]
    pub code: Option<i32>,
}

/// See [`Act::Describe`].
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Describe {
    #[serde(default)]
    pub says: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Of {
    Failed,
    Joined,
    /// The last one whose bootstrap succeeded without a node.
    Silent,
}

/// See [`Act::Why`].
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Why {
    pub of: Of,
    #[serde(default)]
    pub says: Vec<String>,
}

/// See [`Act::Fleet`].
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Fleet {
    /// The image that the verdict names.
    pub image: String,
    pub cause: String,
}

/// See [`Act::Wedge`].
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Wedge {
    pub pool: String,
    /// How many failed writes the activity log has by now.
    pub failed_writes: u16,
    pub unregistered_nodes: u16,
    /// For how many minutes an update of the cluster has been hanging; without it there is none.
    #[serde(default)]
    pub update_minutes: Option<u32>,
}

/// See [`Act::Fault`].
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Fault {
    /// What goes wrong, in words.
    pub says: String,
    /// The same as a rule of the simulator.
    pub rule: Rule,
}

/// See [`Act::Delete`].
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Delete {
    /// Its path in the API.
    pub path: String,
    /// Who does that, and why: a half sentence.
    pub because: String,
}

/// See [`Act::Detect`].
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Detect {
    /// `healthy`, `suspect`, `confirmed` or `unknown`.
    pub verdict: String,
    #[serde(default)]
    pub says: Vec<String>,
}

/// See [`Act::Plan`].
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Plan {}

/// See [`Act::Apply`].
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Apply {
    /// Stop as soon as a disruption budget holds a pod.
    #[serde(default)]
    pub stop_at_budgets: bool,
    /// The step in the middle of which the process is killed.
    #[serde(default)]
    pub kill_at: Option<Step>,
    /// The exit code, if nobody kills it: 0 repaired, 4 refused, 5 can be resumed.
    #[serde(default)]
    pub exit: i32,
    #[serde(default)]
    pub says: Vec<String>,
}

/// See [`Act::Resume`].
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Resume {
    /// The step in the middle of which the process is killed.
    #[serde(default)]
    pub kill_at: Option<Step>,
    /// The exit code, if nobody kills it.
    #[serde(default)]
    pub exit: i32,
}

impl Act {
    pub(super) fn check(&self, scenario: &Scenario) -> Result<(), String> {
        match self {
            Self::Boot(boot) => {
                let image = scenario.images.get(&boot.image);
                let image = image.ok_or_else(|| format!("`images` has no image {}", boot.image))?;
                if let Some(fails) = &image.fails
                    && !crate::image::STEPS.iter().any(|(step, _)| *step == fails.step)
                {
                    return Err(format!("image {}: no step is called {}", boot.image, fails.step));
                }
                let ended = boot.joined + boot.failed;
                let silent = if image.silent { boot.nodes } else { 0 };
                if ended + silent != boot.nodes || boot.nodes == 0 {
                    return Err(format!(
                        "boot: {} nodes, of which {ended} join or fail",
                        boot.nodes
                    ));
                }
                Ok(())
            }
            Self::Detect(detect) => {
                let known = ["healthy", "suspect", "confirmed", "unknown"];
                if known.contains(&detect.verdict.as_str()) {
                    return Ok(());
                }
                Err(format!("detect: no verdict is called {}", detect.verdict))
            }
            _ => Ok(()),
        }
    }
}

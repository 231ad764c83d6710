//! The five guards: what must hold before a pool may be rebuilt.
//!
//! Each is a pure function of what was read, the settings and the time, and gives a [`Guard`] with its
//! evidence. Unknown is never pass.

mod evidence;
mod operation;
mod surroundings;
mod verdict;
mod wedge;

pub use evidence::further;
pub use operation::{Running, Scope, aborted, deletions, is_running, is_untold, running};
pub use verdict::{Detection, Verdict, verdict};
pub(crate) use wedge::succeeds_again;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::counted::counted;
use crate::observation::Seen;
use crate::settings::Settings;

/// The error code of a scale set whose network entry is corrupt. Not specific to it, which is why one
/// guard alone never suffices.
pub const SIGNATURE: &str = "NetworkingInternalOperationError";

/// What a guard says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The precondition holds.
    Pass,
    /// It does not.
    Fail,
    /// It cannot be told.
    Unknown,
}

/// A named precondition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guard {
    /// Its name, which `--override` takes.
    pub name: String,
    /// What it says.
    pub outcome: Outcome,
    /// Why.
    pub evidence: Vec<String>,
    /// The reason for which an operator overrode it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overridden: Option<String>,
    /// It is unknown only because something is about to end; asking again later will tell.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub transient: bool,
}

impl Guard {
    pub(crate) fn new(name: &str, outcome: Outcome, evidence: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            outcome,
            evidence: vec![evidence.into()],
            overridden: None,
            transient: false,
        }
    }

    /// True if the run may go on as far as this guard is concerned.
    #[must_use]
    pub fn lets_through(&self) -> bool {
        self.outcome == Outcome::Pass || self.overridden.is_some()
    }
}

/// Evaluates all five, in their order.
#[must_use]
pub fn evaluate(seen: &Seen, settings: &Settings, now: Timestamp) -> Vec<Guard> {
    let mut guards = vec![
        wedge::missing_nodes(seen, settings, now),
        wedge::failing_writes(seen, settings, now),
        surroundings::cluster_state(seen),
        surroundings::other_pools(seen, settings),
        wedge::pool_state(seen, settings),
    ];
    for guard in &mut guards {
        guard.overridden = settings.overrides.get(&guard.name).cloned();
    }
    guards
}

pub(crate) fn ago(at: Timestamp, now: Timestamp) -> String {
    format!("{} ago", counted(now.duration_since(at).as_mins(), "minute"))
}

/// How fresh a sign is, behind the sentence that counts it.
fn the_last(at: Option<Timestamp>, now: Timestamp) -> String {
    at.map_or_else(String::new, |at| format!(", the last one {}", ago(at, now)))
}

//! The five guards: what must hold before a pool may be rebuilt.
//!
//! Each is a pure function of what was read, the settings and the time, and gives a [`CheckResult`] with its
//! evidence. Unknown is never pass.

mod evidence;
mod operation;
mod storm;
mod surroundings;
mod verdict;
mod wedge;

pub use operation::{Running, Scope, aborted, deletions, is_running, is_untold, running};
pub(crate) use storm::LOG_DELAY;
pub use surroundings::absent;
pub use verdict::{Detection, Verdict, verdict};
pub(crate) use wedge::{keep, recovered};

use jiff::Timestamp;
use mooring_workflow::CheckResult;

use crate::observation::{Pool, Seen};
use crate::settings::Settings;
use mooring_workflow::Reading;
use mooring_workflow::plural::counted;

/// Evaluates all five, in their order.
#[must_use]
pub fn evaluate(seen: &Seen, settings: &Settings, now: Timestamp) -> Vec<CheckResult> {
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

fn target<'a>(seen: &'a Seen, name: &str) -> Result<Option<&'a Pool>, String> {
    known(seen.pools.as_ref()).map(|pools| pools.iter().find(|pool| pool.name == name))
}

fn known<T>(reading: Option<&Reading<T>>) -> Result<&T, String> {
    let reading = reading.ok_or_else(|| "were not read".to_owned())?;
    reading.known().ok_or_else(|| reading.missing().unwrap_or_default())
}

pub(crate) fn ago(at: Timestamp, now: Timestamp) -> String {
    format!("{} ago", counted(now.duration_since(at).as_mins(), "minute"))
}

/// How fresh a sign is, behind the sentence that counts it.
fn the_last(at: Option<Timestamp>, now: Timestamp) -> String {
    at.map_or_else(String::new, |at| format!(", the last one {}", ago(at, now)))
}

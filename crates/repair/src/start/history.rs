//! The limit of recreations.

use jiff::Timestamp;

use crate::settings::{BREAKER_PERIOD, MAX_RECREATIONS};
use crate::workflow::Runs;

/// Returns the reason why a pool must not be recreated again: a recurring fault is not fixed by a third rebuild.
pub fn breaker(runs: &Runs, pool: &str, now: Timestamp) -> Option<String> {
    let recent = runs
        .finished()
        .filter_map(|run| run.deleted)
        .filter(|deleted| now.duration_since(*deleted) < BREAKER_PERIOD)
        .count();
    (recent >= MAX_RECREATIONS).then(|| {
        format!("pool {pool} was already recreated {recent} times in 24h; not trying again")
    })
}

//! Controllers, run until nothing more changes.
//!
//! Every write queues the object and those that it may concern; a controller reads that queue and what it leads to,
//! never all objects.

mod disruption;
mod endings;
mod gc;
mod kubelet;
mod scheduler;
mod workloads;

pub(crate) use kubelet::PodTimes;

use jiff::Timestamp;

use crate::kubernetes::api::state::ApiServer;
use crate::kubernetes::store::ObjectKey;

/// Enough rounds for any cascade; the limit turns a mistake into an end instead of an endless loop.
const ROUNDS: usize = 1_000;

/// Runs the controllers on everything that is due.
pub(crate) fn settle(api: &mut ApiServer, pods: &mut PodTimes, now: Timestamp) {
    api.now = Some(now);
    api.settle_watches(now);
    let due = pods.take_due(now);
    api.changed.0.extend(due.iter().map(|key| ObjectKey::new("pods", key)));
    for _ in 0..ROUNDS {
        let mut changed = endings::settle_definitions(api, now);
        let work = std::mem::take(&mut api.changed);
        if !work.0.is_empty() {
            changed = true;
            kubelet::settle_nodes(api, &work, now);
            workloads::settle_workloads(api, &work, now);
            scheduler::settle_scheduling(api, &work, now);
            kubelet::settle_pods(api, pods, &work, now);
            disruption::settle_budgets(api, &work, now);
            gc::settle_garbage(api, &work, now);
            endings::settle_namespaces(api, now);
        }
        if !changed {
            break;
        }
    }
}

pub(crate) fn next_change(api: &ApiServer, pods: &PodTimes) -> Option<Timestamp> {
    let now = (!api.changed.0.is_empty()).then(|| api.now.unwrap_or(api.options.start));
    [now, pods.next(), api.next_watch_change()].into_iter().flatten().min()
}

//! Controllers: functions over the API server, fed by its queue of changes.

mod crds;
mod disruption;
mod gc;
mod kubelet;
mod namespaces;
pub(crate) mod pod_times;
mod scheduler;
pub(crate) mod settle;
mod workloads;

//! State of simulated Azure: resources as raw JSON, events, operations, logs, access.

mod access;
mod activity;
mod azure;
mod azure_state;
mod changes;
mod event_queue;
mod history;
mod limits;
mod machine;
mod operations;
mod options;
mod records;
mod store;
mod time;

pub(crate) use access::is_at_or_below;
pub use access::{ActionDenial, Assignment, DenyAssignment, Lock, LockLevel};
pub use activity::{ActivityEntry, Correlation};
pub(crate) use activity::{Origin, wrapped_error};
pub use azure::Azure;
pub(crate) use azure_state::AzureState;
pub use changes::{AzureChange, AzureNode, Vm};
pub(crate) use event_queue::ScheduledEvent;
pub(crate) use limits::Buckets;
pub use limits::{BucketRate, RateLimits};
pub(crate) use machine::events;
pub(crate) use machine::{BootMode, Extensions, NodeImage, Promise, VmSpec, image_of};
pub use machine::{Cse, CseOutput, Guest, Join, ProvisionMode};
pub(crate) use operations::{AKS, COMPUTE, OperationStatus, SimulatedOperation, Work};
pub use options::{AzureOptions, DeletingView, KubernetesAccess, Rights};
pub(crate) use store::{last, list, merge, number, set, string, text};
pub(crate) use time::{earlier, later, stamp};

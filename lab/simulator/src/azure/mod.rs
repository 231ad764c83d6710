//! A model of the parts of Azure that Mooring uses.
//!
//! One value, [`Azure`]: it takes a request and the time, and returns what Azure Resource Manager would. It
//! holds one subscription with one AKS cluster. Changes without a request (operations, booting
//! VMs, bootstraps, the retries of a wedged scale set) are events in a queue, applied when
//! [`Azure::settle`] or [`Azure::handle`] gets a later time.
//!
//! ```text
//! request ──▶ faults ──▶ pipeline (token, api-version, buckets, roles) ──▶ route ──▶ aks, compute, graph …
//!                                                                                       │
//! later ────▶ settle ──▶ event queue ──▶ operations end, VMs boot, nodes join ◀──────────┘
//! ```
//!
//! Layers, each independent of those after it:
//!
//! | layer | content |
//! |---|---|
//! | `state` | resources as raw JSON, event queue, operations, activity log, assignments and locks, options |
//! | `behavior` | changes over time: operations, VMs, extensions, nodes, the wedge; scripts of run commands in a restricted shell |
//! | `api` | `request`, `access` (sign-in, buckets, roles, locks), `request_pipeline`, `route`, and the resources: `aks`, `compute`, `graph`, `tags`, `activity`, `operations` |
//! | `model`, `admin`, `foreign`, `internal_api` | clock and changes outside requests, by tests, other models and other products |

mod admin;
mod api;
mod behavior;
mod foreign;
mod internal_api;
mod model;
mod state;

pub use admin::NewVm;
pub use api::aks::clusters::AKS_SERVER;
pub(crate) use api::aks::clusters::kubeconfig;
pub use foreign::ForeignExtension;
pub use state::{
    ActionDenial, ActivityEntry, Assignment, Azure, AzureChange, AzureNode, AzureOptions,
    BucketRate, Correlation, Cse, CseOutput, DeletingView, DenyAssignment, Guest, Join,
    KubernetesAccess, Lock, LockLevel, ProvisionMode, RateLimits, Rights, Vm,
};

pub(crate) use api::aks::pool_body::add_defaults;
pub(crate) use api::boot_diagnostics::LOGS;
pub(crate) use internal_api::{lower_group, room};
pub(crate) use state::{BootMode, NodeImage, earlier, image_of, later};

//! A model of the parts of Azure that Mooring touches.
//!
//! One value, [`Azure`]: it takes a request and the time, and returns what Azure Resource Manager would. It
//! holds one subscription with one AKS cluster. Everything that happens without a request (operations, booting
//! machines, bootstraps, the retries of a wedged scale set) is on an agenda, and happens when
//! [`Azure::settle`] or [`Azure::handle`] is given a later time.
//!
//! ```text
//! request ──▶ faults ──▶ gate (token, api-version, buckets, rights) ──▶ route ──▶ aks, compute, graph …
//!                                                                                   │
//! later ────▶ settle ──▶ agenda ──▶ operations end, machines boot, nodes join ◀──────┘
//! ```
//!
//! Layers, each with no knowledge of those after it:
//!
//! | layer | idea |
//! |---|---|
//! | `state` | resources as raw JSON, agenda, operations, activity log, assignments and locks, options |
//! | `behavior` | time that passes: operations, machines, extensions, nodes, the wedge; scripts of run commands in a restricted shell |
//! | `api` | `request`, `access` (sign-in, buckets, rights, locks), `gate`, `route`, and the resources: `aks`, `compute`, `graph`, `tags`, `activity`, `operations` |
//! | `model`, `admin`, `bootstraps`, `foreign`, `neighbours` | Azure from outside a request: its clock, and what tests, other models and other products do to it |

mod admin;
mod api;
mod behavior;
mod bootstraps;
mod foreign;
mod model;
mod neighbours;
mod state;

pub use admin::NewVm;
pub use api::aks::clusters::AKS_SERVER;
pub use foreign::ForeignExtension;
pub use state::{
    ActivityEntry, Assignment, Azure, Change, Correlation, Cse, DeletingView, Denial,
    DenyAssignment, Guest, Join, KubernetesAccess, Limit, Limits, Lock, LockLevel, Mode, Node,
    Options, Printed, Rights, Vm,
};

pub(crate) use neighbours::{lower_group, room};
pub(crate) use state::{Image, Life, earlier, image_of};

//! A model of the Kubernetes API, and of as much of a cluster as a drain needs.
//!
//! [`Kubernetes`] is the model, a plain value. [`Shell`] adds a clock and a lock; [`InProcess`] is a tower
//! service for clients. Layers, each independent of those after it:
//!
//! | layer | content |
//! |---|---|
//! | `store` | objects in tables, one revision counter, indexes, history, selectors |
//! | `api` | requests, authorization, reads and writes: `ApiServer` |
//! | `controllers` | scheduler, kubelets, workloads, disruption, garbage collection, namespaces, CRDs |
//! | `server` | both with faults and trace, in process or on a socket |

mod api;
mod controllers;
mod server;
pub(crate) mod store;

pub use crate::clock::{Clock, ClockTask};
pub use api::state::{
    ApiServer, Delays, KubernetesOptions, RecordedWrite, StatusError, User, WebhookDenial,
};
pub use server::{AnswerBody, InProcess, Kubernetes, Shell};
pub use store::objects::Key;

//! A model of the Kubernetes API: what an API server does for the clients that we and `kubectl` are, and as
//! much of a cluster behind it as a drain needs.
//!
//! [`Kubernetes`] is the model, a plain value. [`Shell`] puts a clock and a lock around it; [`InProcess`] hands
//! it to a client as a tower service, and `Shell` itself is a [`crate::serve::Service`].

// What is served, and what is asked.
mod discovery;
pub(crate) mod objects;
mod openapi;
mod protobuf;
mod request;
mod resources;
mod selector;
mod status_error;
mod table;

// What is kept, and how it is read and written.
mod apply;
mod builtin;
mod create;
mod delete;
mod events;
mod index;
mod inside;
mod list;
mod metadata;
mod patch;
mod rules;
mod scale;
mod store;
mod unknown;
mod update;
mod watch;

// Resources that are data, too.
mod crd;

// Who may do what.
mod admission;
mod rbac;
mod reviews;

// What happens by itself.
mod disruption;
mod eviction;
mod garbage;
mod kubelet;
mod namespaces;
mod scheduler;
mod settle;
mod workloads;

// What goes wrong, and how it is reached.
mod fault_rules;
mod model;
mod shell;
mod tower;

pub use crate::shared::{Clock, Running};
pub use admission::Denial;
pub use inside::Write;
pub use model::{Delays, Kubernetes, Options};
pub use objects::Key;
pub use rbac::User;
pub use shell::Shell;
pub use status_error::StatusError;
pub use tower::{AnswerBody, InProcess};

#[cfg(test)]
mod tests;

//! Access to a Kubernetes API server.
//!
//! | module | idea |
//! |---|---|
//! | [`kubeconfig`] | a client from a kubeconfig or a pod's service account |
//! | [`request`] | raw requests, paged lists, permissions of the caller |
//! | [`lease`], [`holder`] | leader election with a Lease: pure decision, permission to write while it is held; acquire, renew and release |
//! | [`port_forward`] | ports of pods, through the API server |
//! | [`protobuf`] | objects in the binary format of the API server |
//! | [`error`] | error messages without secrets |
//!
//! The crate depends neither on Azure nor on specific resources.

pub mod error;
pub mod holder;
pub mod kubeconfig;
pub mod lease;
pub mod port_forward;
pub mod protobuf;
pub mod request;

pub use error::redacted_message;
pub use holder::{Holder, LeaseAttempt, read_lease};
pub use lease::{Candidate, Lease, Times};
pub use lease::{Clock, Gate};
pub use request::{Access, Client, Lost, RequestError, Response, TokenSource};

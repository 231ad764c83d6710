//! The way to a Kubernetes API server.
//!
//! | module | idea |
//! |---|---|
//! | [`kubeconfig`] | a client from a kubeconfig or a pod's account |
//! | [`request`] | raw requests, judged by their status; lists in pages |
//! | [`lease`], [`holder`] | the holder of a Lease, as a pure decision; acquire, renew and release |
//! | [`gate`] | whether a write may be sent now |
//! | [`error`] | failures without secrets |
//!
//! Azure, and what is requested, are not known here.

pub mod error;
pub mod gate;
pub mod holder;
pub mod kubeconfig;
pub mod lease;
pub mod request;

pub use error::redacted_message;
pub use gate::{Clock, Gate};
pub use holder::{Attempt, Holder, read_lease};
pub use lease::{Candidate, Lease, Times};
pub use request::{Client, Lost, RequestError, Response, TokenSource};

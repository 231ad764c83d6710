//! Client for the Azure Resource Manager calls that Mooring makes.
//!
//! A [`Client`] consists of a [`Cloud`] (endpoints), a [`World`] (clock, randomness, network, identity) and a
//! [`Budget`] (rate limits). Every call takes the same path:
//!
//! ```text
//! calls ──▶ request: wait for the budget ──▶ token ──▶ send ──▶ classify ──▶ response or retry
//!   └─────▶ operation: a write that continues in Azure, as a value that can be stored and resumed
//! ```
//!
//! Guarantees:
//!
//! - A request is retried only if that is safe: it is idempotent, or it was provably not applied. Otherwise the
//!   error's [`WriteStatus`] is unknown, and the caller reads the resource before it acts again.
//! - Every call ends by its deadline, and every error has the correlation ID.
//! - The token is sent only to the cloud's origin: every target is an [`ArmPath`], whether it comes from a call, a
//!   link in a response or a stored [`Operation`], and its URL is compared with the origin before the token is attached.
//! - Resources that are written back keep all members: they are read as [`serde_json::Value`].
//! - Nothing depends on the order of a hash map or on the system clock: with a deterministic [`World`], the same
//!   seed gives the same requests.

mod budget;
pub mod calls;
mod client;
mod cloud;
mod error;
pub mod identity;
mod metrics;
mod operation;
mod path;
mod request;
mod request_class;
mod text;
mod world;

pub use budget::{Bucket, BucketLimit, Budget, BudgetLimits, Priority};
pub use client::Client;
pub use cloud::{Cloud, CloudError, CloudSettings};
pub use error::{AzureError, CallInfo, Error, ErrorKind, MissingPermission, WriteStatus};
pub use identity::Token;
pub use metrics::{ArmMetrics, BucketLevel};
pub use operation::{Operation, OperationOutcome, OperationProgress, Started};
pub use path::resource_id::{ResourceId, ResourceIdError};
pub use path::{ArmPath, ArmPathError};
pub use request::Call;
pub use request_class::Class;
pub use world::{Real, Sent, TransportError, World};

//! Azure Resource Manager, for the calls that Mooring makes.
//!
//! A [`Client`] is made of a [`Cloud`] (where), an [`World`] (clock, randomness, network, identity) and a
//! [`Budget`] (how much may be asked). Every call goes the same way:
//!
//! ```text
//! calls ──▶ request: wait for the budget ──▶ token ──▶ send ──▶ judge ──▶ answer, or once more
//!   └─────▶ operation: a write that goes on in Azure, as a value that can be kept and resumed
//! ```
//!
//! What the crate promises:
//!
//! - A request is repeated only if repeating cannot do harm: it is idempotent, or it was provably not carried
//!   out. Otherwise the error says that its [`WriteStatus`] is unknown, and the caller looks before it acts again.
//! - Every call ends, at its deadline at the latest, and every error carries the correlation id.
//! - The token goes to the cloud's own origin only: every target is an [`ArmPath`], whether it comes from a call, a
//!   link in a response or a kept [`Operation`], and its URL is compared with the origin before the token is attached.
//! - What is read in order to be written back is kept as the text that was read ([`Raw`]).
//! - Nothing here depends on the order of a hash map or on a clock of its own: with a deterministic
//!   [`World`], the same seed gives the same requests.

mod budget;
pub mod calls;
mod client;
mod cloud;
mod error;
pub mod identity;
mod metrics;
mod operation;
mod path;
mod raw;
mod request;
mod resource_id;
mod text;
mod world;

pub use budget::{Budget, BudgetFull, Limit, Limits, Priority};
pub use client::Client;
pub use cloud::{Cloud, CloudError, Settings};
pub use error::{CallInfo, Error, ErrorKind, MissingPermission, Refusal, WriteStatus};
pub use metrics::{BucketLevel, Metrics};
pub use operation::{Operation, Outcome, Progress, Started};
pub use path::{ArmPath, ArmPathError};
pub use raw::{Document, Listed, Raw, RawError};
pub use request::{Call, Class};
pub use resource_id::{ResourceId, ResourceIdError};
pub use world::{Real, Sent, Token, TransportError, World};

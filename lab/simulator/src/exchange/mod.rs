//! Requests and their outcomes.

mod message;
pub(crate) mod uri;

pub use message::{Body, Request, Response, ServerReply, Trailers, json};
pub(crate) use message::{header, plain};

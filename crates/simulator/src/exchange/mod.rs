//! Requests and their outcomes.

mod message;
mod server_reply;
pub(crate) mod uri;

pub use message::{Body, Request, Response, Trailers, json};
pub use server_reply::ServerReply;

//! A small HTTP/1.1 client: one request, one connection, one deadline.
//!
//! The agent sends three kinds of requests to two servers, so it needs no redirects, no keep-alive and no
//! compression. Each kind of failure has a name, since it determines the owner of the next step.
//!
//! | file | contents |
//! |---|---|
//! | `url` | a parsed address |
//! | `failure` | failures by kind, and what was being done |
//! | `message` | requests and responses, without I/O |
//! | `deadline` | a connection with a total time limit |
//! | `connect` | DNS, TCP, a proxy's tunnel |
//! | `tls` | trust and handshake |
//! | `client` | a request from the first to the last byte |

mod client;
mod connect;
mod deadline;
mod failure;
mod message;
mod tls;
mod url;

pub(super) use client::{connect, dial, fetch};
pub use deadline::Duplex;
pub use failure::{HttpFailure, HttpFailureKind};
#[doc(hidden)] // For fuzzing.
pub use message::read_response;
pub use message::{HttpRequest, HttpResponse, MAX_BODY};
pub use tls::{Dial, Roots};
pub use url::{Url, UrlError};

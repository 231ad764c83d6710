//! HTTP: pages, JSON documents and events. GET and HEAD only.

mod api;
mod connections;
mod events;
mod forward;
mod guard;
mod handler;
mod live;
mod response;
mod write_limit;

pub use connections::{serve, serve_texts};
pub use forward::{Connect, Connecting, serve_forwarded};
pub use guard::{PageAccess, PageKey};
pub use live::{Live, MAX_STREAMS};

#[cfg(test)]
mod tests;

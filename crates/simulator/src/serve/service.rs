//! Interface between a socket and a model.

use futures::future::BoxFuture;

use crate::exchange::{Request, ServerReply};

/// Serves the requests of a socket: reads the clock, locks the model and calls it.
pub trait Service: Send + Sync + 'static {
    fn call(&self, request: Request) -> BoxFuture<'static, ServerReply>;
}

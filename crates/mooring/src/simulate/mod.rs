//! Commands without a real cluster: `sim` and `demo`.

pub(crate) mod demo;
pub(crate) mod sim;
mod speed;

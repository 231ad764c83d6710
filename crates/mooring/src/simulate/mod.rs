//! Commands without a real cluster: `sim` and `demo`.

pub(crate) mod demo;
mod scenarios;
pub(crate) mod sim;
mod speed;

//! Checks of the API server: connection, permissions, clock, Karpenter and the controller.

mod connection;
mod controller;
mod install;
mod karpenter;
mod permissions;
#[cfg(test)]
mod tests;

pub(super) use connection::connection;
pub(super) use controller::controller;
pub(super) use karpenter::karpenter;
pub(super) use permissions::{journal, permissions};

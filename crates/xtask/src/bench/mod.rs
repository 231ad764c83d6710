//! `bench`: figures of the node agent, the controller and the simulated Kubernetes API.

pub(crate) mod agent;
mod controller;
mod kubernetes;

pub(crate) use controller::controller;
pub(crate) use kubernetes::kubernetes;

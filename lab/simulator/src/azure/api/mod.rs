//! Azure Resource Manager: the request pipeline, and one file for each kind of resource.

pub(crate) mod access;
mod activity;
pub(crate) mod aks;
pub(crate) mod boot_diagnostics;
mod compute;
mod graph;
mod operations;
pub(crate) mod request;
mod request_pipeline;
mod route;
mod tags;

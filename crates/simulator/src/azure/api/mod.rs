//! Azure Resource Manager: the request pipeline, and one file for each kind of resource.

pub(crate) mod access;
mod activity;
pub(crate) mod aks;
mod compute;
mod gate;
mod graph;
mod operations;
pub(crate) mod request;
mod route;
mod tags;

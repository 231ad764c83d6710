//! Behavior of the model of Azure.

mod activity;
mod admin;
mod faults;
mod hostile;
mod node_services;
mod operations;
mod pools;
mod rights;
mod scenarios;
mod support;
mod throttling;
mod wedge;

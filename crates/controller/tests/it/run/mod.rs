//! The whole controller against a simulated Azure, Kubernetes API with the chart's RBAC rules, and Karpenter,
//! under virtual time. `real` runs against a real kube-apiserver, if installed.

mod after_success;
mod azure;
mod cluster;
mod counts;
mod crashes;
mod events;
mod failures;
mod forged;
mod leaders;
mod modes;
mod outcomes;
mod queries;
mod real;
mod registration;
mod rejections;
mod rules;
mod secrets;
mod waiting;
mod why;
mod writers;

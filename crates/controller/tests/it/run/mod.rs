//! The whole controller against a whole world: Azure, the cluster's API under the chart's own rules, and Karpenter,
//! under virtual time. The last part runs against a real kube-apiserver, where there is one.

mod after_success;
mod azure;
mod cluster;
mod crashes;
mod events;
mod forged;
mod leaders;
mod looks;
mod modes;
mod outcomes;
mod real;
mod refusals;
mod registering;
mod rules;
mod secrets;
mod troubles;
mod upgrade;
mod waiting;
mod writers;

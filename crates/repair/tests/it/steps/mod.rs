//! Decisions of the repair in a model of Azure and Kubernetes, in virtual time.

mod drains;
mod external_changes;
mod guarantees;
mod history;
mod plan_checks;
mod resumptions;
mod revalidation;
mod start;

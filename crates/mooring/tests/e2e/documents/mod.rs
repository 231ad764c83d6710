//! Tests of the documents: `sh` blocks run, the `console` commands of the runbook run against simulated clusters, all other
//! commands parse, links have targets, and repeated figures agree.

mod aro_hcp;
mod console;
mod figures;
mod links;
mod map;
pub(crate) mod page;
mod parsed;
mod pipelines;
mod run;

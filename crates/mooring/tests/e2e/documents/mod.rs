//! Tests of the documents: the `console` commands of the runbook and of INSTALL.md run against simulated clusters, all other
//! commands parse, links have targets, and repeated figures agree.

mod aro_hcp;
mod console;
mod figures;
mod install;
mod links;
mod map;
mod parsed;
mod pipelines;

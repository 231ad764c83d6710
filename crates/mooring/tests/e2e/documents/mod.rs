//! Tests of the documents: `sh` blocks run, the `console` commands of the runbook run against simulated clusters, all other
//! commands parse, links have targets, and repeated figures agree.

mod console;
mod figures;
mod links;
mod map;
mod page;
mod parsed;
mod pipelines;
mod run;

//! Tests of the documents: `sh` blocks run, commands in `console` blocks (which need a cluster, Azure or a node) and in the
//! text parse, and links have targets.

mod figures;
mod links;
mod map;
mod page;
mod parsed;
mod pipelines;
mod run;

//! The documents are true: commands in `sh` blocks are run here, commands in `console` blocks (which need a cluster, a cloud
//! or a node of the reader's) and in the text are at least understood by the binary, and links lead somewhere.

mod figures;
mod links;
mod map;
mod page;
mod pipelines;
mod run;
mod understood;

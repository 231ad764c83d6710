//! `mutants`: small changes of the code, one at a time, each of which a test must notice.

mod arguments;
mod chore;
mod crates;
mod outcome;
mod sample;
mod tree;

pub(crate) use chore::mutants;

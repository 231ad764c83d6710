//! `test`: builds the workspace once and runs its test binaries in two lanes.

mod build;
mod chore;
mod lanes;
mod packaging;
mod report;
mod run;
mod tools;

pub(crate) use chore::test;

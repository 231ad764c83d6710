//! `mooring why`: why nodes did not join, in groups or for one node.

mod answer;
mod command;
mod groups;
mod markdown;
mod node;
mod subject;
#[cfg(test)]
mod tests;

pub(crate) use command::{document, why};

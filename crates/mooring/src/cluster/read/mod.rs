//! Reads the facts of a cluster, all sources at the same time.

mod facts;
mod karpenter;
mod record;
#[cfg(test)]
mod tests;

pub(crate) use facts::{read, read_cluster, read_connected, read_followed};
pub(crate) use karpenter::read_karpenter;
pub(crate) use record::reading;

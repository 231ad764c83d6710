//! Scheduling of reads, and handling of their results.

pub(super) mod event_reads;
mod requests;
mod results;

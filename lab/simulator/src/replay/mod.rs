//! What makes a run repeatable: random numbers from a seed, and the trace of the run.

pub mod random;
pub mod trace;

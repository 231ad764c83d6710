//! I/O of this crate as one trait: clock, randomness, network and identity.

mod io;
mod real;

pub use io::{Sent, TransportError, World};
pub use real::Real;

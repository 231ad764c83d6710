//! I/O of this crate as one trait: clock, randomness, network and identity.

mod io;
mod real;
mod transport_error;

pub use io::World;
pub use real::Real;
pub use transport_error::{Sent, TransportError};

//! Models of the services that Mooring uses, with fault rules.
//!
//! Every model is a plain value: it takes a request and the time, and returns a response. It has no
//! sockets, no sleeping, no clock and no global state, and its randomness comes from a seed, so
//! that the same seed and the same requests give the same responses, byte for byte.
//! [`clock::Shared`] adds a clock and a lock to any of them: for clients in process, under virtual
//! time, or on loopback over TLS ([`serve`]).
//!
//! The crate depends on the node's contract and nothing else of Mooring, so that it cannot share its mistakes.

pub mod azure;
pub mod clock;
pub mod cluster;
pub mod exchange;
pub mod faults;
pub mod imds;
pub mod karpenter;
pub mod kubernetes;
pub mod live_patching;
mod pattern;
pub mod random;
pub mod registry;
pub mod scenario;
pub mod secrets;
pub mod serve;
pub mod sim;
pub mod trace;

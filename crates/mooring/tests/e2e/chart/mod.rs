//! What charts/mooring promises, as the real Helm renders it. `cargo xtask test` installs that Helm; without it the tests
//! that need it say SKIPPED.

mod accepted;
mod helm;
mod measured;
mod rendered;

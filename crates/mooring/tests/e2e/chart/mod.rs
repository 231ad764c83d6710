//! Tests of charts/mooring, rendered by the real Helm. `cargo xtask test` installs it; without it the tests print SKIPPED.

mod accepted;
mod helm;
mod installed;
mod measured;
mod messages;
mod rendered;

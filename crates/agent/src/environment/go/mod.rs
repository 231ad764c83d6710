//! Go's comparison of versions and letters, and its format of numbers.

pub(super) mod case;
pub(super) mod number;
pub mod version;

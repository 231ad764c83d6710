//! GPU drivers by VM size.

pub(super) mod components;
mod driver;

pub(super) use driver::variables;

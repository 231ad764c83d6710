//! One call: what it is, when it is repeated, and how it goes.

mod call;
mod class;
mod engine;
mod retry_after;

pub(crate) use call::Answer;
pub use call::Call;
pub use class::Class;
pub(crate) use retry_after::retry_after;

#[cfg(test)]
mod tests;

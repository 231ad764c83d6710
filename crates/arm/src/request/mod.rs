//! One call: what it is, when it is repeated, and how it goes.

mod call;
mod engine;
mod retry_after;
mod retry_policy;

pub(crate) use call::Answer;
pub use call::Call;
pub(crate) use retry_after::retry_after;
pub use retry_policy::Class;

#[cfg(test)]
mod tests;

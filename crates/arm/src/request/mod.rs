//! Single calls: content, retry policy and execution.

mod call;
mod engine;
mod retry_after;
mod retry_policy;

pub use call::Call;
pub(crate) use call::Response;
pub(crate) use retry_after::retry_after;

#[cfg(test)]
mod tests;

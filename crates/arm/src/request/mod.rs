//! Single calls: content, retry policy and execution.

mod call;
mod engine;
mod retry_policy;

pub use call::Call;
pub(crate) use call::Response;
pub(crate) use retry_policy::retry_after;

#[cfg(test)]
mod tests;

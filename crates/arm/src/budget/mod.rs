//! Rate limits of Azure as token buckets, shared by the whole process.
//!
//! A request is counted in all buckets that Azure counts it in. Requests wait in one queue, ordered by priority and
//! arrival, and are sent when every bucket has enough for them *and for all requests ahead*: so none is overtaken
//! within a priority, and a request for a busy VM does not block the others. Lower priorities keep a reserve in each
//! bucket, so that a trigger finds tokens during a sweep.

mod admission;
mod bucket;
mod feedback;
mod requests;
mod routes;
#[cfg(test)]
mod tests;

pub use admission::Budget;
pub(crate) use admission::NotAdmitted;
pub use bucket::Priority;
pub use bucket::{BucketLimit, BudgetLimits};
pub(crate) use routes::{BucketName, buckets};

//! The model: API server and controllers with faults, trace and clients in process.

mod faults;
mod model;
mod tower;

pub use model::{Kubernetes, Shell};
pub use tower::{AnswerBody, InProcess};

#[cfg(test)]
mod tests;

//! Data that a journal or plan stores.

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::approval::{Approval, canonical};

/// Data of a journal or plan.
pub trait Document: Clone + PartialEq + Debug + Serialize + DeserializeOwned {}
impl<T: Clone + PartialEq + Debug + Serialize + DeserializeOwned> Document for T {}

/// The first record of each process: the parameters of a process that starts, resumes or rolls back a run.
///
/// Only the process that wrote a session acts on it. To the next process it is evidence, and its own session decides what
/// it may do.
pub trait Session: Document {
    fn approval(&self) -> &Approval;

    /// Returns true if steps that were completed under `earlier` remain completed.
    fn continues(&self, earlier: &Self) -> bool;
}

/// A copy of an object. A stored run has its hash only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backup {
    pub hash: String,
    #[serde(skip)]
    pub text: String,
}

impl Backup {
    #[must_use]
    pub fn new(text: String) -> Self {
        Self { hash: canonical::hash_bytes(text.as_bytes()), text }
    }
}

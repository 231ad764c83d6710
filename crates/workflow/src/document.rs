//! Stored data.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Data of a journal or plan.
pub trait Document: Clone + PartialEq + Debug + Serialize + DeserializeOwned {}
impl<T: Clone + PartialEq + Debug + Serialize + DeserializeOwned> Document for T {}

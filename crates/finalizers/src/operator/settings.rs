//! Settings of a removal.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use super::profile::Profile;
use mooring_workflow::store::NAMESPACE;

/// Settings from the command line, never from a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    pub profile: Profile,
    /// A running operator gets time for its teardown, and is then scaled to zero.
    pub scale_down: bool,
    /// Failed reads are skipped and reported, and do not block.
    pub best_effort: bool,
    /// Overridden checks with reasons.
    pub overrides: BTreeMap<String, String>,
    /// Namespace of the journal.
    pub journal: String,
    pub limits: Limits,
}

/// Timeouts, all within `overall`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Deadline of a session.
    pub overall: SignedDuration,
    pub poll: SignedDuration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { overall: SignedDuration::from_mins(10), poll: SignedDuration::from_secs(2) }
    }
}

impl Limits {
    /// Returns the timeout for the operator's teardown: three of ten minutes.
    pub fn teardown(&self) -> SignedDuration {
        (self.overall / 10) * 3
    }

    /// Returns the timeout of a step: two of ten minutes, so that no step takes the time of all.
    pub fn step(&self) -> SignedDuration {
        self.overall / 5
    }
}

impl Settings {
    /// Returns the defaults for a profile.
    #[must_use]
    pub fn new(profile: Profile) -> Self {
        Self {
            profile,
            scale_down: false,
            best_effort: false,
            overrides: BTreeMap::new(),
            journal: NAMESPACE.to_owned(),
            limits: Limits::default(),
        }
    }
}

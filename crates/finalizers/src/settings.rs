//! What is asked for.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use super::profile::Profile;
use mooring_workflow::store::JournalPlace;

/// What is removed, and how. It comes from the command line at every command, never from a journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    pub profile: Profile,
    /// An operator that still runs is given time for its own teardown, and is then scaled to zero.
    pub scale_down: bool,
    /// What cannot be read is left alone and told, instead of being a reason not to begin.
    pub best_effort: bool,
    /// Checks that are overridden, each with the reason.
    pub overrides: BTreeMap<String, String>,
    /// Where the journal is kept.
    pub journal: JournalPlace,
    /// How long things may take.
    pub limits: Limits,
}

/// How long things may take, all inside of `overall`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// A run, or its resumption, comes to rest within this.
    pub overall: SignedDuration,
    /// Between two looks at something that is under way.
    pub poll: SignedDuration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { overall: SignedDuration::from_mins(10), poll: SignedDuration::from_secs(2) }
    }
}

impl Limits {
    /// How long an operator that runs may take for its own teardown: three of ten minutes.
    pub fn teardown(&self) -> SignedDuration {
        (self.overall / 10) * 3
    }

    /// How long one step waits for what does not depend on us, so that none eats the time of all: two of ten minutes.
    pub fn step(&self) -> SignedDuration {
        self.overall / 5
    }
}

impl Settings {
    /// The settings of a profile, with everything else as usual.
    #[must_use]
    pub fn new(profile: Profile) -> Self {
        Self {
            profile,
            scale_down: false,
            best_effort: false,
            overrides: BTreeMap::new(),
            journal: JournalPlace::default(),
            limits: Limits::default(),
        }
    }
}

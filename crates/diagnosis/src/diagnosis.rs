//! The answer: what was reported, what it means, and what to do first.

use std::fmt;

use mooring_codes::{Date, Os, Owner};

use crate::decoded::{FoundBy, Outcome, Situation};
use crate::evidence::Evidence;
use crate::stage::Stage;

/// What whoever asks already knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// The node's operating system, for texts that do not show it.
    pub os: Option<Os>,
    /// The day of the node image; it counts more than an image named in the text.
    pub image_date: Option<Date>,
}

/// How sure a diagnosis is. High is never said without a quoted line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    Low,
    /// The code's usual cause, or a sign of another.
    Medium,
    /// A line of the text shows the cause.
    High,
}

impl Confidence {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The code as the text has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reported {
    /// None if no code can be known.
    pub code: Option<i32>,
    /// What the code is called on this system and image; an ARM code where nothing else is known.
    pub name: Option<String>,
    pub found_by: Option<FoundBy>,
}

/// The code that fits the cause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effective {
    /// None if none can be known.
    pub code: Option<i32>,
    /// What it is called.
    pub name: Option<String>,
}

/// Why one bootstrap failed, or that it succeeded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// The operating system; none where nothing shows it.
    pub os: Option<Os>,
    /// What became of the bootstrap.
    pub outcome: Outcome,
    /// The code as the text has it; always kept.
    pub reported: Reported,
    /// The code that fits the cause.
    pub effective: Effective,
    /// How sure this is.
    pub confidence: Confidence,
    /// What stands in the place of a code, where there is none.
    pub situation: Option<Situation>,
    /// The rule or wording that fits; none where the catalogue answers.
    pub rule: Option<&'static str>,
    /// The stable word in Pascal case for labels and conditions.
    pub reason: String,
    pub owner: Owner,
    /// How far the node came.
    pub stage: Stage,
    /// What has happened, for a person.
    pub summary: String,
    /// The lines that show it.
    pub evidence: Vec<Evidence>,
    /// What to do, in this order.
    pub actions: Vec<String>,
    /// The node image, if the text names it.
    pub image_version: Option<String>,
    pub extension: Option<String>,
    /// The instance of the scale set.
    pub instance: Option<i64>,
}

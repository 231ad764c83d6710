//! One row of the tables.

use std::fmt;

use super::{Category, Date, Os, Owner, Reach, Status, Transient};

/// A number with a name, meaning, category, owner and advice, valid for a range of image dates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExitCode {
    pub os: Os,
    /// Only the extension handler's -1 is negative.
    pub number: i32,
    /// The constant's name as the scripts spell it; a short label for a raw code.
    pub name: &'static str,
    pub status: Status,
    pub reach: Reach,
    pub category: Category,
    pub owner: Owner,
    pub transient: Transient,
    pub meaning: &'static str,
    pub cause: &'static str,
    pub action: &'static str,
    /// The script, function or tool that exits with it.
    pub origin: &'static str,
    /// First day on which the number has this meaning.
    pub introduced: Since,
    /// Days on which the constant was withdrawn: first (inclusive) and last (exclusive).
    pub away: Option<(Date, Date)>,
    /// First day without the constant.
    pub removed: Option<Date>,
    /// Number and name of the row that has this meaning since then.
    pub became: Option<(i32, &'static str)>,
    /// Names that AKS uses for it.
    pub aks_names: &'static [&'static str],
    pub doc_url: Option<&'static str>,
}

impl ExitCode {
    /// Ranks the meanings of one number: codes that a node can report today come first.
    pub(super) const fn rank(&self) -> u8 {
        match (self.status, self.reach) {
            (Status::Agent, _) => 0,
            (Status::Current, Reach::Node | Reach::Wrapper) => 1,
            (Status::Raw, _) => 2,
            (Status::ImageBuildOnly, _) | (Status::Current, Reach::ImageBuild) => 5,
            (Status::Current, _) => 3,
            (Status::Removed, _) => 4,
            (Status::Proposed, _) => 6,
        }
    }
}

impl fmt::Display for ExitCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.number, self.name)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    On(Date),
    /// On this day at the latest: the recorded history begins there.
    By(Date),
    Unrecorded,
}

impl Since {
    pub const fn date(self) -> Option<Date> {
        match self {
            Self::On(date) | Self::By(date) => Some(date),
            Self::Unrecorded => None,
        }
    }
}

impl fmt::Display for Since {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::On(date) => write!(f, "{date}"),
            Self::By(date) => write!(f, "{date} or earlier"),
            Self::Unrecorded => f.write_str("an unrecorded day"),
        }
    }
}

//! Result of `mooring explain`, before it is shown.

use mooring_codes::{ExitCode, KnownImage};
use mooring_diagnosis::{CausePage, Diagnosis, Recognized};

use super::occurrences::Occurrences;

/// Facts that answer a question.
#[derive(Debug, Default)]
pub(super) struct Explanation {
    pub(super) diagnoses: Vec<Diagnosis>,
    /// Causes that were asked for by name.
    pub(super) causes: Vec<CausePage>,
    /// Exit codes that were asked for by number or name.
    pub(super) codes: Vec<&'static ExitCode>,
    pub(super) known_image: Option<&'static KnownImage>,
    pub(super) recognized: Recognized,
    /// File that was read.
    pub(super) file: Option<String>,
    /// Failures of the cause in the cluster; none without a context.
    pub(super) occurrences: Option<Occurrences>,
}

//! What a check finds, and how evidence shows times.

use jiff::Timestamp;
use mooring_workflow::screens::ago;
use mooring_workflow::{CheckResult, Outcome};

use crate::observation::{ClusterView, Pool, known};
use crate::settings::Settings;

/// What a check finds. What could not be read is an error, which makes the check unknown.
pub(super) type Found = Result<Finding, String>;

#[derive(Debug, PartialEq)]
pub(super) struct Finding {
    pub(super) outcome: Outcome,
    pub(super) evidence: Vec<String>,
    /// Unknown only until an operation in progress ends.
    pub(super) transient: bool,
}

impl Finding {
    pub(super) fn of(outcome: Outcome, text: impl Into<String>) -> Self {
        Self { outcome, evidence: vec![text.into()], transient: false }
    }

    /// Returns the failure of a check that has nothing to show.
    pub(super) fn nothing() -> Self {
        Self { outcome: Outcome::Fail, evidence: Vec::new(), transient: false }
    }
}

pub(super) fn pass(text: impl Into<String>) -> Found {
    pass_if(true, text)
}

pub(super) fn fail(text: impl Into<String>) -> Found {
    pass_if(false, text)
}

#[expect(clippy::unnecessary_wraps, reason = "what a check finds, like its other ends")]
pub(super) fn pass_if(holds: bool, text: impl Into<String>) -> Found {
    Ok(Finding::of(if holds { Outcome::Pass } else { Outcome::Fail }, text))
}

pub(super) fn result(id: &str, found: Found) -> CheckResult {
    let finding = found.unwrap_or_else(|why| Finding::of(Outcome::Unknown, why));
    let Finding { outcome, evidence, transient } = finding;
    CheckResult { evidence, transient, ..CheckResult::new(id, outcome, "") }
}

/// What the checks of the verdict are evaluated on.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) view: &'a ClusterView,
    pub(super) settings: &'a Settings,
    pub(super) now: Timestamp,
}

impl<'a> Subject<'a> {
    /// Returns the name of the pool.
    pub(super) fn name(self) -> &'a str {
        &self.settings.target.pool
    }

    pub(super) fn pools(self) -> Result<&'a [Pool], String> {
        known(self.view.pools.get(), "pools").map(Vec::as_slice)
    }

    /// Returns the pool, if it exists.
    pub(super) fn pool(self) -> Result<Option<&'a Pool>, String> {
        Ok(self.pools()?.iter().find(|pool| pool.name == self.name()))
    }
}

pub(super) fn latest_suffix(at: Option<Timestamp>, now: Timestamp) -> String {
    at.map_or_else(String::new, |at| format!(", latest {}", ago(at, now)))
}

//! Open alerts, as a list that replaces the one before.

use jiff::{SignedDuration, Timestamp};

use crate::notify::Alert;

/// Alerts also end by time.
const INTERVAL: SignedDuration = SignedDuration::from_mins(1);

#[derive(Debug, Default)]
pub(super) struct AlertReports {
    /// Ids of the alerts of the last report; none before the first of a term.
    reported: Option<Vec<String>>,
    changed: bool,
    evaluated_at: Option<Timestamp>,
}

impl AlertReports {
    pub(super) fn request(&mut self) {
        self.changed = true;
    }

    pub(super) fn is_due(&self, now: Timestamp) -> bool {
        let evaluated = self.evaluated_at;
        self.changed || evaluated.is_none_or(|at| now.duration_since(at) >= INTERVAL)
    }

    /// Returns the open alerts if one is new or over, and at the start of a term.
    pub(super) fn report(&mut self, open: Vec<Alert>, now: Timestamp) -> Option<Vec<Alert>> {
        (self.changed, self.evaluated_at) = (false, Some(now));
        let ids: Vec<String> = open.iter().map(Alert::id).collect();
        if self.reported.as_ref() == Some(&ids) {
            return None;
        }
        self.reported = Some(ids);
        Some(open)
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + seconds).unwrap()
    }

    #[test]
    fn alerts_are_reported_when_one_is_new_or_over() {
        let open = || vec![Alert::of_leader("a")];
        let mut reports = AlertReports::default();
        assert!(reports.is_due(at(0)));
        assert_eq!(reports.report(open(), at(0)), Some(open()));
        assert!(!reports.is_due(at(59)) && reports.is_due(at(60)));
        reports.request();
        assert!(reports.is_due(at(1)));
        assert_eq!(reports.report(open(), at(1)), None);
        assert!(!reports.is_due(at(2)));
        assert_eq!(reports.report(Vec::new(), at(2)), Some(Vec::new()));
    }
}

//! Open alerts, as a list that replaces the one before.

use jiff::{SignedDuration, Timestamp};

use super::machine::State;
use super::messages::Action;
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
}

impl State {
    /// Reports the open alerts if one is new or over, and at the start of a term.
    pub(super) fn report_alerts(&mut self, now: Timestamp, actions: &mut Vec<Action>) {
        let recent = self.alerts.evaluated_at;
        let recent = recent.is_some_and(|at| now.duration_since(at) < INTERVAL);
        if !self.leads || (recent && !self.alerts.changed) {
            return;
        }
        (self.alerts.changed, self.alerts.evaluated_at) = (false, Some(now));
        let findings = self.fleet.open_findings().map(|finding| {
            let key = (finding.image.clone(), finding.cause.clone());
            Alert::of_finding(finding, self.examples.get(&key).cloned())
        });
        let pools = self.pools.failing(now).into_iter().map(Alert::of_pool);
        let open: Vec<Alert> = findings.chain(pools).collect();
        let ids: Vec<String> = open.iter().map(Alert::id).collect();
        if self.alerts.reported.as_ref() != Some(&ids) {
            self.alerts.reported = Some(ids);
            actions.push(Action::Alerts(open));
        }
    }
}

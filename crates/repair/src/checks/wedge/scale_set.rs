//! Signs of the pool's scale set: failed writes, or live state that shows the same.

use jiff::Timestamp;
use mooring_workflow::plural::counted;
use mooring_workflow::screens::ago;
use mooring_workflow::{CheckResult, Outcome, Reading};

use super::evidence::{Sign, WedgeSubject};
use super::write_failures::{LOG_DELAY, ScaleSetWrites};
use crate::check_ids::FAILING_WRITES;
use crate::checks::text::{known, latest_suffix};
use crate::observation::ClusterView;
use crate::settings::{Settings, SignPolicy};
use crate::signatures::Signature;

/// Writes to the pool's scale set fail with an error of a wedge and none succeeded since, or live state shows the same.
pub(in crate::checks) fn failing_writes(
    view: &ClusterView,
    settings: &Settings,
    now: Timestamp,
) -> CheckResult {
    let result = |outcome, evidence: String| CheckResult::new(FAILING_WRITES, outcome, evidence);
    let Some(set) = view.scale_set_of(&settings.target.pool) else {
        let why = view.scale_sets.get().and_then(Reading::missing);
        let why = why.map_or_else(String::new, |why| format!(" (scale sets {why})"));
        return result(Outcome::Unknown, format!("the scale set of the pool is unknown{why}"));
    };
    // Without the log, the pool may have recovered.
    let events = match known(view.events.get()) {
        Ok(events) => events,
        Err(why) => return result(Outcome::Unknown, format!("activity log {why}")),
    };
    let writes = ScaleSetWrites::of(events, &set.id);
    let success = writes.last_success();
    let subject = WedgeSubject { view, settings, set, success, now };
    let signs = settings.signatures.signatures.iter().flat_map(|signature| {
        let count = (!signature.errors.is_empty()).then(|| count(writes, signature, subject));
        let direct = subject.check(signature).into_iter().map(|sign| match settings.signs {
            SignPolicy::Direct => sign,
            SignPolicy::Writes => sign.excluded(),
        });
        count.into_iter().chain(direct)
    });
    combine(signs.collect())
}

/// Passes if one sign does.
fn combine(mut signs: Vec<Sign>) -> CheckResult {
    let outcome = signs.iter().map(|sign| sign.outcome).min().unwrap_or(Outcome::Fail);
    signs.sort_by_key(|sign| sign.outcome != outcome);
    let mut evidence: Vec<String> = signs.into_iter().map(|sign| sign.text).collect();
    evidence.retain(|text| !text.is_empty());
    if evidence.is_empty() {
        evidence.push("no failing writes found".to_owned());
    }
    CheckResult { evidence, ..CheckResult::new(FAILING_WRITES, outcome, "") }
}

fn count(writes: ScaleSetWrites<'_>, signature: &Signature, subject: WedgeSubject<'_>) -> Sign {
    let WedgeSubject { settings, set, success, now, .. } = subject;
    let failures = writes.failures(signature, settings.fail_window, now);
    let needed = settings.fail_threshold;
    let newest = failures.first().copied();
    let since = match success {
        Some(at) => format!("last success {}", ago(at, now)),
        None => "none succeeded".to_owned(),
    };
    let text = format!(
        "{} to {} failed with {} in the last {}m, {since} (threshold {needed}{})",
        counted(failures.len(), "write"),
        set.name,
        signature.label(),
        settings.fail_window.as_mins(),
        latest_suffix(newest, now)
    );
    if needed > 0 && u32::try_from(failures.len()).is_ok_and(|count| count >= needed) {
        Sign::new(Outcome::Pass, text)
    } else if newest.is_some_and(|at| now.duration_since(at) < LOG_DELAY) {
        let late = LOG_DELAY.as_mins();
        Sign::new(
            Outcome::Unknown,
            format!("{text}; the activity log may be {late}m late, so there may be more"),
        )
    } else {
        Sign::new(Outcome::Fail, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_of_the_outcome_comes_first() {
        let signs = |outcomes: &[(Outcome, &str)]| {
            combine(outcomes.iter().map(|(outcome, text)| Sign::new(*outcome, *text)).collect())
        };
        let found = signs(&[(Outcome::Fail, "no"), (Outcome::Unknown, ""), (Outcome::Pass, "yes")]);
        assert_eq!(
            (found.outcome, found.evidence),
            (Outcome::Pass, vec!["yes".into(), "no".into()])
        );
        let found = signs(&[(Outcome::Fail, "no"), (Outcome::Unknown, "unread")]);
        assert_eq!(found.outcome, Outcome::Unknown);
        assert_eq!(found.evidence, ["unread", "no"]);
        let found = signs(&[(Outcome::Fail, "")]);
        assert_eq!(
            (found.outcome, found.evidence),
            (Outcome::Fail, vec!["no failing writes found".into()])
        );
    }
}

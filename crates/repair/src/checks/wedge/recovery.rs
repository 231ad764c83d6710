//! Writes that succeed again, also after an operation was aborted.

use jiff::Timestamp;
use mooring_workflow::screens::ago;
use mooring_workflow::{CheckResult, Outcome};

use super::evidence::WedgeSubject;
use super::write_failures::{LOG_DELAY, ScaleSetWrites};
use crate::check_ids::FAILING_WRITES;
use crate::checks::text::known;
use crate::observation::ClusterView;
use crate::settings::Settings;

/// Keeps the outcome of `failing-writes` from right before an operation was aborted, unless a write succeeded since or the
/// log cannot be read. Nothing is retried after an abort.
pub(crate) fn keep(
    checks: &mut [CheckResult],
    view: &ClusterView,
    settings: &Settings,
    before: Timestamp,
    now: Timestamp,
) {
    let Some(check) = checks.iter_mut().find(|check| check.name == FAILING_WRITES) else { return };
    let is_known =
        known(view.events.get()).is_ok() && view.scale_set_of(&settings.target.pool).is_some();
    // The log may show writes now that it did not show then.
    let since = before.checked_sub(LOG_DELAY).unwrap_or(Timestamp::MIN);
    let has_recovered = recovered(view, settings, now).is_some_and(|at| at > since);
    if check.outcome != Outcome::Pass && is_known && !has_recovered {
        check.outcome = Outcome::Pass;
        let kept =
            format!("result from right before the operation was aborted, {}", ago(before, now));
        check.evidence.insert(0, kept);
    }
}

/// Returns the time of a write to the pool's scale set that succeeded, with no sign of a wedge since. None while the log or
/// the scale set is unknown.
pub(crate) fn recovered(
    view: &ClusterView,
    settings: &Settings,
    now: Timestamp,
) -> Option<Timestamp> {
    let set = view.scale_set_of(&settings.target.pool)?;
    let events = known(view.events.get()).ok()?;
    let at = ScaleSetWrites::of(events, &set.id).succeed_again(&settings.signatures)?;
    let subject = WedgeSubject { view, settings, set, success: Some(at), now };
    let mut signs = settings.signatures.signatures.iter().flat_map(|one| subject.check(one));
    (!signs.any(|sign| sign.outcome == Outcome::Pass)).then_some(at)
}

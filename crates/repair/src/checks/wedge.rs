//! The check `failing-writes`: writes to the pool's scale set fail, or live state shows the same.
//!
//! State from before the last successful write does not count, nor do values that Azure does not return.

use jiff::{SignedDuration, Timestamp};
use mooring_workflow::plural::counted;
use mooring_workflow::screens::ago;
use mooring_workflow::{CheckResult, Outcome, Reading};

use super::finding::{Finding, Found, Subject, fail, latest_suffix, pass};
use super::writes::{LOG_DELAY, ScaleSetWrites};
use crate::names::FAILING_WRITES;
use crate::observation::{Addresses, ClusterView, Instance, Nic, ScaleSet, known};
use crate::settings::{Settings, SignPolicy};
use crate::signatures::{Signature, SignatureCheck};

/// Writes to the pool's scale set fail with an error of a wedge and none succeeded since, or live state shows the same.
pub(super) fn failing_writes(subject: Subject<'_>) -> Found {
    let Subject { view, settings, .. } = subject;
    let Some(set) = view.scale_set_of(subject.name()) else {
        let why = view.scale_sets.get().and_then(Reading::missing);
        let why = why.map_or_else(String::new, |why| format!(" (scale sets {why})"));
        return Err(format!("the scale set of the pool is unknown{why}"));
    };
    // Without the log, the pool may have recovered.
    let events = known(view.events.get(), "activity log")?;
    let writes = ScaleSetWrites { events, scale_set: &set.id };
    let signs = Signs { subject, set, success: writes.last_success() };
    let of_signature = |signature: &Signature| {
        let count = (!signature.errors.is_empty()).then(|| signs.count(writes, signature));
        let direct = signs.direct(signature).map(|sign| match settings.signs {
            SignPolicy::Direct => sign,
            SignPolicy::Writes => excluded(sign),
        });
        count.into_iter().chain(direct).collect::<Vec<_>>()
    };
    Ok(combine(settings.signatures.signatures.iter().flat_map(of_signature).collect()))
}

/// Passes if one sign does. Evidence of the outcome comes first.
fn combine(mut signs: Vec<Finding>) -> Finding {
    let outcome = signs.iter().map(|sign| sign.outcome).min().unwrap_or(Outcome::Fail);
    signs.sort_by_key(|sign| sign.outcome != outcome);
    let mut evidence: Vec<String> = signs.into_iter().flat_map(|sign| sign.evidence).collect();
    if evidence.is_empty() {
        evidence.push("no failing writes found".to_owned());
    }
    Finding { outcome, evidence, transient: false }
}

/// Returns a direct sign that the settings exclude.
fn excluded(sign: Finding) -> Finding {
    let suffix =
        if sign.outcome == Outcome::Pass { " (does not count: --signs writes)" } else { "" };
    let evidence = sign.evidence.into_iter().map(|text| text + suffix).collect();
    Finding { evidence, ..Finding::nothing() }
}

/// Signs of a wedge in a scale set.
#[derive(Clone, Copy)]
struct Signs<'a> {
    subject: Subject<'a>,
    set: &'a ScaleSet,
    /// Last successful write.
    success: Option<Timestamp>,
}

impl<'a> Signs<'a> {
    /// Counts the failed writes with a signature.
    fn count(self, writes: ScaleSetWrites<'_>, signature: &Signature) -> Finding {
        let Self { subject: Subject { settings, now, .. }, set, success } = self;
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
            Finding::of(Outcome::Pass, text)
        } else if newest.is_some_and(|at| now.duration_since(at) < LOG_DELAY) {
            let late = LOG_DELAY.as_mins();
            let text =
                format!("{text}; the activity log may be {late}m late, so there may be more");
            Finding::of(Outcome::Unknown, text)
        } else {
            Finding::of(Outcome::Fail, text)
        }
    }

    /// Evaluates the direct checks of a signature.
    fn direct(self, signature: &Signature) -> impl Iterator<Item = Finding> {
        signature.checks.iter().map(move |check| {
            let found = match check {
                SignatureCheck::EmptyAddresses => self.empty_addresses(),
                SignatureCheck::FailedInstances => self.failed_instances(signature),
                SignatureCheck::AcceleratedNetworkingOff { pool_tag } => {
                    self.not_accelerated(pool_tag)
                }
            };
            found.unwrap_or_else(|why| Finding::of(Outcome::Unknown, why))
        })
    }

    fn instances(self) -> Result<&'a [Instance], String> {
        known(self.subject.view.instances.get(&self.set.name), "instances").map(Vec::as_slice)
    }

    fn empty_addresses(self) -> Found {
        let nics = known(self.subject.view.nics.get(&self.set.name), "network interfaces")?;
        let ages = |addresses: Addresses| -> Vec<Age> {
            let found = nics.iter().filter(|nic| nic.addresses == addresses);
            found.map(|nic| self.age_of(nic)).collect()
        };
        let (empty, unlisted) = (ages(Addresses::Empty), ages(Addresses::Unknown));
        let reported = nics.len() - unlisted.len();
        let count = |wanted: Age| empty.iter().filter(|age| **age == wanted).count();
        let minutes = self.dwell().as_mins();
        let of = format!("of {} without an IP address", counted(reported, "network interface"));
        match (count(Age::Settled), count(Age::Unknown)) {
            (settled @ 1.., _) => pass(format!("{settled} {of} on VMs older than {minutes}m")),
            (_, 1..) => Err(format!("{} {of}, age unknown", empty.len())),
            _ if reported == 0 && unlisted.contains(&Age::Settled) => {
                let all = counted(nics.len(), "network interface");
                Err(format!("{all} without ipConfigurations"))
            }
            _ if empty.is_empty() => Ok(Finding::nothing()),
            _ => fail(format!(
                "{} {of}, none on a VM that is older than {minutes}m and newer than the last successful write",
                empty.len()
            )),
        }
    }

    fn age_of(self, nic: &Nic) -> Age {
        let Ok(instances) = self.instances() else { return Age::Unknown };
        let id = nic.instance.as_deref().unwrap_or_default();
        let instance = instances.iter().find(|instance| instance.id.eq_ignore_ascii_case(id));
        self.age(instance.and_then(|instance| instance.created))
    }

    fn age(self, created: Option<Timestamp>) -> Age {
        match created {
            None => Age::Unknown,
            Some(at) if self.success.is_some_and(|success| at <= success) => Age::Outlived,
            Some(at) if self.subject.now.duration_since(at) < self.dwell() => Age::Young,
            Some(_) => Age::Settled,
        }
    }

    fn dwell(self) -> SignedDuration {
        self.subject.settings.limits.registration
    }

    fn failed_instances(self, signature: &Signature) -> Found {
        let failed = |instance: &Instance| {
            let mut failures = instance.failures.iter();
            let failure = failures.find(|failure| signature.matches(&failure.error))?;
            Some(failure.at.or(instance.created))
        };
        let times: Vec<Option<Timestamp>> = self.instances()?.iter().filter_map(failed).collect();
        let count = |wanted: Age| times.iter().filter(|at| self.age(**at) == wanted).count();
        let newest = latest_suffix(times.iter().flatten().max().copied(), self.subject.now);
        let text = |count: usize| {
            format!("{} failed with {}{newest}", counted(count, "VM"), signature.label())
        };
        match (count(Age::Settled), count(Age::Unknown), count(Age::Young)) {
            (0, 0, 0) => Ok(Finding::nothing()),
            (0, 0, young) => fail(text(young)),
            (0, unknown, _) => Err(text(unknown)),
            (settled, ..) => pass(text(settled)),
        }
    }

    fn not_accelerated(self, tag: &str) -> Found {
        let value = self.subject.pool()?.and_then(|pool| pool.tag(tag));
        let needs = value.is_some_and(|value| value.trim().eq_ignore_ascii_case("true"));
        match self.set.accelerated {
            Some(false) if needs => {
                pass(format!("accelerated networking is off although tag {tag} requires it"))
            }
            None if needs => Err("the state of accelerated networking is unknown".to_owned()),
            _ => Ok(Finding::nothing()),
        }
    }
}

/// Age of an instance as evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Age {
    /// It may still be booting.
    Young,
    Settled,
    /// A write succeeded since.
    Outlived,
    Unknown,
}

/// Keeps the outcome of `failing-writes` from right before an operation was aborted, unless a write succeeded since or the
/// log cannot be read. Nothing is retried after an abort.
pub(super) fn keep(
    checks: &mut [CheckResult],
    view: &ClusterView,
    settings: &Settings,
    before: Timestamp,
    now: Timestamp,
) {
    let Some(check) = checks.iter_mut().find(|check| check.name == FAILING_WRITES) else { return };
    let is_known = view.events.get().is_some_and(Reading::is_known)
        && view.scale_set_of(&settings.target.pool).is_some();
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
pub(super) fn recovered(
    view: &ClusterView,
    settings: &Settings,
    now: Timestamp,
) -> Option<Timestamp> {
    let set = view.scale_set_of(&settings.target.pool)?;
    let events = view.events.get()?.known()?;
    let at = ScaleSetWrites { events, scale_set: &set.id }.succeed_again(&settings.signatures)?;
    let signs = Signs { subject: Subject { view, settings, now }, set, success: Some(at) };
    let mut all = settings.signatures.signatures.iter().flat_map(|one| signs.direct(one));
    (!all.any(|sign| sign.outcome == Outcome::Pass)).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_of_the_outcome_comes_first() {
        let found = |signs: &[(Outcome, &str)]| {
            let finding =
                combine(signs.iter().map(|(one, text)| Finding::of(*one, *text)).collect());
            (finding.outcome, finding.evidence.join(" "))
        };
        let (no, unread) = ((Outcome::Fail, "no"), (Outcome::Unknown, "unread"));
        assert_eq!(found(&[no, (Outcome::Pass, "yes")]), (Outcome::Pass, "yes no".to_owned()));
        assert_eq!(found(&[no, unread]), (Outcome::Unknown, "unread no".to_owned()));
        assert_eq!(found(&[]), (Outcome::Fail, "no failing writes found".to_owned()));
    }
}

//! Live state that shows a wedge without counting: it ranks with the failed writes.
//!
//! What a write that succeeded later has outlived shows nothing any more, and what is not said is not held against a
//! pool.

use jiff::{SignedDuration, Timestamp};
use mooring_workflow::Outcome;

use super::text::{known, latest_suffix, target};
use crate::observation::{Addresses, ClusterView, Instance, Nic, ScaleSet};
use crate::settings::Settings;
use crate::signatures::{Check, Signature};
use mooring_workflow::plural::counted;

/// What one sign of a wedge says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sign {
    pub(crate) outcome: Outcome,
    /// Empty if there is nothing to show.
    pub(crate) text: String,
}

impl Sign {
    pub(super) fn new(outcome: Outcome, text: impl Into<String>) -> Self {
        Self { outcome, text: text.into() }
    }

    fn none() -> Self {
        Self::new(Outcome::Fail, "")
    }
}

/// What is judged: a pool's scale set at one instant.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) view: &'a ClusterView,
    pub(crate) settings: &'a Settings,
    pub(crate) set: &'a ScaleSet,
    /// When a write of the scale set succeeded last.
    pub(crate) success: Option<Timestamp>,
    pub(crate) now: Timestamp,
}

impl<'a> Subject<'a> {
    /// The direct checks of a signature.
    pub(crate) fn check(self, signature: &Signature) -> Vec<Sign> {
        let one = |check: &Check| match check {
            Check::EmptyAddresses => self.empty_addresses(),
            Check::FailedInstances => self.failed_instances(signature),
            Check::AcceleratedNetworkingOff { pool_tag } => self.not_accelerated(pool_tag),
        };
        signature.checks.iter().map(one).collect()
    }

    fn instances(self) -> Result<&'a [Instance], String> {
        let instances = known(self.view.instances.get(&self.set.name))?;
        Ok(instances)
    }

    fn empty_addresses(self) -> Sign {
        let nics: &[Nic] = match known(self.view.nics.get(&self.set.name)) {
            Ok(nics) => nics,
            Err(why) => return Sign::new(Outcome::Unknown, format!("network interfaces {why}")),
        };
        let of = |wanted: fn(&Nic) -> bool| nics.iter().filter(move |nic| wanted(nic));
        let empty = |nic: &Nic| nic.addresses == Addresses::Empty;
        let unsaid = |nic: &Nic| nic.addresses == Addresses::Unsaid;
        let said = nics.len() - of(unsaid).count();
        let ages: Vec<Age> = of(empty).map(|nic| self.age_of(nic)).collect();
        let count = |wanted: Age| ages.iter().filter(|age| **age == wanted).count();
        let dwell = counted(self.settings.limits.registration.as_mins(), "minute");
        let all = counted(said, "network interface");
        if count(Age::Settled) > 0 {
            let settled = count(Age::Settled);
            let text =
                format!("{settled} of {all} without an address on instances older than {dwell}");
            Sign::new(Outcome::Pass, text)
        } else if count(Age::Unknown) > 0 {
            let text =
                format!("{} of {all} without an address, for how long is not known", ages.len());
            Sign::new(Outcome::Unknown, text)
        } else if said == 0 && of(unsaid).any(|nic| self.age_of(nic) == Age::Settled) {
            let text =
                format!("{} with no list of addresses", counted(nics.len(), "network interface"));
            Sign::new(Outcome::Unknown, text)
        } else if ages.is_empty() {
            Sign::none()
        } else {
            let text = format!(
                "{} of {all} without an address, none on an instance that is older than {dwell} and newer than the last \
                 write that succeeded",
                ages.len()
            );
            Sign::new(Outcome::Fail, text)
        }
    }

    fn age_of(self, nic: &Nic) -> Age {
        let Ok(instances) = self.instances() else { return Age::Unknown };
        let id = nic.instance.as_deref().unwrap_or_default();
        let instance = instances.iter().find(|instance| instance.id.eq_ignore_ascii_case(id));
        self.age(instance.and_then(|instance| instance.created))
    }

    /// How old something is that was made at this time.
    fn age(self, made: Option<Timestamp>) -> Age {
        let dwell: SignedDuration = self.settings.limits.registration;
        match made {
            None => Age::Unknown,
            Some(made) if self.success.is_some_and(|success| made <= success) => Age::Outlived,
            Some(made) if self.now.duration_since(made) < dwell => Age::Young,
            Some(_) => Age::Settled,
        }
    }

    fn failed_instances(self, signature: &Signature) -> Sign {
        let instances = match self.instances() {
            Ok(instances) => instances,
            Err(why) => return Sign::new(Outcome::Unknown, format!("instances {why}")),
        };
        let failed = |instance: &Instance| {
            let status = instance.statuses.iter().find(|status| {
                let matches = |code: &str| {
                    signature.matches(&[code.to_owned()], std::slice::from_ref(&status.message))
                };
                status.failure().is_some_and(matches)
            })?;
            Some(status.at.or(instance.created))
        };
        let times: Vec<Option<Timestamp>> = instances.iter().filter_map(failed).collect();
        let count = |wanted: Age| times.iter().filter(|at| self.age(**at) == wanted).count();
        let newest = latest_suffix(times.iter().flatten().max().copied(), self.now);
        let text = |count: usize| {
            format!("{} failed with {}{newest}", counted(count, "instance"), signature.label())
        };
        match (count(Age::Settled), count(Age::Unknown), count(Age::Young)) {
            (0, 0, 0) => Sign::none(),
            (0, 0, young) => Sign::new(Outcome::Fail, text(young)),
            (0, unknown, _) => Sign::new(Outcome::Unknown, text(unknown)),
            (settled, ..) => Sign::new(Outcome::Pass, text(settled)),
        }
    }

    fn not_accelerated(self, tag: &str) -> Sign {
        let pool = match target(self.view, &self.settings.target.pool) {
            Ok(pool) => pool,
            Err(why) => return Sign::new(Outcome::Unknown, format!("pools {why}")),
        };
        let needs = pool
            .and_then(|pool| pool.tag(tag))
            .is_some_and(|value| value.trim().eq_ignore_ascii_case("true"));
        match (needs, self.set.accelerated) {
            (false, _) | (true, Some(true)) => Sign::none(),
            (true, Some(false)) => Sign::new(
                Outcome::Pass,
                format!("accelerated networking is off although tag {tag} needs it"),
            ),
            (true, None) => Sign::new(Outcome::Unknown, "accelerated networking is not stated"),
        }
    }
}

/// How much the age of an instance lets it show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Age {
    /// It may still be on its way.
    Young,
    /// It had its time.
    Settled,
    /// A write succeeded since: it shows how things were.
    Outlived,
    Unknown,
}

//! Live state that shows a wedge, equal to failed writes.
//!
//! State from before the last successful write does not count, nor do values that Azure does not return.

use jiff::{SignedDuration, Timestamp};
use mooring_workflow::Outcome;

use crate::checks::text::{known, latest_suffix, target};
use crate::observation::{Addresses, ClusterView, Instance, Nic, ScaleSet};
use crate::settings::Settings;
use crate::signatures::{Signature, SignatureCheck};
use mooring_workflow::plural::counted;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sign {
    pub(crate) outcome: Outcome,
    pub(crate) text: String,
}

impl Sign {
    pub(in crate::checks) fn new(outcome: Outcome, text: impl Into<String>) -> Self {
        Self { outcome, text: text.into() }
    }

    /// Returns a direct sign that the settings exclude.
    pub(in crate::checks) fn excluded(mut self) -> Self {
        if self.outcome == Outcome::Pass {
            self.text.push_str(" (does not count: --signs writes)");
        }
        Self { outcome: Outcome::Fail, ..self }
    }

    fn none() -> Self {
        Self::new(Outcome::Fail, "")
    }
}

/// A pool's scale set at one instant.
#[derive(Clone, Copy)]
pub(crate) struct WedgeSubject<'a> {
    pub(crate) view: &'a ClusterView,
    pub(crate) settings: &'a Settings,
    pub(crate) set: &'a ScaleSet,
    /// Last successful write.
    pub(crate) success: Option<Timestamp>,
    pub(crate) now: Timestamp,
}

impl<'a> WedgeSubject<'a> {
    /// Evaluates the direct checks of a signature.
    pub(crate) fn check(self, signature: &Signature) -> Vec<Sign> {
        let one = |check: &SignatureCheck| match check {
            SignatureCheck::EmptyAddresses => self.empty_addresses(),
            SignatureCheck::FailedInstances => self.failed_instances(signature),
            SignatureCheck::AcceleratedNetworkingOff { pool_tag } => self.not_accelerated(pool_tag),
        };
        signature.checks.iter().map(one).collect()
    }

    fn instances(self) -> Result<&'a [Instance], String> {
        known(self.view.instances.get(&self.set.name)).map(Vec::as_slice)
    }

    fn empty_addresses(self) -> Sign {
        let nics: &[Nic] = match known(self.view.nics.get(&self.set.name)) {
            Ok(nics) => nics,
            Err(why) => return Sign::new(Outcome::Unknown, format!("network interfaces {why}")),
        };
        let of = |wanted: fn(&Nic) -> bool| nics.iter().filter(move |nic| wanted(nic));
        let empty = |nic: &Nic| nic.addresses == Addresses::Empty;
        let unknown = |nic: &Nic| nic.addresses == Addresses::Unknown;
        let reported = nics.len() - of(unknown).count();
        let ages: Vec<Age> = of(empty).map(|nic| self.age_of(nic)).collect();
        let count = |wanted: Age| ages.iter().filter(|age| **age == wanted).count();
        let dwell = format!("{}m", self.settings.limits.registration.as_mins());
        let all = counted(reported, "network interface");
        if count(Age::Settled) > 0 {
            let settled = count(Age::Settled);
            let text =
                format!("{settled} of {all} without an IP address on VMs older than {dwell}");
            Sign::new(Outcome::Pass, text)
        } else if count(Age::Unknown) > 0 {
            let text = format!("{} of {all} without an IP address, age unknown", ages.len());
            Sign::new(Outcome::Unknown, text)
        } else if reported == 0 && of(unknown).any(|nic| self.age_of(nic) == Age::Settled) {
            let text =
                format!("{} without ipConfigurations", counted(nics.len(), "network interface"));
            Sign::new(Outcome::Unknown, text)
        } else if ages.is_empty() {
            Sign::none()
        } else {
            let text = format!(
                "{} of {all} without an IP address, none on a VM that is older than {dwell} and newer than the last \
                 successful write",
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

    fn age(self, created: Option<Timestamp>) -> Age {
        let dwell: SignedDuration = self.settings.limits.registration;
        match created {
            None => Age::Unknown,
            Some(created) if self.success.is_some_and(|success| created <= success) => {
                Age::Outlived
            }
            Some(created) if self.now.duration_since(created) < dwell => Age::Young,
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
            format!("{} failed with {}{newest}", counted(count, "VM"), signature.label())
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
                format!("accelerated networking is off although tag {tag} requires it"),
            ),
            (true, None) => {
                Sign::new(Outcome::Unknown, "the state of accelerated networking is unknown")
            }
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

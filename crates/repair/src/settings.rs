//! Target, thresholds, policies and limits of a repair.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use jiff::{SignedDuration, Timestamp};
use mooring_workflow::store::NAMESPACE;
use serde::{Deserialize, Serialize};

use crate::names::PDB;
use crate::signatures::Signatures;

/// Maximum recreations of a pool within [`BREAKER_PERIOD`].
pub(crate) const MAX_RECREATIONS: usize = 2;
pub(crate) const BREAKER_PERIOD: SignedDuration = SignedDuration::from_hours(24);

/// Kubernetes version of the recreated pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VersionPolicy {
    /// Version of the current nodes: a repair is not an upgrade.
    #[default]
    Keep,
    ControlPlane,
}

impl VersionPolicy {
    /// Returns the value of `--kubernetes-version`.
    pub fn flag(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::ControlPlane => "control-plane",
        }
    }
}

/// What shows that writes keep failing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SignPolicy {
    /// Enough failed writes, or live state that shows the same.
    #[default]
    Direct,
    /// Enough failed writes only.
    Writes,
}

impl SignPolicy {
    /// Returns the value of `--signs`.
    pub fn flag(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Writes => "writes",
        }
    }
}

/// Policy for PDBs that block the eviction of a pod.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BudgetPolicy {
    /// Wait until the drain timeout, then stop; the run can be resumed.
    #[default]
    Wait,
    /// Stop as soon as a PDB blocks.
    Stop,
    /// Wait, then delete the pod, for the recorded reason.
    Override(String),
}

/// Timeouts. A run that exceeds one can be resumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    pub overall: SignedDuration,
    /// Minimum age of an operation that is aborted.
    pub operation_age: SignedDuration,
    /// Time for an instance to register as a node.
    pub registration: SignedDuration,
    /// Wait for a final state of the cluster.
    pub settle: SignedDuration,
    /// Wait for a pool operation and its nodes.
    pub pool: SignedDuration,
    pub drain: SignedDuration,
    /// Wait for evicted pods to run on other nodes.
    pub placement: SignedDuration,
    pub poll: SignedDuration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            overall: SignedDuration::from_mins(60),
            operation_age: SignedDuration::from_mins(30),
            registration: SignedDuration::from_mins(10),
            settle: SignedDuration::from_mins(30),
            pool: SignedDuration::from_mins(20),
            drain: SignedDuration::from_mins(15),
            placement: SignedDuration::from_mins(10),
            poll: SignedDuration::from_secs(3),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolTarget {
    pub subscription: String,
    pub resource_group: String,
    pub cluster: String,
    pub pool: String,
}

/// Settings of a run, recorded at its start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    pub target: PoolTarget,
    /// Failed writes required to report a wedge.
    pub fail_threshold: u32,
    pub fail_window: SignedDuration,
    pub signs: SignPolicy,
    pub signatures: Signatures,
    /// Pool states that count as wedged.
    pub wedge_states: Vec<String>,
    pub version: VersionPolicy,
    pub budgets: BudgetPolicy,
    /// Overridden checks with reasons.
    pub overrides: BTreeMap<String, String>,
    pub limits: Limits,
    /// Namespace of the journal.
    pub journal: String,
}

/// Minutes between the retries of AKS, about.
const RETRY_MINUTES: i64 = 3;
/// Five failures take at least 12 minutes.
const FAIL_THRESHOLD: u32 = 5;
const FAIL_WINDOW: SignedDuration = SignedDuration::from_mins(360);

impl Settings {
    /// Returns the defaults for a target.
    #[must_use]
    pub fn new(target: PoolTarget) -> Self {
        Self {
            target,
            fail_threshold: FAIL_THRESHOLD,
            fail_window: FAIL_WINDOW,
            signs: SignPolicy::default(),
            signatures: Signatures::default(),
            wedge_states: vec!["Failed".to_owned()],
            version: VersionPolicy::default(),
            budgets: BudgetPolicy::default(),
            overrides: BTreeMap::new(),
            limits: Limits::default(),
            journal: NAMESPACE.to_owned(),
        }
    }

    /// Returns the settings for a pool whose operation was aborted at `first`: it is Canceled instead of Failed, and earlier
    /// failures must stay in the window because the service does not retry.
    #[must_use]
    pub(crate) fn after_abort(mut self, first: Timestamp, now: Timestamp) -> Self {
        if !self.wedge_states.iter().any(|state| state == "Canceled") {
            self.wedge_states.push("Canceled".to_owned());
        }
        let since = now.duration_since(first).max(SignedDuration::ZERO);
        self.fail_window = self.fail_window.checked_add(since).unwrap_or(SignedDuration::MAX);
        self
    }

    /// Returns the settings that a plan hash covers: all except the journal, the deadline and the polling interval. Names are in
    /// lower case, since Azure ignores case.
    #[must_use]
    pub fn bound(&self) -> Self {
        let mut bound = self.clone();
        let target = &mut bound.target;
        for name in [&mut target.subscription, &mut target.resource_group, &mut target.cluster] {
            name.make_ascii_lowercase();
        }
        NAMESPACE.clone_into(&mut bound.journal);
        bound.limits.overall = Limits::default().overall;
        bound.limits.poll = Limits::default().poll;
        bound
    }

    /// Sets what shows that writes keep failing. A number that is set is a lower bound, so live state does not count unless
    /// the signs allow it.
    pub fn set_detection(
        &mut self,
        threshold: Option<NonZeroU32>,
        window_minutes: Option<NonZeroU32>,
        signs: Option<SignPolicy>,
    ) {
        if let Some(number) = threshold {
            self.fail_threshold = number.get();
        }
        if let Some(minutes) = window_minutes {
            self.fail_window = SignedDuration::from_mins(minutes.get().into());
        }
        let is_bound = threshold.or(window_minutes).is_some();
        let usual = if is_bound { SignPolicy::Writes } else { SignPolicy::default() };
        self.signs = signs.unwrap_or(usual);
    }

    /// Returns the reason if AKS does not retry often enough for the threshold.
    pub fn unreachable_threshold(&self) -> Option<String> {
        let (threshold, minutes) = (self.fail_threshold, self.fail_window.as_mins());
        let most = minutes / RETRY_MINUTES + 1;
        (i64::from(threshold) > most).then(|| {
            format!(
                "{threshold} failed writes within {minutes} minutes cannot be reached: AKS retries about every {RETRY_MINUTES} minutes, so at most {most} fail in that time"
            )
        })
    }

    /// Adds an override that was validated.
    pub(crate) fn apply_override(&mut self, check: &str, reason: &str) {
        if check == PDB {
            self.budgets = BudgetPolicy::Override(reason.to_owned());
        }
        self.overrides.insert(check.to_owned(), reason.to_owned());
    }

    /// Adds a state of `--wedge-states`.
    pub fn add_wedge_state(&mut self, state: &str) -> Result<(), String> {
        if !matches!(state, "Canceled" | "Failed" | "Updating" | "Upgrading") {
            let state = mooring_redact::identifier(state);
            return Err(format!(
                "'{state}' cannot be a wedge state; Canceled, Failed, Updating and Upgrading can"
            ));
        }
        if !self.wedge_states.iter().any(|known| known == state) {
            self.wedge_states.push(state.to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(
        threshold: Option<u32>,
        window_minutes: Option<u32>,
        signs: Option<SignPolicy>,
    ) -> Settings {
        let mut settings = Settings::new(crate::common::target("system"));
        let number = |number: Option<u32>| number.map(|number| NonZeroU32::new(number).unwrap());
        settings.set_detection(number(threshold), number(window_minutes), signs);
        settings
    }

    #[test]
    fn other_settings_have_defaults() {
        let settings = with(None, None, None);
        assert_eq!(settings.fail_threshold, 5);
        assert_eq!(settings.fail_window, SignedDuration::from_mins(360));
        assert_eq!(settings.wedge_states, ["Failed"]);
        assert_eq!(settings.limits.overall, SignedDuration::from_mins(60));
    }

    #[test]
    fn number_that_is_set_excludes_direct_signs_unless_they_are_allowed() {
        let (direct, writes) = (SignPolicy::Direct, SignPolicy::Writes);
        for (threshold, window, signs, expected) in [
            (None, None, None, direct),
            (Some(5), None, None, writes),
            (None, Some(360), None, writes),
            (None, None, Some(writes), writes),
            (Some(5), Some(360), Some(direct), direct),
        ] {
            let settings = with(threshold, window, signs);
            assert_eq!(settings.signs, expected, "{threshold:?} {window:?} {signs:?}");
        }
        let own = with(Some(25), Some(30), None);
        assert_eq!((own.fail_threshold, own.fail_window), (25, SignedDuration::from_mins(30)));
    }

    #[test]
    fn threshold_is_reachable_by_retries_within_the_window() {
        let reached =
            |threshold, minutes| with(Some(threshold), Some(minutes), None).unreachable_threshold();
        assert_eq!([reached(6, 15), reached(10, 360), reached(1, 1)], [None, None, None]);
        let expected = "10 failed writes within 15 minutes cannot be reached: AKS retries about every 3 minutes, so at most 6 fail in that time";
        assert_eq!(reached(10, 15).as_deref(), Some(expected));
    }

    #[test]
    fn wedge_states_are_unique_and_validated() {
        let mut settings = with(None, None, None);
        for state in ["Canceled", "Failed", "Updating", "Upgrading", "Updating"] {
            settings.add_wedge_state(state).unwrap();
        }
        assert_eq!(settings.wedge_states, ["Failed", "Canceled", "Updating", "Upgrading"]);
        assert!(
            settings.add_wedge_state("Succeeded").unwrap_err().starts_with("'Succeeded' cannot")
        );
    }
}

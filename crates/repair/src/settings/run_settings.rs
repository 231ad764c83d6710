use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::error::SettingsError;
use super::policy::{BudgetPolicy, Limits, SignPolicy, VersionPolicy};
use crate::check_ids::{PDB, current_name};
use crate::signatures::Signatures;
use mooring_workflow::store::JournalPlace;

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
    /// Left out if default, so that plans of earlier builds keep their hash.
    #[serde(default, skip_serializing_if = "is_default")]
    pub signs: SignPolicy,
    #[serde(default)]
    pub signatures: Signatures,
    /// Pool states that count as wedged.
    pub wedge_states: Vec<String>,
    pub version: VersionPolicy,
    pub budgets: BudgetPolicy,
    /// Overridden checks with reasons.
    pub overrides: BTreeMap<String, String>,
    pub limits: Limits,
    #[serde(default)]
    pub journal: JournalPlace,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
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
            journal: JournalPlace::default(),
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
        bound.journal = JournalPlace::default();
        bound.limits.overall = Limits::default().overall;
        bound.limits.poll = Limits::default().poll;
        bound
    }

    /// Reads the settings of a pipeline step from environment variables.
    pub fn from_env(env: impl Fn(&str) -> Option<String>) -> Result<Self, SettingsError> {
        let required = |name: &'static str| {
            env(name)
                .map(|value| value.trim().to_owned())
                .filter(|value| !value.is_empty())
                .ok_or(SettingsError::Missing(name))
        };
        // The order determines which missing variable is reported.
        let cluster = required("CLUSTER_NAME")?;
        let resource_group = required("RESOURCE_GROUP")?;
        let subscription = required("SUBSCRIPTION_ID")?;
        let target =
            PoolTarget { subscription, resource_group, cluster, pool: "system".to_owned() };
        let mut settings = Self::new(target);
        // A number that is set is a lower bound.
        if let Some(number) = positive("NRP_FAIL_THRESHOLD", &env)? {
            settings.fail_threshold = number;
            settings.signs = SignPolicy::Writes;
        }
        if let Some(number) = positive("NRP_FAIL_WINDOW_MIN", &env)? {
            settings.fail_window = SignedDuration::from_mins(i64::from(number));
            settings.signs = SignPolicy::Writes;
        }
        match env("MOORING_SIGNS").as_deref().map(str::trim) {
            None | Some("") => {}
            Some("direct") => settings.signs = SignPolicy::Direct,
            Some("writes") => settings.signs = SignPolicy::Writes,
            Some(other) => return Err(SettingsError::Signs(mooring_redact::identifier(other))),
        }
        Ok(settings)
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
        let check = current_name(check);
        if check == PDB {
            self.budgets = BudgetPolicy::Override(reason.to_owned());
        }
        self.overrides.insert(check.to_owned(), reason.to_owned());
    }

    /// Returns the same settings with the current names of checks.
    #[must_use]
    pub(crate) fn with_current_names(&self) -> Self {
        let mut settings = Self { overrides: BTreeMap::new(), ..self.clone() };
        for (check, reason) in &self.overrides {
            settings.apply_override(check, reason);
        }
        settings
    }

    /// Adds a state of `--wedge-states`.
    pub fn add_wedge_state(&mut self, state: &str) -> Result<(), SettingsError> {
        if !matches!(state, "Canceled" | "Failed" | "Updating" | "Upgrading") {
            return Err(SettingsError::WedgeState(mooring_redact::identifier(state)));
        }
        if !self.wedge_states.iter().any(|known| known == state) {
            self.wedge_states.push(state.to_owned());
        }
        Ok(())
    }
}

fn positive(
    name: &'static str,
    env: impl Fn(&str) -> Option<String>,
) -> Result<Option<u32>, SettingsError> {
    match env(name) {
        None => Ok(None),
        Some(value) if value.trim().is_empty() => Ok(None),
        Some(value) => match value.trim().parse() {
            Ok(number) if number > 0 => Ok(Some(number)),
            _ => Err(SettingsError::Number { name, value: mooring_redact::identifier(&value) }),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(pairs: &[(&str, &str)]) -> Result<Settings, SettingsError> {
        let mut all =
            vec![("CLUSTER_NAME", "c"), ("RESOURCE_GROUP", "g"), ("SUBSCRIPTION_ID", "s")];
        all.extend_from_slice(pairs);
        Settings::from_env(|name| {
            all.iter().rev().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn other_settings_have_defaults() {
        let settings = from(&[]).unwrap();
        assert_eq!(settings.fail_threshold, 5);
        assert_eq!(settings.fail_window, SignedDuration::from_mins(360));
        assert_eq!(settings.target.pool, "system");
        assert_eq!(
            (
                settings.target.cluster.as_str(),
                settings.target.resource_group.as_str(),
                settings.target.subscription.as_str()
            ),
            ("c", "g", "s")
        );
        assert_eq!(settings.wedge_states, ["Failed"]);
        assert_eq!(settings.limits.overall, SignedDuration::from_mins(60));
    }

    #[test]
    fn missing_variable_is_named() {
        for name in ["CLUSTER_NAME", "RESOURCE_GROUP", "SUBSCRIPTION_ID"] {
            let error = from(&[(name, " ")]).unwrap_err();
            assert_eq!(error, SettingsError::Missing(name));
            assert!(error.to_string().contains(name));
        }
        assert_eq!(
            Settings::from_env(|_| None).unwrap_err(),
            SettingsError::Missing("CLUSTER_NAME")
        );
    }

    #[test]
    fn thresholds_are_whole_numbers_above_zero() {
        let settings =
            from(&[("NRP_FAIL_THRESHOLD", "25"), ("NRP_FAIL_WINDOW_MIN", "30")]).unwrap();
        assert_eq!(settings.fail_threshold, 25);
        assert_eq!(settings.fail_window, SignedDuration::from_mins(30));
        assert_eq!(from(&[("NRP_FAIL_THRESHOLD", "1")]).unwrap().fail_threshold, 1);
        assert_eq!(from(&[("NRP_FAIL_THRESHOLD", "")]).unwrap().fail_threshold, 5);
        for name in ["NRP_FAIL_THRESHOLD", "NRP_FAIL_WINDOW_MIN"] {
            for value in ["abc", "xyz", "0", "-5", "-1", "1.5"] {
                let error = from(&[(name, value)]).unwrap_err();
                assert!(error.to_string().contains(name), "{error}");
                assert!(error.to_string().contains(value), "{error}");
            }
        }
    }

    #[test]
    fn number_that_is_set_excludes_direct_signs_unless_they_are_allowed() {
        let (threshold, window) = (("NRP_FAIL_THRESHOLD", "5"), ("NRP_FAIL_WINDOW_MIN", "360"));
        let direct = ("MOORING_SIGNS", " direct ");
        for (set, expected) in [
            (&[][..], SignPolicy::Direct),
            (&[("NRP_FAIL_THRESHOLD", "")], SignPolicy::Direct),
            (&[threshold], SignPolicy::Writes),
            (&[window], SignPolicy::Writes),
            (&[("MOORING_SIGNS", "writes")], SignPolicy::Writes),
            (&[threshold, window, direct], SignPolicy::Direct),
        ] {
            assert_eq!(from(set).unwrap().signs, expected, "{set:?}");
        }
        let error = from(&[("MOORING_SIGNS", "any")]).unwrap_err().to_string();
        assert_eq!(error, "MOORING_SIGNS (--signs) must be direct or writes, not 'any'");
    }

    #[test]
    fn default_signs_do_not_change_the_hash_of_a_plan() {
        let recorded = |set: &[_]| serde_json::to_value(from(set).unwrap()).unwrap();
        assert_eq!(recorded(&[]).get("signs"), None);
        assert_eq!(recorded(&[("MOORING_SIGNS", "writes")])["signs"], "writes");
    }

    #[test]
    fn threshold_is_reachable_by_retries_within_the_window() {
        let reached = |threshold, minutes| {
            let pairs = [("NRP_FAIL_THRESHOLD", threshold), ("NRP_FAIL_WINDOW_MIN", minutes)];
            from(&pairs).unwrap().unreachable_threshold()
        };
        assert_eq!(
            [reached("6", "15"), reached("10", "360"), reached("1", "1")],
            [None, None, None]
        );
        let expected = "10 failed writes within 15 minutes cannot be reached: AKS retries about every 3 minutes, so at most 6 fail in that time";
        assert_eq!(reached("10", "15").as_deref(), Some(expected));
    }

    #[test]
    fn wedge_states_are_unique_and_validated() {
        let mut settings = from(&[]).unwrap();
        for state in ["Canceled", "Failed", "Updating", "Upgrading", "Updating"] {
            settings.add_wedge_state(state).unwrap();
        }
        assert_eq!(settings.wedge_states, ["Failed", "Canceled", "Updating", "Upgrading"]);
        assert_eq!(
            settings.add_wedge_state("Succeeded"),
            Err(SettingsError::WedgeState("Succeeded".into()))
        );
    }
}

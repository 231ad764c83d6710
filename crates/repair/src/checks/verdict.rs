//! The verdict of `detect`.

use mooring_workflow::{CheckResult, Outcome};
use serde::Serialize;

use crate::names::{CLUSTER_STATE, FAILING_WRITES, MISSING_NODES, POOL_STATE};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WedgeVerdict {
    /// No sign of a wedge.
    Healthy,
    Suspect,
    /// All five checks pass.
    Confirmed,
    /// Depends on unknown checks.
    Unknown,
}

impl WedgeVerdict {
    /// Returns the position in reports: pools that need attention come first.
    pub fn rank(self) -> u8 {
        match self {
            Self::Confirmed => 0,
            Self::Suspect => 1,
            Self::Unknown => 2,
            Self::Healthy => 3,
        }
    }

    /// Returns the verdict of several pools; unknown without any.
    pub fn worst(verdicts: impl IntoIterator<Item = Self>) -> Self {
        verdicts.into_iter().min_by_key(|verdict| verdict.rank()).unwrap_or(Self::Unknown)
    }

    /// Returns 0 for healthy, 1 for suspect or confirmed, 3 for unknown.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Healthy => 0,
            Self::Suspect | Self::Confirmed => 1,
            Self::Unknown => 3,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Detection {
    pub verdict: WedgeVerdict,
    #[serde(rename = "signs", serialize_with = "crate::documents::signs")]
    pub checks: Vec<CheckResult>,
}

impl Detection {
    /// Returns false if the state of the cluster does not allow a repair.
    pub fn cluster_allows(&self) -> bool {
        !self
            .checks
            .iter()
            .any(|check| check.name == CLUSTER_STATE && check.outcome == Outcome::Fail)
    }
}

/// Checks that are signs of a wedge.
pub(crate) const SIGNS: [&str; 3] = [MISSING_NODES, FAILING_WRITES, POOL_STATE];

/// Returns the verdict that holds regardless of unknown checks; *unknown* if it depends on them. Overrides do not count.
pub fn verdict(checks: &[CheckResult]) -> WedgeVerdict {
    let is_sign = |check: &&CheckResult| SIGNS.contains(&check.name.as_str());
    let is = |outcome| move |check: &CheckResult| check.outcome == outcome;
    let sign_passes = checks.iter().filter(is_sign).any(is(Outcome::Pass));
    let sign_unknown = checks.iter().filter(is_sign).any(is(Outcome::Unknown));
    let any_fails = checks.iter().any(is(Outcome::Fail));
    let all_pass = !checks.is_empty() && checks.iter().all(is(Outcome::Pass));
    if all_pass {
        WedgeVerdict::Confirmed
    } else if sign_passes && any_fails {
        WedgeVerdict::Suspect
    } else if sign_passes || sign_unknown || checks.is_empty() {
        WedgeVerdict::Unknown
    } else {
        WedgeVerdict::Healthy
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::OTHER_POOLS;
    use Outcome::{Fail, Pass, Unknown};

    fn of(outcomes: [Outcome; 5]) -> WedgeVerdict {
        let names = [MISSING_NODES, FAILING_WRITES, CLUSTER_STATE, OTHER_POOLS, POOL_STATE];
        let checks: Vec<_> = names
            .iter()
            .zip(outcomes)
            .map(|(name, outcome)| CheckResult::new(name, outcome, ""))
            .collect();
        verdict(&checks)
    }

    /// Tries all values of unknown checks.
    fn by_enumeration(outcomes: [Outcome; 5]) -> WedgeVerdict {
        let unknown: Vec<usize> = (0..5).filter(|i| outcomes[*i] == Unknown).collect();
        let mut found = Vec::new();
        for bits in 0..1_u32 << unknown.len() {
            let mut tried = outcomes;
            for (bit, index) in unknown.iter().enumerate() {
                tried[*index] = if bits >> bit & 1 == 1 { Pass } else { Fail };
            }
            let signs = [tried[0], tried[1], tried[4]];
            found.push(if tried == [Pass; 5] {
                WedgeVerdict::Confirmed
            } else if signs.contains(&Pass) {
                WedgeVerdict::Suspect
            } else {
                WedgeVerdict::Healthy
            });
        }
        if found.iter().all(|verdict| *verdict == found[0]) {
            found[0]
        } else {
            WedgeVerdict::Unknown
        }
    }

    #[test]
    fn verdict_holds_for_all_values_of_unknown_checks() {
        let all = [Pass, Fail, Unknown];
        for index in 0..243_usize {
            let outcomes = [0, 1, 2, 3, 4].map(|place| all[index / 3_usize.pow(place) % 3]);
            assert_eq!(of(outcomes), by_enumeration(outcomes), "{outcomes:?}");
        }
        assert_eq!(verdict(&[]), WedgeVerdict::Unknown);
    }

    #[test]
    fn worst_verdict_is_that_of_the_cluster() {
        use WedgeVerdict::{Confirmed, Healthy, Suspect};
        assert_eq!(
            WedgeVerdict::worst([Healthy, WedgeVerdict::Unknown, Confirmed, Suspect]),
            Confirmed
        );
        assert_eq!(WedgeVerdict::worst([Healthy, WedgeVerdict::Unknown, Suspect]), Suspect);
        assert_eq!(WedgeVerdict::worst([Healthy, WedgeVerdict::Unknown]), WedgeVerdict::Unknown);
        assert_eq!(WedgeVerdict::worst([Healthy, Healthy]), Healthy);
        assert_eq!(WedgeVerdict::worst([]), WedgeVerdict::Unknown);
        let codes =
            [Confirmed, Suspect, Healthy, WedgeVerdict::Unknown].map(WedgeVerdict::exit_code);
        assert_eq!(codes, [1, 1, 0, 3]);
    }

    #[test]
    fn cluster_forbids_a_repair_only_by_its_state() {
        let of = |name: &str, outcome| Detection {
            verdict: WedgeVerdict::Unknown,
            checks: vec![
                CheckResult::new("other-pools", Pass, ""),
                CheckResult::new(name, outcome, ""),
            ],
        };
        assert!(!of("cluster-state", Fail).cluster_allows());
        assert!(of("cluster-state", Unknown).cluster_allows());
        assert!(of("cluster-state", Pass).cluster_allows());
        assert!(of("pool-state", Fail).cluster_allows());
    }

    #[test]
    fn override_allows_a_run_and_keeps_the_verdict() {
        let mut check = CheckResult::new("pool-state", Fail, "");
        assert!(!check.allows_run());
        check.overridden = Some("ticket".into());
        assert!(check.allows_run());
        assert_eq!(verdict(&[check]), WedgeVerdict::Healthy);
        assert!(CheckResult::new("pool-state", Pass, "").allows_run());
        assert!(!CheckResult::new("pool-state", Unknown, "").allows_run());
    }
}

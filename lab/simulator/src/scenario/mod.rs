//! Scenarios: initial states of a simulation, as data.

mod build;

use serde::Deserialize;
use serde_json::Value;

use crate::azure::{
    ActionDenial, Assignment, Correlation, Cse, DenyAssignment, Lock, ProvisionMode, RateLimits,
};
use crate::faults::FaultRule;
use crate::karpenter;

/// An initial state. Absent members are as in a healthy cluster.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Scenario {
    pub description: String,
    /// The default is `system` with three nodes and `user` with two.
    pub pools: Vec<PoolSettings>,
    pub vms: Vec<Vms>,
    pub wedge: Option<WedgeSettings>,
    /// An update of the cluster that never ends.
    pub cluster_update: Option<ClusterUpdate>,
    pub pool_bootstrap: Option<Cse>,
    /// Delay until the activity log shows an entry; the default is 3 to 20 minutes, out of order.
    pub ingestion_delay_seconds: Option<u64>,
    pub vcpu_quota: Option<i64>,
    pub limits: Option<RateLimits>,
    pub faults: Vec<FaultRule>,
    /// PEM of a certificate with which the application may sign in, besides its secret.
    pub client_certificate: Option<String>,
    /// Roles of the application that signs in, which has no others, and is no administrator of the cluster. It owns the
    /// subscription by default.
    pub assignments: Option<Vec<Assignment>>,
    /// Actions removed from the roles of principals.
    pub denials: Vec<ActionDenial>,
    pub deny_assignments: Vec<DenyAssignment>,
    pub locks: Vec<Lock>,
    /// The pools are in a network that the cluster does not own.
    pub own_network: bool,
    pub karpenter: Option<karpenter::KarpenterOptions>,
    /// Further objects of the cluster, in the order of their creation.
    pub objects: Vec<Value>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PoolSettings {
    pub name: String,
    pub mode: String,
    pub nodes: u16,
    /// Autoscaler minimum and maximum; without them the autoscaler is off.
    pub min_count: Option<u16>,
    pub max_count: Option<u16>,
    #[serde(default = "size")]
    pub size: String,
    #[serde(default)]
    pub taints: Vec<String>,
}

/// VMs that differ only in their names.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Vms {
    pub names: Vec<String>,
    pub image_version: String,
    #[serde(default = "node_pool")]
    pub node_pool: String,
    #[serde(default = "size")]
    pub size: String,
    #[serde(default)]
    pub mode: ProvisionMode,
    #[serde(default)]
    pub age_minutes: u32,
    /// They still boot; otherwise their bootstrap has ended.
    #[serde(default)]
    pub boots: bool,
    #[serde(default)]
    pub bootstrap: Bootstrap,
}

fn size() -> String {
    "Standard_D4s_v5".to_owned()
}

fn node_pool() -> String {
    "default".to_owned()
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Bootstrap {
    #[default]
    Succeeds,
    /// It fails since the image has no oras.
    OrasMissing,
    Custom(Cse),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WedgeSettings {
    pub pool: String,
    /// Number of past failed writes, one every three minutes or so.
    #[serde(default)]
    pub failed_writes: u16,
    /// Number of the pool's nodes that never registered.
    #[serde(default)]
    pub unregistered_nodes: u16,
    /// Correlation of AKS's attempts.
    #[serde(default)]
    pub correlation: Correlation,
}

/// An update of the cluster that never ends by itself.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClusterUpdate {
    pub age_minutes: u32,
}

#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// No built-in scenario has this name.
    #[error("scenario `{0}` not found\nhint: use a built-in scenario ({1}) or the path of a file")]
    Unknown(String, String),
    #[error(
        "cannot parse scenario {file}: {why}\nhint: fix that line, or start from a built-in scenario"
    )]
    Invalid { file: String, why: String },
}

const BUILT_IN: [(&str, &str); 7] = [
    ("healthy", include_str!("../../scenarios/healthy.yaml")),
    ("oras-missing", include_str!("../../scenarios/oras-missing.yaml")),
    ("wedged-system-pool", include_str!("../../scenarios/wedged-system-pool.yaml")),
    ("throttled", include_str!("../../scenarios/throttled.yaml")),
    ("slow-boot", include_str!("../../scenarios/slow-boot.yaml")),
    ("young-operation", include_str!("../../scenarios/young-operation.yaml")),
    ("retired-operator", include_str!("../../scenarios/retired-operator.yaml")),
];

impl Scenario {
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    pub fn named(name: &str) -> Result<Self, ScenarioError> {
        Self::parse(name, Self::text_of(name)?)
    }

    /// Returns the YAML of a built-in scenario.
    pub fn text_of(name: &str) -> Result<&'static str, ScenarioError> {
        let found = BUILT_IN.iter().find(|(known, _)| *known == name);
        found.map(|(_, text)| *text).ok_or_else(|| {
            ScenarioError::Unknown(name.to_owned(), Self::names().collect::<Vec<_>>().join(", "))
        })
    }

    /// Parses a scenario; `file` names it in errors.
    pub fn parse(file: &str, text: &str) -> Result<Self, ScenarioError> {
        let invalid = |why: String| ScenarioError::Invalid { file: file.to_owned(), why };
        let scenario: Self =
            serde_saphyr::from_str(text).map_err(|error| invalid(error.to_string()))?;
        scenario.check().map_err(invalid)?;
        Ok(scenario)
    }

    /// Checks the rules that the format does not express.
    pub fn check(&self) -> Result<(), String> {
        let pools = self.pools_or_usual();
        if let Some(wedge) = &self.wedge {
            let pool = pools.iter().find(|pool| pool.name == wedge.pool);
            let pool = pool.ok_or_else(|| format!("wedge.pool names no pool: `{}`", wedge.pool))?;
            if wedge.unregistered_nodes > pool.nodes {
                return Err(format!(
                    "wedge.unregisteredNodes is more than the {} nodes of `{}`",
                    pool.nodes, pool.name
                ));
            }
        }
        if !pools.iter().any(|pool| pool.mode == "System") {
            return Err("pools has no pool of mode `System`".to_owned());
        }
        match pools.iter().find(|pool| !matches!(pool.mode.as_str(), "System" | "User")) {
            Some(pool) => {
                Err(format!("the mode of pool `{}` is neither `System` nor `User`", pool.name))
            }
            None => Ok(()),
        }
    }

    fn pools_or_usual(&self) -> Vec<PoolSettings> {
        if !self.pools.is_empty() {
            return self.pools.clone();
        }
        let pool =
            |name: &str, mode: &str, nodes, min_count: Option<u16>, taints: &[&str]| PoolSettings {
                name: name.to_owned(),
                mode: mode.to_owned(),
                nodes,
                min_count,
                max_count: min_count.map(|min| min * 2),
                size: size(),
                taints: taints.iter().map(ToString::to_string).collect(),
            };
        vec![
            pool("system", "System", 3, Some(3), &["CriticalAddonsOnly=true:NoSchedule"]),
            pool("user", "User", 2, None, &[]),
        ]
    }
}

#[cfg(test)]
mod document_tests {
    use super::*;

    #[test]
    fn built_in_scenarios_parse() {
        for name in Scenario::names() {
            let scenario = Scenario::named(name).unwrap();
            assert!(!scenario.description.is_empty(), "{name}");
        }
    }

    #[test]
    fn a_bad_scenario_names_file_line_and_next_step() {
        let error =
            Scenario::parse("my.yaml", "description: x\nvmz: []\n").unwrap_err().to_string();
        assert!(
            error.contains("my.yaml") && error.contains("vmz") && error.contains("line 2"),
            "{error}"
        );
        assert!(error.contains("hint:"), "{error}");
        let error = Scenario::parse("my.yaml", "wedge: {pool: nosuch}\n").unwrap_err().to_string();
        assert!(error.contains("nosuch"), "{error}");
        assert!(Scenario::named("nosuch").unwrap_err().to_string().contains("wedged-system-pool"));
    }
}

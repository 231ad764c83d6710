//! Comparison of a node config with an NBC command.
//!
//! While AKS moves nodes from NBC commands to node configs, a node may be given both. The NBC
//! command runs, and is compared with the variables of the config. The texts are an interface:
//! upstream end-to-end tests search for them in the log.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};

use super::nbc::Assignments;

/// Variables that only one side sets, or that may differ, by design.
const EXPECTED: [&str; 6] = [
    "BLOCK_OUTBOUND_NETWORK",
    "CLOUD_INIT_STATUS_SCRIPT",
    "HYPERKUBE_URL",
    "MCR_REPOSITORY_BASE",
    "REPO_DEPOT_ENDPOINT",
    "SKIP_WAAGENT_HOLD",
];

/// A variable whose lines may come in any order.
const SYSCTL_CONTENT: &str = "SYSCTL_CONTENT";

/// Accepts the same as Go's standard decoder: padding, with any bits after the last byte.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

/// A variable on which both sides do not agree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub name: String,
    pub kind: DifferenceKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DifferenceKind {
    OnlyInConfig,
    OnlyInNbc,
    Differs,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            DifferenceKind::OnlyInConfig => "only-in-pc",
            DifferenceKind::OnlyInNbc => "only-in-nbc",
            DifferenceKind::Differs => "differs",
        };
        write!(f, "{kind}: {}", self.name)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfigComparison {
    pub differences: Vec<Difference>,
}

impl ConfigComparison {
    pub fn log_message(&self) -> String {
        self.message(
            "env compare: no differences found between provision-config and nbc-cmd env vars",
        )
    }

    pub fn event_message(&self) -> String {
        self.message("env vars match between provision-config and nbc-cmd")
    }

    fn message(&self, if_equal: &str) -> String {
        if self.differences.is_empty() {
            return if_equal.to_owned();
        }
        let list: Vec<String> = self.differences.iter().map(Difference::to_string).collect();
        format!("env var differences ({}): {}", list.len(), list.join("; "))
    }
}

/// Compares what the config's child process would be given with what the NBC file assigns.
///
/// `config` is that child's whole environment, inherited variables included; those with the same
/// value in `inherited` do not count as set by the config.
pub fn compare<'a>(
    config: impl IntoIterator<Item = (&'a str, &'a str)>,
    inherited: impl IntoIterator<Item = (&'a str, &'a str)>,
    nbc: &Assignments,
) -> ConfigComparison {
    let inherited: BTreeMap<&str, &str> = inherited.into_iter().collect();
    let config: BTreeMap<&str, &str> =
        config.into_iter().filter(|(name, value)| inherited.get(name) != Some(value)).collect();

    let names: BTreeSet<&str> = config.keys().copied().chain(nbc.names()).collect();
    let differences = names
        .into_iter()
        .filter_map(|name| {
            let kind = difference(name, config.get(name).copied(), nbc.expose(name))?;
            Some(Difference { name: name.to_owned(), kind })
        })
        .collect();
    ConfigComparison { differences }
}

fn difference(name: &str, config: Option<&str>, nbc: Option<&[u8]>) -> Option<DifferenceKind> {
    match (config, nbc) {
        // Reported even where a difference is expected: upstream does, and tests rely on it.
        (Some(_), None) => Some(DifferenceKind::OnlyInConfig),
        _ if EXPECTED.contains(&name) => None,
        (None, Some(_)) => Some(DifferenceKind::OnlyInNbc),
        (Some(config), Some(nbc)) if !is_equal(name, config.as_bytes(), nbc) => {
            Some(DifferenceKind::Differs)
        }
        _ => None,
    }
}

fn is_equal(name: &str, config: &[u8], nbc: &[u8]) -> bool {
    if name == SYSCTL_CONTENT
        && let (Some(config), Some(nbc)) = (settings(config), settings(nbc))
    {
        return config == nbc;
    }
    // A shell eats quotes inside quotes, as in `PROXY_VARS="export NO_PROXY="a"; "`.
    let without_quotes = |value: &'_ [u8]| -> Vec<u8> {
        value.iter().copied().filter(|&byte| byte != b'"').collect()
    };
    config == nbc || without_quotes(config) == without_quotes(nbc)
}

/// The `key = value` lines of a base64 text. A later line with the same key replaces an earlier.
fn settings(encoded: &[u8]) -> Option<BTreeMap<String, String>> {
    // Go skips line ends in base64.
    let encoded: Vec<u8> =
        encoded.iter().copied().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    let decoded = BASE64.decode(encoded).ok()?;
    let text = String::from_utf8_lossy(&decoded);
    let pairs = text.split('\n').filter_map(|line| line.split_once('='));
    Some(pairs.map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned())).collect())
}

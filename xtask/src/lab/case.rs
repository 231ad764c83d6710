//! Cases, their observed results, and the comparison of both.

use std::fmt::Write as _;

use mooring_contract::custom_data::CustomDataForm;
use serde::Deserialize;

use crate::step::Failed;

/// The kubelet identity of the lab's nodes, and its tenant, as `node_services` knows them.
pub(super) const CLIENT: &str = "00000000-0000-4000-8000-00000000c1d0";
pub(super) const TENANT: &str = "00000000-0000-4000-8000-000000007e4a";

/// One node, from its first boot to its last.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    pub(super) name: String,
    #[serde(default)]
    format: CustomDataFormat,
    config: Option<String>,
    pub(super) registry: Option<String>,
    #[serde(default)]
    pub(super) prepare: String,
    #[serde(default)]
    pub(super) network: String,
    #[serde(default)]
    pub(super) work: String,
    pub(super) boots: Vec<Boot>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum CustomDataFormat {
    #[default]
    Boothook,
    CloudConfig,
    Script,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Boot {
    /// Interrupts the run in the middle.
    pub(super) interrupt: Option<Interrupt>,
    /// Shell command to run inside after the run.
    pub(super) inside: Option<String>,
    /// Shell to run when the node is off, with its root directory in `$ROOT`.
    #[serde(default)]
    pub(super) after: String,
    pub(super) expect: Observed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Interrupt {
    /// `systemctl poweroff`.
    Poweroff,
    /// Power loss.
    PowerCut,
    /// SIGKILL to the agent alone.
    KillAgent,
    /// SIGKILL to the agent and every process of its scripts.
    KillAll,
    /// `systemctl stop` of the agent's unit.
    StopUnit,
}

/// Expected or observed result of a boot; fields without a value are not compared.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Observed {
    /// The exit code in the launcher's closing line.
    pub(super) launcher: Option<i32>,
    /// The exit code of `provision-wait`.
    pub(super) wait: Option<i32>,
    /// The `ExitCode` that it printed.
    pub(super) report: Option<String>,
    /// The first word of `Diagnosis`.
    pub(super) cause: Option<String>,
    /// Script runs in all boots so far.
    pub(super) runs: Option<usize>,
    pub(super) sentinel: Option<bool>,
    pub(super) previous: Option<bool>,
    /// The exit code of the shell that ran inside.
    pub(super) inside: Option<i32>,
    /// Expected words, or those that were missing.
    pub(super) words: Vec<String>,
    /// Words that must be absent, or those that were present.
    pub(super) absent: Vec<String>,
}

impl Observed {
    /// Leaves what `expected` is about, and of its words those for which the outputs are wrong.
    pub(super) fn about(self, expected: &Self, outputs: &str) -> Self {
        let is_there = |word: &&String| outputs.contains(word.as_str());
        Self {
            launcher: expected.launcher.and(self.launcher),
            wait: expected.wait.and(self.wait),
            report: expected.report.as_ref().and(self.report),
            cause: expected.cause.as_ref().and(self.cause),
            runs: expected.runs.and(self.runs),
            sentinel: expected.sentinel.and(self.sentinel),
            previous: expected.previous.and(self.previous),
            inside: expected.inside.and(self.inside),
            words: expected.words.iter().filter(is_there).cloned().collect(),
            // The expected list is what is not there.
            absent: expected.absent.iter().filter(|word| !is_there(word)).cloned().collect(),
        }
    }

    pub(super) fn show(&self) -> String {
        let mut parts = Vec::new();
        let mut add = |name: &str, value: Option<String>| {
            parts.extend(value.map(|value| format!("{name} {value}")));
        };
        let yes_or_no = |there: Option<bool>| {
            there.map(|there| if there { "there" } else { "not there" }.to_owned())
        };
        add("launcher", self.launcher.map(|code| code.to_string()));
        add("wait", self.wait.map(|code| code.to_string()));
        add("report", self.report.clone());
        add("cause", self.cause.clone());
        add("script runs", self.runs.map(|runs| runs.to_string()));
        add("sentinel", yes_or_no(self.sentinel));
        add("previous report", yes_or_no(self.previous));
        add("inside", self.inside.map(|code| code.to_string()));
        for (label, words) in [("", &self.words), ("no ", &self.absent)] {
            parts.extend(words.iter().map(|word| format!("{label}“{word}”")));
        }
        parts.join(", ")
    }
}

pub(super) fn read(text: &str) -> Result<Vec<Case>, Failed> {
    serde_saphyr::from_str(text).map_err(|error| Failed(format!("the lab's cases: {error}")))
}

impl Case {
    /// Returns the form in which custom data starts the agent; none if it starts the scripts of the image.
    pub(super) fn form(&self) -> Option<CustomDataForm> {
        match self.format {
            CustomDataFormat::Boothook => Some(CustomDataForm::Boothook),
            CustomDataFormat::CloudConfig => Some(CustomDataForm::CloudConfig),
            CustomDataFormat::Script => None,
        }
    }

    /// Custom data that starts the scripts of the image, as Karpenter's does.
    pub(super) fn script(&self) -> String {
        let registry = self.registry.as_deref().unwrap_or_default();
        format!(
            "#!/bin/bash\nset -o allexport\nBOOTSTRAP_PROFILE_CONTAINER_REGISTRY_SERVER={registry}\n\
             USER_ASSIGNED_IDENTITY_ID={CLIENT}\nTENANT_ID={TENANT}\n\
             mkdir -p /var/log/azure\n\
             /usr/bin/nohup /bin/bash -c '/bin/bash /opt/azure/containers/provision_start.sh'\n"
        )
    }

    pub(super) fn config(&self) -> String {
        if let Some(config) = &self.config {
            return config.clone();
        }
        let mut config = serde_json::json!({"version": "v1", "kubernetes_version": "1.34.1"});
        if let Some(registry) = &self.registry {
            config["bootstrap_profile_container_registry_server"] = registry.as_str().into();
            config["auth_config"] =
                serde_json::json!({"tenant_id": TENANT, "assigned_identity_id": CLIENT});
        }
        config.to_string()
    }

    pub(super) fn file_name(&self) -> String {
        let letters = self.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' });
        letters.collect()
    }
}

/// A row for each boot.
pub(super) fn table(rows: &[(String, Observed, Observed)]) -> String {
    let mut table = String::from("| case | expected | seen |\n|---|---|---|\n");
    for (name, expected, seen) in rows {
        let verdict = if expected == seen {
            "as expected".to_owned()
        } else {
            format!("**{}**", seen.show())
        };
        // Writing to a `String` cannot fail.
        let _ = writeln!(table, "| {name} | {} | {verdict} |", expected.show());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparison_ignores_fields_without_expectation() {
        let expected =
            Observed { wait: Some(0), words: vec!["x509".into()], ..Observed::default() };
        let seen = Observed { wait: Some(0), report: Some("50".into()), ..Observed::default() };
        assert_eq!(seen.clone().about(&expected, "Error: x509: no"), expected);
        assert_ne!(seen.clone().about(&expected, "Error: refused"), expected);
        let absent = Observed { absent: vec!["OrasBinaryMissing".into()], ..Observed::default() };
        assert_eq!(seen.clone().about(&absent, "NetworkUnreachable"), absent);
        assert_ne!(seen.about(&absent, "OrasBinaryMissing"), absent);
        let unseen = Observed::default().about(&expected, "x509");
        assert_ne!(unseen, expected, "a result that never came differs");
    }

    #[test]
    fn rows_that_differ_show_what_was_seen() {
        let expected = Observed { wait: Some(0), ..Observed::default() };
        let seen = Observed { wait: Some(50), ..Observed::default() };
        let table = table(&[
            ("a".into(), expected.clone(), expected.clone()),
            ("b".into(), expected, seen),
        ]);
        assert!(table.contains("| a | wait 0 | as expected |"), "{table}");
        assert!(table.contains("| b | wait 0 | **wait 50** |"), "{table}");
    }

    #[test]
    fn registry_is_put_into_the_node_config() {
        let cases = read("[{name: a, registry: my.lab, boots: []}]").unwrap();
        let config: serde_json::Value = serde_json::from_str(&cases[0].config()).unwrap();
        assert_eq!(config["bootstrap_profile_container_registry_server"], "my.lab");
        assert_eq!(config["auth_config"]["assigned_identity_id"], CLIENT);
        assert!(read("[{name: a, boots: [], nosuch: 1}]").is_err());
    }
}

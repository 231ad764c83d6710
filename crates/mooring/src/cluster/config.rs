//! `~/.config/mooring/config.yaml`: settings of contexts.
//!
//! ```yaml
//! docs: https://docs.example/mooring   # site that screens link to
//! contexts:
//!   prod-weu-admin:
//!     cluster: prod-weu        # name or resource id
//!     namespace: mooring-system
//!     protected: true          # changes are confirmed on a terminal, also with a plan hash
//! ```

use std::collections::BTreeMap;
use std::path::PathBuf;

use mooring_arm::ResourceId;
use mooring_nodes::DocsUrl;
use serde::Deserialize;

use crate::output::failure::CommandFailure;
use crate::process::env_var;

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    pub(crate) contexts: BTreeMap<String, ContextEntry>,
    /// Address of the site of the documents.
    pub(crate) docs: Option<String>,
}

/// Settings of one context.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ContextEntry {
    /// Name or resource id of the AKS cluster.
    pub(crate) cluster: Option<String>,
    /// Namespace of Mooring's objects.
    pub(crate) namespace: Option<String>,
    pub(crate) protected: bool,
}

impl ContextEntry {
    /// Returns the name of the cluster.
    pub(crate) fn cluster_name(&self) -> Option<String> {
        let cluster = self.cluster.as_ref()?;
        Some(ResourceId::parse(cluster).map_or_else(|_| cluster.clone(), |id| id.name().to_owned()))
    }

    /// Returns the resource id of the cluster, if it is one.
    pub(crate) fn cluster_id(&self) -> Option<ResourceId> {
        ResourceId::parse(self.cluster.as_ref()?).ok()
    }
}

/// Returns the file: `$XDG_CONFIG_HOME/mooring/config.yaml`, or `~/.config/mooring/config.yaml`.
pub(crate) fn path() -> Option<PathBuf> {
    Some(user_directory("XDG_CONFIG_HOME", ".config")?.join("config.yaml"))
}

/// Returns Mooring's directory below that of a variable, or below one in the home directory.
pub(super) fn user_directory(variable: &str, in_home: &str) -> Option<PathBuf> {
    Some(directory(variable, in_home)?.join("mooring"))
}

/// Returns the directory of a variable, or one in the home directory.
pub(super) fn directory(variable: &str, in_home: &str) -> Option<PathBuf> {
    let value = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let directory = value(variable).map(PathBuf::from);
    directory.or_else(|| Some(PathBuf::from(value("HOME")?).join(in_home)))
}

/// Reads the settings of a context; none without a file or such a context.
pub(crate) fn context(name: Option<&str>) -> Result<ContextEntry, CommandFailure> {
    let Some(name) = name else { return Ok(ContextEntry::default()) };
    Ok(read()?.contexts.remove(name).unwrap_or_default())
}

/// Reads the address of the documents from the environment or the file.
pub(crate) fn docs_url() -> Result<DocsUrl, CommandFailure> {
    let (place, url) = match env_var(DOCS_VARIABLE) {
        Some(url) => (DOCS_VARIABLE, url),
        None => ("docs in config.yaml", read()?.docs.unwrap_or_default()),
    };
    DocsUrl::parse(&url).map_err(|why| CommandFailure::usage(format!("{place} {why}")))
}

const DOCS_VARIABLE: &str = "MOORING_DOCS_URL";

/// Reads the file; empty without one.
pub(crate) fn read() -> Result<Config, CommandFailure> {
    let Some(path) = path() else { return Ok(Config::default()) };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Config::default()),
        Err(error) => return Err(CommandFailure::usage(format!("{}: {error}", path.display()))),
    };
    parse(&text).map_err(|why| CommandFailure::usage(format!("invalid {}: {why}", path.display())))
}

fn parse(text: &str) -> Result<Config, String> {
    if text.trim().is_empty() {
        return Ok(Config::default());
    }
    serde_saphyr::from_str(text).map_err(|error| {
        // Further lines repeat the file.
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default();
        let first = first.strip_prefix("error: ").unwrap_or(first);
        let text = mooring_redact::foreign(first, mooring_redact::Limit::Chars(300));
        format!("{text}\nhint: `contexts: {{NAME: {{cluster: NAME, namespace: NAME, protected: true}}}}`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_have_cluster_namespace_and_protection() {
        let id = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/prod";
        let text = format!(
            "contexts:\n  a: {{cluster: prod, protected: true}}\n  b: {{cluster: {id}, namespace: ops}}\n"
        );
        let config = parse(&text).unwrap();
        let (a, b) = (&config.contexts["a"], &config.contexts["b"]);
        assert_eq!((a.cluster_name().as_deref(), a.cluster_id()), (Some("prod"), None));
        assert!(a.protected && !b.protected);
        assert_eq!(b.cluster_name().as_deref(), Some("prod"));
        assert_eq!(b.cluster_id().unwrap().as_str(), id);
        assert_eq!(parse(" \n").unwrap(), Config::default());
        let error = parse("contexts: {a: {protect: true}}").unwrap_err();
        assert!(error.contains("protect") && error.contains("hint: "), "{error}");
        assert!(error.starts_with("line 1 column 16: unknown field "), "{error}");
        assert_eq!(error.lines().count(), 2, "{error}");
    }
}

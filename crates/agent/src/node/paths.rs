//! The fixed paths of a node, and a root directory for a whole node.

use std::path::{Path, PathBuf};

use mooring_contract::custom_data;

/// Every record of the agent, one JSON object a line.
pub(crate) const LOG_FILE: &str = "/var/log/azure/aks-node-controller.log";
/// Log in the working directory, used if the log's directory cannot be created.
pub(crate) const FALLBACK_LOG_FILE: &str = "aks-node-controller.log";
/// Events for the guest agent, a file each.
pub(crate) const EVENTS_DIR: &str = "/var/log/azure/Microsoft.Azure.Extensions.CustomScript/events";
pub(crate) const REPORT: &str = "/var/log/azure/aks/provision.json";
/// Report of the previous attempt.
pub(crate) const PREVIOUS_REPORT: &str = "/var/log/azure/aks/provision.json.previous";
pub(crate) const SCRIPTS_LOG: &str = "/var/log/azure/cluster-provision.log";
pub(crate) const CONTAINERS_DIR: &str = "/opt/azure/containers";
/// Written when the bootstrap has finished or failed.
pub(crate) const SENTINEL: &str = "/opt/azure/containers/provision.complete";
/// Appears instead when an image is baked: there is nothing more to wait for.
pub(crate) const BASE_PREP_SENTINEL: &str = "/opt/azure/containers/base_prep.complete";
/// The facts that the image ships about itself.
pub(crate) const COMPONENTS: &str = "/opt/azure/components.json";
/// Node config written by custom data.
pub(crate) const NODE_CONFIG: &str = custom_data::CONFIG_PATH;
/// NBC command written by custom data.
pub(crate) const NBC_COMMAND: &str = "/opt/azure/containers/aks-node-controller-nbc-cmd.sh";
/// The agent that the image has.
pub(crate) const AGENT: &str = "/opt/azure/containers/aks-node-controller";
/// The agent that the launcher prefers where it exists.
pub(crate) const HOTFIX_AGENT: &str = "/opt/azure/containers/aks-node-controller-hotfix";
/// The requested hotfix; written by custom data and `check-hotfix`.
pub(crate) const HOTFIX_POINTER: &str = "/opt/azure/containers/aks-node-controller-hotfix.json";
pub(crate) const HOTFIX_RECORD: &str =
    "/opt/azure/containers/aks-node-controller-hotfix-state.json";
/// The files that custom data brings for a script hotfix.
pub(crate) const NODE_CUSTOM_DATA: &str = "/opt/azure/containers/nodecustomdata.yml";
/// The hotfix policy of the image: `off`, `scripts` or `full`.
pub(crate) const HOTFIX_POLICY: &str = "/opt/azure/containers/aks-node-controller-hotfix-policy";
/// State of a running `provision`; removed by a reboot.
pub(crate) const RUN_DIR: &str = "/run/aks-node-controller";
/// Process that provisions (pid, start time, boot id of the agent and its scripts), and its report.
pub(crate) const RUN_RECORD: &str = "/run/aks-node-controller/provision.json";
/// Held by a running `provision`.
pub(crate) const RUN_LOCK: &str = "/run/aks-node-controller/provision.lock";

/// Location of the fixed paths. Messages always print the fixed path without the root.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layout {
    root: Option<PathBuf>,
}

impl Layout {
    /// Returns the layout of a node below `root`, or of the host.
    pub(crate) fn new(root: Option<PathBuf>) -> Self {
        Self { root: root.filter(|root| !root.as_os_str().is_empty() && root != Path::new("/")) }
    }

    pub(crate) fn at(&self, fixed: &str) -> PathBuf {
        match &self.root {
            Some(root) if fixed.starts_with('/') => root.join(fixed.trim_start_matches('/')),
            _ => PathBuf::from(fixed),
        }
    }

    /// Returns the root, unless it is `/`.
    pub(crate) fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }
}

/// A node, or a mounted image, and where its fixed paths are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Site<'a> {
    pub(crate) stage: PreflightStage,
    pub(crate) layout: &'a Layout,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PreflightStage {
    /// On a node that is about to be bootstrapped.
    Node,
    /// On an image that is about to be shipped, mounted somewhere.
    Image,
}

impl PreflightStage {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Image => "image",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_goes_before_fixed_paths_only() {
        let layout = Layout::new(Some("/tmp/node".into()));
        assert_eq!(layout.at(REPORT), Path::new("/tmp/node/var/log/azure/aks/provision.json"));
        assert_eq!(layout.at(FALLBACK_LOG_FILE), Path::new("aks-node-controller.log"));
        assert_eq!(Layout::new(Some("/".into())).at(REPORT), Path::new(REPORT));
        assert_eq!(Layout::new(Some("".into())).at(REPORT), Path::new(REPORT));
    }
}

//! What a bundle may hold. Whatever is not listed here is never opened.

/// A file, or the files of a folder, that support asks for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allowed {
    /// Below the node's root; the last part may hold one `*`.
    pub(crate) path: &'static str,
    pub(crate) why: &'static str,
}

const fn allowed(path: &'static str, why: &'static str) -> Allowed {
    Allowed { path, why }
}

pub(crate) const ALLOWED: &[Allowed] = &[
    allowed(
        "var/log/azure/aks/provision.json",
        "the node's report: exit code, times, end of the trace",
    ),
    allowed("var/log/azure/aks/provision.json.previous", "the report of an earlier attempt"),
    allowed(
        "var/log/azure/Microsoft.Azure.Extensions.CustomScript/events/*.json",
        "when each step began and ended",
    ),
    allowed(
        "var/log/azure/cluster-provision.log",
        "the scripts' trace: the failing step and its last words",
    ),
    allowed(
        "var/log/azure/cluster-provision-cse-output.log",
        "the wrapper: outbound probe, kubelet's status",
    ),
    allowed("var/log/azure/aks-node-controller.log", "the node agent's log"),
    allowed("var/log/azure/aks-node-controller.output", "what the launcher and the agent printed"),
    allowed("var/log/azure/custom-script/handler.log", "the extension handler: when it ran what"),
    allowed("var/log/azure/aks/cse-aks-log-collector.log", "what the log collector said"),
    allowed("var/log/azure/*-status.log", "services that did not start"),
    allowed("var/log/cloud-init.log", "cloud-init's stages"),
    allowed("var/log/cloud-init-output.log", "what cloud-init's scripts printed"),
    allowed("var/log/waagent.log", "the guest agent: goal state, extensions"),
    allowed("opt/azure/containers/setup-custom-search-domain.log", "the search domain's script"),
    allowed(
        "opt/azure/containers/provision.complete",
        "whether the bootstrap says that it is over",
    ),
    allowed("opt/m", "when the wrapper began and ended"),
    allowed("tmp/curl_verbose.out", "the last download in detail"),
    allowed("tmp/oras_verbose.out", "the last pull from the registry in detail"),
    allowed("etc/os-release", "the system and its version"),
    // On many systems the former is a link to this, and links are not followed.
    allowed("usr/lib/os-release", "the system and its version"),
    allowed("opt/azure/components.json", "the versions that the image ships"),
    allowed("opt/azure/vhd-install.complete", "the image's build"),
    allowed(
        "opt/azure/containers/aks-node-controller-hotfix.json",
        "which hotfix of the agent is asked for",
    ),
    allowed(
        "opt/azure/containers/aks-node-controller-hotfix-state.json",
        "which hotfix of the scripts and the agent is applied",
    ),
    allowed("run/aks-node-controller/provision.json", "which process provisions, if one does"),
];

/// Where the values are that must not be in a bundle. Read for that alone.
pub(crate) const NODE_CONFIG: &str = "opt/azure/containers/aks-node-controller-config.json";
/// The same for a ready command.
pub(crate) const NBC_COMMAND: &str = "opt/azure/containers/aks-node-controller-nbc-cmd.sh";

/// What people may miss, and why it is not there.
pub(crate) const NEVER: &[(&str, &str)] = &[
    (NODE_CONFIG, "holds secrets; read only to find them elsewhere"),
    (NBC_COMMAND, "holds secrets; read only to find them elsewhere"),
    ("opt/azure/containers/enabled_features.sh", "comes from custom data, like the secrets"),
    ("var/log/azure/aks/cloud-config.txt", "custom data; its own redaction knows two places only"),
    ("etc/kubernetes", "credentials of the node"),
    ("var/lib/kubelet", "credentials of the node"),
    ("var/lib/waagent", "protected settings and their keys"),
];

//! Files that a bundle may contain. Other files are never opened.

/// Paths below the node's root with the reason; the last part may have one `*`.
pub(crate) const ALLOWED: &[(&str, &str)] = &[
    (
        "var/log/azure/aks/provision.json",
        "bootstrap report: exit code, times, end of the script trace",
    ),
    ("var/log/azure/aks/provision.json.previous", "bootstrap report of an earlier attempt"),
    (
        "var/log/azure/Microsoft.Azure.Extensions.CustomScript/events/*.json",
        "start and end of each step",
    ),
    ("var/log/azure/cluster-provision.log", "script trace: the failing step and its output"),
    (
        "var/log/azure/cluster-provision-cse-output.log",
        "output of the wrapper: outbound probe, kubelet status",
    ),
    ("var/log/azure/aks-node-controller.log", "log of the node agent"),
    ("var/log/azure/aks-node-controller.output", "output of the launcher and the agent"),
    ("var/log/azure/custom-script/handler.log", "log of the extension handler"),
    ("var/log/azure/aks/cse-aks-log-collector.log", "output of the log collector"),
    ("var/log/azure/*-status.log", "status of services that failed to start"),
    ("var/log/cloud-init.log", "log of cloud-init"),
    ("var/log/cloud-init-output.log", "output of the cloud-init scripts"),
    ("var/log/waagent.log", "log of the guest agent: goal state, extensions"),
    ("opt/azure/containers/setup-custom-search-domain.log", "output of the search domain script"),
    ("opt/azure/containers/provision.complete", "marker of a finished bootstrap"),
    ("opt/m", "start and end of the wrapper"),
    ("tmp/curl_verbose.out", "details of the last download"),
    ("tmp/oras_verbose.out", "details of the last pull from the registry"),
    ("etc/os-release", "operating system and version"),
    // `etc/os-release` is often a link to this file, and links are not followed.
    ("usr/lib/os-release", "operating system and version"),
    ("opt/azure/components.json", "component versions of the image"),
    ("opt/azure/vhd-install.complete", "build of the image"),
    ("opt/azure/containers/aks-node-controller-hotfix.json", "requested hotfix of the agent"),
    (
        "opt/azure/containers/aks-node-controller-hotfix-state.json",
        "applied hotfix of the scripts and the agent",
    ),
    ("run/aks-node-controller/provision.json", "process that runs the bootstrap"),
];

/// Source of the secrets to redact; never part of a bundle.
pub(crate) const NODE_CONFIG: &str = "opt/azure/containers/aks-node-controller-config.json";
/// Source of the secrets to redact on nodes with an NBC command.
pub(crate) const NBC_COMMAND: &str = "opt/azure/containers/aks-node-controller-nbc-cmd.sh";

/// Files that are never collected, with the reason for the manifest.
pub(crate) const EXCLUDED: &[(&str, &str)] = &[
    (NODE_CONFIG, "contains secrets; read only to redact them elsewhere"),
    (NBC_COMMAND, "contains secrets; read only to redact them elsewhere"),
    (
        "opt/azure/containers/enabled_features.sh",
        "created from custom data, which contains secrets",
    ),
    (
        "var/log/azure/aks/cloud-config.txt",
        "contains custom data; AKS redacts only two fields of it",
    ),
    ("etc/kubernetes", "credentials of the node"),
    ("var/lib/kubelet", "credentials of the node"),
    ("var/lib/waagent", "protected settings and their keys"),
];

//! Explains failed reads, with the missing permission.

use mooring_workflow::Reading;

/// Verb and resource of a read.
pub(crate) type Need<'a> = (&'static str, &'a str);

pub(crate) const READ_CRDS: Need<'_> = ("list", "customresourcedefinitions.apiextensions.k8s.io");
pub(crate) const READ_CONTROLLERS: Need<'_> =
    ("list", "deployments.apps, statefulsets.apps and daemonsets.apps");
pub(crate) const READ_LEASES: Need<'_> = ("list", "leases.coordination.k8s.io");
pub(crate) const READ_EVENTS: Need<'_> = ("list", "events");
pub(crate) const READ_WEBHOOKS: Need<'_> = (
    "list",
    "validatingwebhookconfigurations and mutatingwebhookconfigurations.admissionregistration.k8s.io",
);
pub(crate) const READ_RELEASE: Need<'_> = ("list", "secrets");
pub(crate) const READ_MADE: Need<'_> = ("get", "the objects of the release's manifest");
pub(crate) const READ_NAMESPACE: Need<'_> = ("get", "namespaces");
pub(crate) const READ_CONTENTS: Need<'_> = ("list", "the contents of the namespace");

/// Returns the resource of a binding.
pub(crate) fn binding(name: &str) -> String {
    format!("clusterrolebindings.rbac.authorization.k8s.io {name}")
}

pub(crate) const NOT_SERVED: &str =
    "its CRD serves no version, so objects cannot be listed; set `served: true` and retry";

/// Describes a failed read, with the missing permission.
pub(crate) fn unreadable<T>((verb, resource): Need<'_>, reading: &Reading<T>) -> String {
    match reading {
        Reading::Denied(_) => {
            format!("access denied: missing permission {verb} on {resource}")
        }
        other => format!("{verb} {resource} {}", other.missing().unwrap_or_default()),
    }
}

/// Returns the reason of a failed read.
pub(crate) fn missing<T>(need: Need<'_>, reading: Option<&Reading<T>>) -> Option<String> {
    reading.filter(|reading| reading.error().is_some()).map(|reading| unreadable(need, reading))
}

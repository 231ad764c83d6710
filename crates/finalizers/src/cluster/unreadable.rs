//! Explains failed reads, with the missing permission.

use mooring_workflow::Reading;

use super::view::Query;

pub(crate) const NOT_SERVED: &str =
    "its CRD serves no version, so objects cannot be listed; set `served: true` and retry";

/// Describes a failed read, with the missing permission.
pub(crate) fn unreadable<T>(query: &Query, reading: &Reading<T>) -> String {
    match reading {
        Reading::Denied(_) => {
            let (verb, resource) = permission(query);
            format!("access denied: missing permission {verb} on {resource}")
        }
        other => format!("{} {}", about(query), other.missing().unwrap_or_default()),
    }
}

/// Returns verb and resource of a query.
fn permission(query: &Query) -> (&'static str, String) {
    let of = |text: &str| text.to_owned();
    match query {
        Query::Crds => ("list", of("customresourcedefinitions.apiextensions.k8s.io")),
        Query::Objects(crd) => ("list", of(crd.name())),
        Query::Whole(path) => ("get", path.clone()),
        Query::Controllers => {
            ("list", of("deployments.apps, statefulsets.apps and daemonsets.apps"))
        }
        Query::Leases => ("list", of("leases.coordination.k8s.io")),
        Query::Events => ("list", of("events")),
        Query::Webhooks => (
            "list",
            of(
                "validatingwebhookconfigurations and mutatingwebhookconfigurations.admissionregistration.k8s.io",
            ),
        ),
        Query::Binding(name) => {
            ("get", format!("clusterrolebindings.rbac.authorization.k8s.io {name}"))
        }
        Query::Release => ("list", of("secrets")),
        Query::ReleaseObject => ("get", of("the objects of the release's manifest")),
        Query::Namespace => ("get", of("namespaces")),
        Query::Contents => ("list", of("the contents of the namespace")),
    }
}

pub(crate) fn about(query: &Query) -> String {
    let (verb, resource) = permission(query);
    format!("{verb} {resource}")
}

//! Why something could not be read, with the permission that is missing.

use mooring_workflow::Reading;

use crate::view::Query;

/// Why the objects of a definition cannot be reached.
pub(crate) const NOT_SERVED: &str = "no version of its definition is served, so that nobody can tell whether there are any; serve one \
     (`kubectl edit crd`: served: true) and try again";

/// A reading that is missing, with the right that would mend it.
pub(crate) fn unreadable<T>(query: &Query, reading: &Reading<T>) -> String {
    match reading {
        Reading::Denied(_) => {
            let (verb, resource) = right(query);
            format!("not permitted: needs the verb {verb} on {resource}")
        }
        other => format!("{} {}", about(query), other.missing().unwrap_or_default()),
    }
}

/// The right that a question needs: verb and resource.
fn right(query: &Query) -> (&'static str, String) {
    let of = |text: &str| text.to_owned();
    match query {
        Query::Definitions => ("list", of("customresourcedefinitions.apiextensions.k8s.io")),
        Query::Objects(definition) => ("list", of(definition.name())),
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
        Query::ReleaseObject => ("get", of("what the release's manifest names")),
        Query::Namespace => ("get", of("namespaces")),
    }
}

pub(crate) fn about(query: &Query) -> String {
    let (verb, resource) = right(query);
    format!("{verb} {resource}")
}

//! Reads: what they select, lists, watches.

pub(crate) mod list;
pub(crate) mod watch;

use crate::kubernetes::api::negotiate::ResourceRequest;
use crate::kubernetes::api::state::{ApiResult, Resource, StatusError};
use crate::kubernetes::store::Selector;

/// Returns the selector of a request; a name in its path selects that object.
pub(crate) fn selector(call: &ResourceRequest<'_>) -> ApiResult<Selector> {
    match &call.target.name {
        None => {
            parse(call.resource(), call.query.get("labelSelector"), call.query.get("fieldSelector"))
        }
        Some(name) => parse(call.resource(), "", &format!("metadata.name={name}")),
    }
}

fn parse(resource: &Resource, labels: &str, fields: &str) -> ApiResult<Selector> {
    Selector::parse(labels, fields, |field| supports(resource, field)).map_err(|detail| {
        StatusError::bad_request(format!(
            "Unable to find {:?} that match label selector {labels:?}, field selector {fields:?}: {detail}",
            format!("{}/{}, Resource={}", resource.group, resource.version, resource.plural)
        ))
    })
}

fn supports(resource: &Resource, field: &str) -> bool {
    if field == "metadata.name" || (field == "metadata.namespace" && resource.namespaced) {
        return true;
    }
    let fields: &[&str] = match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "pods") => &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "status.phase",
            "status.podIP",
            "status.nominatedNodeName",
        ],
        ("", "nodes") => &["spec.unschedulable"],
        ("", "namespaces") => &["status.phase"],
        ("", "secrets") => &["type"],
        ("", "events") => &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ],
        ("events.k8s.io", "events") => &[
            "regarding.kind",
            "regarding.namespace",
            "regarding.name",
            "regarding.uid",
            "regarding.apiVersion",
            "regarding.resourceVersion",
            "regarding.fieldPath",
            "reason",
            "reportingController",
            "type",
        ],
        ("apps", "replicasets") => &["status.replicas"],
        ("certificates.k8s.io", "certificatesigningrequests") => &["spec.signerName"],
        ("batch", "jobs") => &["status.successful"],
        _ => &[],
    };
    fields.contains(&field)
}

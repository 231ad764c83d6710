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

/// Fields that clients select by; what else a server has is refused here, so that nobody relies on it unnoticed.
fn supports(resource: &Resource, field: &str) -> bool {
    let fields: &[&str] = match (resource.group.as_str(), resource.plural.as_str()) {
        ("", "pods") => &["spec.nodeName", "status.phase"],
        ("", "events") => &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "reason",
        ],
        ("certificates.k8s.io", "certificatesigningrequests") => &["spec.signerName"],
        _ => &[],
    };
    field == "metadata.name" || fields.contains(&field)
}

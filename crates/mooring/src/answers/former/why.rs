//! Schema mooring.why/v1.

use mooring_controller::observation::node::Node;
use mooring_controller::query::{NodeReport, Table};
use serde_json::{Value, json};

use super::fleet::nodes_json;

/// Returns the document mooring.why/v1.
pub(crate) fn document(
    what: &str,
    reports: &[NodeReport],
    fleet: &Table,
    lost: &[Node],
    resource_group: &str,
) -> Value {
    let nodes: Vec<_> = reports
        .iter()
        .map(|one| {
            let failure = one.verdict.failure.as_ref();
            json!({
                "node": one.node,
                "nodeClaim": one.claim,
                "pool": one.pool,
                "image": one.image,
                "joined": one.joined,
                "failed": one.is_failed(),
                "unconfirmed": one.is_unconfirmed(),
                "status": one.verdict.status().as_str(),
                "reason": one.verdict.reason.as_str(),
                "message": one.message(),
                "code": failure.and_then(|failure| failure.code),
                "name": failure.and_then(|failure| failure.name.clone()),
                "effectiveCode": failure.and_then(|failure| failure.effective.as_ref().map(|(code, _)| *code)),
                "cause": failure.map(|failure| failure.cause.clone()),
                "owner": failure.map(|failure| failure.owner).filter(|owner| !owner.is_empty()),
                "evidence": failure.and_then(|failure| failure.evidence.clone()),
                "readFrom": one.source.as_str(),
                "earlier": earlier(one),
                "fleet": fleet.about(one.image.as_deref().unwrap_or_default()).collect::<Vec<_>>(),
                "next": one.next(what, Some(resource_group)),
            })
        })
        .collect();
    json!({
        "schema": "mooring.why/v1", "what": what, "nodes": nodes,
        "nodesWithoutProviderID": nodes_json(lost),
    })
}

fn earlier(one: &NodeReport) -> Option<Value> {
    let failure = one.earlier.as_ref()?;
    Some(json!({
        "code": failure.code,
        "cause": failure.cause,
        "message": failure.sentence,
        "evidence": failure.evidence,
    }))
}

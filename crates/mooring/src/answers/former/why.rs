//! Schema mooring.why/v1.

use std::process::ExitCode;

use mooring_controller::query::FleetTable;
use mooring_nodes::NodeReport;
use mooring_nodes::unregistered::UnregisteredNode;
use serde_json::{Value, json};

use super::fleet::nodes_json;
use super::query::node_query;
use crate::answers::arguments::WhyArguments;
use crate::output::failure::CommandFailure;
use crate::output::{AnswerFormat, print_document};
use crate::process::build_runtime;

/// Exits with 1 if a node failed.
pub(crate) fn why(arguments: &WhyArguments) -> Result<ExitCode, CommandFailure> {
    let what = arguments.what.as_deref().ok_or_else(|| {
        CommandFailure::usage("mooring.why/v1 requires the name of a node or pool".to_owned())
    })?;
    build_runtime()?.block_on(async {
        let query =
            node_query(&arguments.read.sources.cluster, arguments.run_command, true).await?;
        let mut reports = query.why(what).await.map_err(|error| CommandFailure::query(&error))?;
        query.add_earlier(&mut reports).await;
        // Without the failure record only the context is missing.
        let fleet = query.fleet().await.unwrap_or_default();
        let lost = query.nodes_without_provider_id().await;
        let group = &query.scope.node_resource_group;
        let document = document(what, &reports, &fleet, &lost, group);
        print_document(&document, arguments.output == AnswerFormat::Yaml)?;
        Ok(ExitCode::from(u8::from(reports.iter().any(NodeReport::is_failed))))
    })
}

/// Returns the document mooring.why/v1.
fn document(
    what: &str,
    reports: &[NodeReport],
    fleet: &FleetTable,
    lost: &[UnregisteredNode],
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

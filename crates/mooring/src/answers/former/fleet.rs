//! Schema mooring.fleet/v1.

use mooring_controller::query::FleetTable;
use mooring_nodes::status::ImageFinding;
use mooring_nodes::unregistered::UnregisteredNode;
use serde_json::{Value, json};

use super::query::node_query;
use crate::answers::arguments::FleetArguments;
use crate::output::failure::CommandFailure;
use crate::output::{AnswerFormat, print_document};
use crate::process::build_runtime;

/// Prints schema mooring.fleet/v1.
pub(crate) fn fleet(
    arguments: &FleetArguments,
    findings: &[ImageFinding],
) -> Result<(), CommandFailure> {
    build_runtime()?.block_on(async {
        let query = node_query(&arguments.read.sources.cluster, false, false).await?;
        let table = query.fleet().await.map_err(|error| CommandFailure::query(&error))?;
        let lost = query.nodes_without_provider_id().await;
        let document = document(&table, findings, &lost);
        print_document(&document, arguments.output == AnswerFormat::Yaml)
    })
}

pub(super) fn nodes_json(nodes: &[UnregisteredNode]) -> Vec<Value> {
    nodes
        .iter()
        .map(|node| json!({"node": node.name, "pool": node.pool, "sentence": node.finding()}))
        .collect()
}

/// Returns the document mooring.fleet/v1.
fn document(table: &FleetTable, found: &[ImageFinding], lost: &[UnregisteredNode]) -> Value {
    let rows: Vec<_> = table
        .rows
        .iter()
        .map(|row| {
            json!({"image": row.image, "cause": row.cause, "failed": row.failed, "nodes": row.nodes,
                   "pools": row.pools, "last": row.last.to_string()})
        })
        .collect();
    let findings: Vec<_> = table
        .findings
        .iter()
        .map(|(image, sentence)| {
            let actions = found.iter().filter(|one| one.image == *image);
            let actions: Vec<_> = actions.flat_map(|one| &one.actions).collect();
            json!({"image": image, "sentence": sentence, "actions": actions})
        })
        .collect();
    json!({"schema": "mooring.fleet/v1", "rows": rows, "findings": findings, "dropped": table.dropped,
        "unconfirmed": table.unconfirmed, "nodesWithoutProviderID": nodes_json(lost)})
}

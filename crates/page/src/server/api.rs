//! JSON documents: those of `status` and `fleet` are what the commands print.

use std::collections::BTreeMap;

use mooring_nodes::status::{
    ClusterStatus, FLEET_SCHEMA, FleetContent, ImageFinding, STATUS_SCHEMA,
};
use mooring_nodes::{ClusterFacts, ControllerState, Fleet, Listed, Node};
use mooring_workflow::published::to_json;
use serde::Serialize;

use crate::model::{ControllerDetails, Snapshot};
use crate::view::{PageView, Route};

#[derive(Serialize)]
struct Controller<'a> {
    controller: &'a ControllerState,
    details: Option<&'a ControllerDetails>,
}

/// Returns a document; none if there is no such address or name.
pub(super) fn document(snapshot: &Snapshot, path: &str, query: Option<&str>) -> Option<String> {
    let path = path.strip_prefix("/api/v1/")?;
    let facts = &snapshot.facts;
    let mut view = PageView::new(Route::Overview);
    view.add_query(query);
    let filter = view.filter(facts);
    let inventory = || facts.inventory.filtered(&filter);
    let status = || {
        let inventory = inventory();
        ClusterStatus::of(facts, &filter, &inventory, &Fleet::of(&inventory, filter.since))
    };
    let text = match path.split_once('/') {
        None => match path {
            "status" => to_json(&facts.document(STATUS_SCHEMA, status())),
            "fleet" => {
                let inventory = inventory();
                let fleet = Fleet::of(&inventory, filter.since);
                let findings = ImageFinding::all(facts, &inventory, &fleet);
                let content = FleetContent::new(facts, &fleet, &findings);
                to_json(&facts.document(FLEET_SCHEMA, content))
            }
            "failures" => {
                let inventory = inventory();
                let mut failures: Vec<&Node> =
                    inventory.nodes.iter().filter(|node| node.is_failed()).collect();
                failures.reverse();
                let failures = Listed::of(failures, inventory.failed().exact().is_some());
                single(facts, "mooring.page.failures/v1", "failures", failures)
            }
            "nodes" => {
                let inventory = inventory();
                let nodes: Vec<&Node> = inventory.nodes.iter().collect();
                let nodes = Listed::of(nodes, inventory.reads.has_all_nodes());
                single(facts, "mooring.page.nodes/v1", "nodes", nodes)
            }
            "pools" => single(facts, "mooring.page.pools/v1", "pools", status().pools),
            // Null if the journals were not read.
            "runs" => {
                let runs = Some(&facts.runs).filter(|_| facts.inventory.reads.runs.is_known());
                single(facts, "mooring.page.runs/v1", "runs", runs)
            }
            "controller" => {
                let content = Controller {
                    controller: &facts.controller,
                    details: snapshot.details.as_ref(),
                };
                to_json(&facts.document("mooring.page.controller/v1", content))
            }
            _ => return None,
        },
        Some(("nodes", _)) => {
            let Route::Node(name) = PageView::parse(&format!("/{path}"), None)?.route else {
                return None;
            };
            let node = facts.inventory.nodes.iter().rev().find(|node| node.is_named(&name))?;
            single(facts, "mooring.page.node/v1", "node", node)
        }
        Some(("runs", id)) => {
            let mut runs = facts.runs.iter();
            let run = runs.find(|run| !id.is_empty() && run.run_id.starts_with(id))?;
            single(facts, "mooring.page.runs/v1", "runs", [run])
        }
        Some(_) => return None,
    };
    text.ok()
}

/// Returns a document whose content is one member.
fn single<T: Serialize>(
    facts: &ClusterFacts,
    schema: &'static str,
    member: &str,
    value: T,
) -> serde_json::Result<String> {
    to_json(&facts.document(schema, BTreeMap::from([(member, value)])))
}

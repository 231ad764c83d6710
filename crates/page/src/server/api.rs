//! JSON documents: those of `status` and `fleet` are what the commands print.

use std::collections::BTreeMap;

use mooring_inventory::status::{
    ClusterStatus, FLEET_SCHEMA, FleetContent, ImageFinding, STATUS_SCHEMA,
};
use mooring_inventory::{ControllerState, Fleet, Node};
use mooring_workflow::published::to_json;
use serde::Serialize;

use crate::snapshot::{ControllerDetails, Snapshot};
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
        ClusterStatus::of(facts, &inventory, &Fleet::of(&inventory, filter.since))
    };
    let text = match path.split_once('/') {
        None => match path {
            "status" => to_json(&facts.document(STATUS_SCHEMA, status())),
            "fleet" => {
                let fleet = Fleet::of(&inventory(), filter.since);
                let findings = ImageFinding::all(facts, &fleet);
                let content = FleetContent::new(facts, &fleet, &findings);
                to_json(&facts.document(FLEET_SCHEMA, content))
            }
            "failures" => {
                let inventory = inventory();
                let mut failures: Vec<&Node> =
                    inventory.nodes.iter().filter(|node| node.is_failed()).collect();
                failures.reverse();
                to_json(&facts.document("mooring.page.failures/v1", member("failures", failures)))
            }
            "nodes" => {
                let inventory = inventory();
                let nodes: Vec<&Node> = inventory.nodes.iter().collect();
                to_json(&facts.document("mooring.page.nodes/v1", member("nodes", nodes)))
            }
            "pools" => {
                let pools = member("pools", status().pools);
                to_json(&facts.document("mooring.page.pools/v1", pools))
            }
            "runs" => {
                // Null if the journals were not read.
                let runs = member("runs", &snapshot.runs);
                to_json(&facts.document("mooring.page.runs/v1", runs))
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
            to_json(&facts.document("mooring.page.node/v1", member("node", node)))
        }
        Some(("runs", id)) => {
            let runs = snapshot.runs.as_ref()?;
            let run = runs.iter().find(|run| !id.is_empty() && run.run_id.starts_with(id))?;
            to_json(&facts.document("mooring.page.runs/v1", member("runs", [run])))
        }
        Some(_) => return None,
    };
    text.ok()
}

/// Returns content with one member.
fn member<T>(name: &'static str, value: T) -> BTreeMap<&'static str, T> {
    BTreeMap::from([(name, value)])
}

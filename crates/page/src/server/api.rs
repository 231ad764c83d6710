//! JSON documents: those of `status` and `fleet` are what the commands print.

use mooring_inventory::status::{
    ClusterStatus, FLEET_SCHEMA, FleetContent, ImageFinding, STATUS_SCHEMA,
};
use mooring_inventory::{ControllerState, Fleet, Node, Pool};
use mooring_workflow::published::to_json;
use mooring_workflow::status::RunStatus;
use serde::Serialize;

use crate::snapshot::{ControllerDetails, Snapshot};
use crate::view::{PageView, Route};

#[derive(Serialize)]
struct Failures<'a> {
    failures: Vec<&'a Node>,
}

#[derive(Serialize)]
struct Nodes<'a> {
    nodes: Vec<&'a Node>,
}

#[derive(Serialize)]
struct OneNode<'a> {
    node: &'a Node,
}

#[derive(Serialize)]
struct Pools {
    pools: Vec<Pool>,
}

#[derive(Serialize)]
struct Runs<'a> {
    /// Null if the journals were not read.
    runs: Option<Vec<&'a RunStatus>>,
}

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
    let text = match path.split_once('/') {
        None => match path {
            "status" => {
                let inventory = inventory();
                let fleet = Fleet::of(&inventory, filter.since);
                to_json(
                    &facts.document(STATUS_SCHEMA, ClusterStatus::of(facts, &inventory, &fleet)),
                )
            }
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
                to_json(&facts.document("mooring.page.failures/v1", Failures { failures }))
            }
            "nodes" => {
                let inventory = inventory();
                let nodes = inventory.nodes.iter().collect();
                to_json(&facts.document("mooring.page.nodes/v1", Nodes { nodes }))
            }
            "pools" => {
                let inventory = inventory();
                let fleet = Fleet::of(&inventory, filter.since);
                let pools = ClusterStatus::of(facts, &inventory, &fleet).pools;
                to_json(&facts.document("mooring.page.pools/v1", Pools { pools }))
            }
            "runs" => {
                let runs = snapshot.runs.as_ref().map(|runs| runs.iter().collect());
                to_json(&facts.document("mooring.page.runs/v1", Runs { runs }))
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
            to_json(&facts.document("mooring.page.node/v1", OneNode { node }))
        }
        Some(("runs", id)) => {
            let runs = snapshot.runs.as_ref()?;
            let run = runs.iter().find(|run| !id.is_empty() && run.run_id.starts_with(id))?;
            to_json(&facts.document("mooring.page.runs/v1", Runs { runs: Some(vec![run]) }))
        }
        Some(_) => return None,
    };
    text.ok()
}

//! Five figures.

use mooring_inventory::{JoinState, Node, median};

use crate::html::{duration, elapsed, escape};
use crate::model::PageModel;
use crate::series::Series;

pub(crate) fn section(model: &PageModel<'_>) -> String {
    let figures =
        [ready(model), joining(model), failed(model), to_join(model), to_verdict(model)].concat();
    format!("<dl class=\"tiles\" aria-label=\"Figures\">{figures}</dl>")
}

/// Renders a figure. The remark is HTML.
fn figure(name: &str, value: &str, remark: &str) -> String {
    figure_of_class("", name, value, remark)
}

fn figure_of_class(class: &str, name: &str, value: &str, remark: &str) -> String {
    let value = escape(value);
    format!("<div{class}><dt>{name}</dt><dd>{value} <small>{remark}</small></dd></div>")
}

fn ready(model: &PageModel<'_>) -> String {
    let nodes = model.inventory.nodes.iter().filter(|node| model.has_image(node));
    let count = |state| nodes.clone().filter(|node| node.state == state).count();
    let remark = match (count(JoinState::NotReady), model.status.pools.len()) {
        (0, 1) => "in 1 pool".to_owned(),
        (0, pools) => format!("in {pools} pools"),
        (not_ready, _) => format!("{not_ready} more are not ready"),
    };
    figure("Nodes ready", &count(JoinState::Ready).to_string(), &remark)
}

fn joining(model: &PageModel<'_>) -> String {
    let joining = model.joining();
    let remark = match joining.first().and_then(|node| node.created_at) {
        Some(oldest) => format!("longest {} of 15 min", elapsed(oldest, model.now)),
        None => "no node is starting".to_owned(),
    };
    figure("Joining", &joining.len().to_string(), &remark)
}

fn failed(model: &PageModel<'_>) -> String {
    let failures = model.failures();
    let counted: u64 = Series::of(model).causes().iter().map(|(_, count)| count).sum();
    let known = u64::try_from(failures.len()).unwrap_or(u64::MAX);
    let total = counted.max(known);
    let existing = failures.iter().filter(|node| node.exists).count();
    let remark = match (total, model.facts.record.is_some()) {
        (0, true) => "none recorded".to_owned(),
        (_, true) => format!("{existing} still exist"),
        (_, false) => "deleted nodes are not known".to_owned(),
    };
    let name = match model.facts.record {
        Some(_) => format!("Failed in {}", model.view.since.label()),
        None => "Failed now".to_owned(),
    };
    let class = if total > 0 { " class=\"bad\"" } else { "" };
    figure_of_class(class, &name, &total.to_string(), &remark)
}

fn to_join(model: &PageModel<'_>) -> String {
    match model.usual_of_all() {
        Some(usual) => {
            let remark = format!("median; 95 % by {}", duration(usual.p95));
            figure("Time to join", &duration(usual.median), &remark)
        }
        None => figure("Time to join", "–", "no NodeClaim joined"),
    }
}

fn to_verdict(model: &PageModel<'_>) -> String {
    let failures = model.failures();
    let seconds = failures.iter().filter_map(|node| Node::seconds_to_failure(node));
    match (median(seconds.clone()), seconds.max()) {
        (Some(median), Some(slowest)) => {
            let remark = format!("median from launch; slowest {}", duration(slowest));
            figure("Cause known after", &duration(median), &remark)
        }
        _ => figure("Cause known after", "–", "no failure in this time"),
    }
}

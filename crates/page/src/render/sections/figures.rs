//! Five figures.

use std::fmt::Write as _;

use mooring_inventory::Node;

use crate::html::{duration, elapsed, escape};
use crate::model::PageModel;

struct Figure {
    name: &'static str,
    value: String,
    /// HTML.
    remark: String,
    is_bad: bool,
}

pub(crate) fn section(model: &PageModel<'_>) -> String {
    let mut html = String::from("<dl class=\"tiles\" aria-label=\"Figures\">");
    for figure in [ready(model), joining(model), failed(model), to_join(model), to_verdict(model)] {
        let class = if figure.is_bad { " class=\"bad\"" } else { "" };
        let _ = write!(
            html,
            "<div{class}><dt>{}</dt><dd>{} <small>{}</small></dd></div>",
            figure.name,
            escape(&figure.value),
            figure.remark
        );
    }
    html.push_str("</dl>");
    html
}

fn figure(name: &'static str, value: String, remark: String) -> Figure {
    Figure { name, value, remark, is_bad: false }
}

fn ready(model: &PageModel<'_>) -> Figure {
    let nodes = model.inventory.nodes.iter().filter(|node| model.has_image(node));
    let count = |state| nodes.clone().filter(|node| node.state == state).count();
    let (ready, not_ready) =
        (count(mooring_inventory::JoinState::Ready), count(mooring_inventory::JoinState::NotReady));
    let pools = model.status.pools.len();
    let remark = match (not_ready, pools) {
        (0, 1) => "in 1 pool".to_owned(),
        (0, pools) => format!("in {pools} pools"),
        (not_ready, _) => format!("{not_ready} more are not ready"),
    };
    Figure { is_bad: false, ..figure("Nodes ready", ready.to_string(), remark) }
}

fn joining(model: &PageModel<'_>) -> Figure {
    let joining = model.joining();
    let remark = match joining.first().and_then(|node| node.created_at) {
        Some(oldest) => format!("longest {} of 15 min", elapsed(oldest, model.now)),
        None => "no node is starting".to_owned(),
    };
    figure("Joining", joining.len().to_string(), remark)
}

fn failed(model: &PageModel<'_>) -> Figure {
    let failures = model.failures();
    let series = crate::series::Series::of(model);
    let counted: u64 = series.causes().iter().map(|(_, count)| count).sum();
    let known = u64::try_from(failures.len()).unwrap_or(u64::MAX);
    let total = counted.max(known);
    let existing = failures.iter().filter(|node| node.exists).count();
    let remark = match (total, model.facts.record.is_some()) {
        (0, true) => "none recorded".to_owned(),
        (_, true) => format!("{existing} still exist"),
        (_, false) => "deleted nodes are not known".to_owned(),
    };
    let name = match (model.facts.record.is_some(), model.view.since) {
        (false, _) => "Failed now",
        (true, crate::TimeRange::Hour) => "Failed in 1 h",
        (true, crate::TimeRange::Day) => "Failed in 24 h",
        (true, crate::TimeRange::Week) => "Failed in 7 d",
    };
    Figure { is_bad: total > 0, ..figure(name, total.to_string(), remark) }
}

fn to_join(model: &PageModel<'_>) -> Figure {
    match model.usual_of_all() {
        Some(usual) => figure(
            "Time to join",
            duration(usual.median),
            format!("median; 95 % by {}", duration(usual.p95)),
        ),
        None => figure("Time to join", "–".to_owned(), "no NodeClaim joined".to_owned()),
    }
}

fn to_verdict(model: &PageModel<'_>) -> Figure {
    let failures = model.failures();
    let mut seconds: Vec<i64> =
        failures.iter().filter_map(|node| Node::seconds_to_failure(node)).collect();
    seconds.sort_unstable();
    match (seconds.get(seconds.len() / 2), seconds.last()) {
        (Some(median), Some(slowest)) => figure(
            "Cause known after",
            duration(*median),
            format!("median from launch; slowest {}", duration(*slowest)),
        ),
        _ => figure("Cause known after", "–".to_owned(), "no failure in this time".to_owned()),
    }
}

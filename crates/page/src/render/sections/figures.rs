//! Five figures.

use mooring_nodes::{Count, JoinState, Node, median};

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
    let not_ready = model.count(JoinState::NotReady);
    let remark = match (not_ready.exact(), model.status.pools.len()) {
        (None, _) => "Nodes were not read".to_owned(),
        (Some(0), 1) => "in 1 pool".to_owned(),
        (Some(0), pools) => format!("in {pools} pools"),
        (Some(not_ready), _) => format!("{not_ready} more are not ready"),
    };
    figure("Nodes ready", &model.count(JoinState::Ready).to_string(), &remark)
}

fn joining(model: &PageModel<'_>) -> String {
    let joining = model.count(JoinState::Joining);
    let remark = match model.joining().first().and_then(|node| node.created_at) {
        Some(oldest) => format!("longest {} of 15 min", elapsed(oldest, model.now)),
        None if joining.is_none() => "no node is starting".to_owned(),
        None if model.inventory.reads.claims.is_read() => {
            "missing nodes of AKS pools are not known".to_owned()
        }
        None => "NodeClaims were not read".to_owned(),
    };
    figure("Nodes joining", &joining.to_string(), &remark)
}

fn failed(model: &PageModel<'_>) -> String {
    let failures = model.failures();
    let counted: u64 = Series::of(model).causes().iter().map(|(_, count)| count).sum();
    let known = u64::try_from(failures.len()).unwrap_or(u64::MAX);
    let total = usize::try_from(counted.max(known)).unwrap_or(usize::MAX);
    let total = Count::of(total, model.fleet.failed.exact().is_some());
    let existing = failures.iter().filter(|node| node.exists).count();
    let remark = match model.facts.record.is_some() {
        true if total.is_none() => "none recorded".to_owned(),
        true if total.is_some() => format!("{existing} still exist"),
        true if model.inventory.has_all_outcomes() => "missing nodes may have failed".to_owned(),
        true => "not all was read".to_owned(),
        false => "deleted nodes are not known".to_owned(),
    };
    let name = match model.facts.record {
        Some(_) => format!("Nodes failed in {}", model.view.since.label()),
        None => "Nodes failed now".to_owned(),
    };
    let class = if total.is_some() { " class=\"bad\"" } else { "" };
    figure_of_class(class, &name, &total.to_string(), &remark)
}

fn to_join(model: &PageModel<'_>) -> String {
    match model.usual_of_all() {
        Some(usual) => {
            let remark = format!("median; 95 % of nodes by {}", duration(usual.p95));
            figure("Time to join", &duration(usual.median), &remark)
        }
        None if model.facts.inventory.reads.claims.is_read() => {
            figure("Time to join", "–", "no NodeClaim joined")
        }
        None => figure("Time to join", "–", "NodeClaims were not read"),
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
        _ if model.fleet.failed.is_none() => {
            figure("Cause known after", "–", "no failure in this time")
        }
        _ => figure("Cause known after", "–", "not known"),
    }
}

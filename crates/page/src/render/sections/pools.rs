//! Pools.

use mooring_nodes::claim::image;
use mooring_nodes::{Pool, PoolKind, PoolState};

use crate::html::{MAX_ROWS, card, clock, duration, escape, more, pool_link, word};
use crate::model::PageModel;

pub(crate) fn section(model: &PageModel<'_>) -> String {
    let pools = &model.status.pools;
    if pools.is_empty() {
        return card("h-pools", "Pools", "", "<p>No pool is known.</p>");
    }
    let mut html = String::from(
        "<table class=\"cards pools\"><caption class=\"sr\">Pools of the cluster</caption><thead><tr><th scope=\"col\">Pool</th><th scope=\"col\" class=\"num\">Ready</th><th scope=\"col\" class=\"num\">Joining</th><th scope=\"col\" class=\"num\">Failed</th><th scope=\"col\">Newest image</th><th scope=\"col\" class=\"num\">Usual join</th><th scope=\"col\">Last failure</th><th scope=\"col\">State</th></tr></thead><tbody>",
    );
    for pool in pools.iter().take(MAX_ROWS) {
        html.push_str(&row(model, pool));
    }
    html.push_str("</tbody></table>");
    html.push_str(&more(MAX_ROWS, pools.len()));
    card("h-pools", "Pools", "", &html)
}

fn row(model: &PageModel<'_>, pool: &Pool) -> String {
    let all = pool.wanted.map_or(pool.nodes, |wanted| pool.nodes.max_with(wanted));
    let ready =
        if pool.ready == all { pool.ready.to_string() } else { format!("{} of {all}", pool.ready) };
    let severity = match pool.state {
        PoolState::Healthy => "good",
        PoolState::NotChecked => "calm",
        PoolState::NotReady | PoolState::Unknown => "slow",
        PoolState::ImageFails | PoolState::Failing | PoolState::Degraded | PoolState::Late => {
            "failed"
        }
    };
    let failed = if pool.failed.is_some() {
        format!("<b class=\"failed\">{}</b>", pool.failed)
    } else {
        pool.failed.to_string()
    };
    let image = pool.new_image.as_deref().map_or("–", image::version);
    let last = pool.last_failure_at.map_or_else(|| "–".to_owned(), |at| clock(at, model.now));
    // A Node of an AKS pool has no time before its creation.
    let usual = pool.seconds_to_join.filter(|_| pool.kind == PoolKind::NodePool);
    format!(
        "<tr><th scope=\"row\">{} <small>{}</small></th><td class=\"num\" data-l=\"ready\">{ready}</td><td class=\"num\" data-l=\"joining\">{}</td><td class=\"num\" data-l=\"failed\">{failed}</td><td data-l=\"Image\"><code>{}</code></td><td class=\"num opt\">{}</td><td class=\"opt\">{last}</td><td data-l=\"State\">{}</td></tr>",
        pool_link(model.view, &pool.name),
        pool.kind.as_str(),
        pool.joining,
        escape(image),
        usual.map_or_else(|| "–".to_owned(), duration),
        word(severity, pool.state.as_str())
    )
}

//! Nodes that are joining, as a waterfall against what is usual in their pool.

use std::fmt::Write as _;

use jiff::Timestamp;
use mooring_nodes::{Node, REGISTRATION_LIMIT};

use crate::html::{MAX_ROWS, card, duration, elapsed, escape, exact_clock, node_link};
use crate::model::PageModel;
use crate::view::{PageView, Route};

const LIMIT: i64 = REGISTRATION_LIMIT.as_secs();
const TITLE: &str = "Nodes joining";
/// Nodes on a page that lists all of them.
const PAGE: usize = 200;
/// Nodes shown that ended last.
const ENDED: usize = 2;

pub(crate) fn section(model: &PageModel<'_>) -> String {
    if !model.facts.has_karpenter {
        return String::new();
    }
    let joining = model.joining();
    let is_list = model.view.route == Route::Joining;
    let ended = if is_list { Vec::new() } else { ended(model) };
    let is_known = model.facts.inventory.reads.claims.is_read();
    if joining.is_empty() && ended.is_empty() {
        let text =
            if is_known { "<p>None.</p>" } else { "<p>Not known: NodeClaims were not read.</p>" };
        return if is_list { card("h-joining", TITLE, "", text) } else { String::new() };
    }
    let (from, limit) = if is_list { (model.view.from, PAGE) } else { (0, MAX_ROWS) };
    let mut html = format!("{AXIS}<ul class=\"waterfall\">");
    for node in joining.iter().skip(from).take(limit).chain(&ended) {
        html.push_str(&row(model, node));
    }
    html.push_str("</ul>");
    html.push_str(&links(model, from, limit, joining.len()));
    html.push_str("<ul class=\"key\"><li><i class=\"k machine\"></i>launch</li><li><i class=\"k bootstrap\"></i>boot and bootstrap</li><li><i class=\"k register\"></i>register</li><li><i class=\"k ready\"></i>ready</li><li><i class=\"k usual\"></i>when the pool usually joins, median to 95 %</li><li><i class=\"k soon\"></i>when nodes on this image failed</li></ul>");
    let small = match (joining.len(), ended.len()) {
        (0, _) if is_known => "none; the last that ended",
        (0, _) => "not known; the last that ended",
        (_, 0) => "",
        _ => "and the last that ended",
    };
    card("h-joining", TITLE, small, &html)
}

/// Renders the way to the nodes that are not shown.
fn links(model: &PageModel<'_>, from: usize, limit: usize, all: usize) -> String {
    if all <= limit && from == 0 {
        return String::new();
    }
    let link = |from: usize, text: &str| {
        let view = PageView {
            route: Route::Joining,
            pool: model.filter.pool.clone(),
            image: model.filter.image.clone(),
            from,
            ..model.view.clone()
        };
        format!("<a href=\"{}\">{text}</a>", escape(&view.address()))
    };
    if model.view.route != Route::Joining {
        let all = link(0, &format!("All {all} nodes that are joining"));
        return format!("<p class=\"hint\">{all}</p>");
    }
    let end = all.min(from.saturating_add(limit));
    let mut html = format!("<p class=\"hint\">{} to {end} of {all}", end.min(from + 1));
    if from > 0 {
        let _ = write!(html, " · {}", link(from.saturating_sub(limit), "previous"));
    }
    if end < all {
        let _ = write!(html, " · {}", link(end, "next"));
    }
    html + "</p>"
}

/// Returns the nodes whose result is the newest.
fn ended<'a>(model: &'a PageModel<'_>) -> Vec<&'a Node> {
    let is_wanted = |node: &&Node| {
        node.node_claim.is_some()
            && end(node).is_some()
            && start(node).is_some()
            && model.has_image(node)
    };
    let mut ended: Vec<&Node> = model.inventory.nodes.iter().filter(is_wanted).collect();
    ended.sort_by_key(|node| std::cmp::Reverse(end(node)));
    ended.truncate(ENDED);
    ended
}

fn start(node: &Node) -> Option<Timestamp> {
    node.created_at.or(node.launched_at)
}

/// Returns when the node failed, or was ready. A Node that becomes ready long after it joined was ready before.
fn end(node: &Node) -> Option<Timestamp> {
    if let Some(failure) = &node.failure {
        return failure.failed_at;
    }
    let joined = node.joined_at?;
    let limit = start(node)?.as_second() + LIMIT;
    let ready = node.ready_at.filter(|at| *at > joined && at.as_second() <= limit);
    Some(ready.unwrap_or(joined))
}

const AXIS: &str = "<div class=\"wrow waxis\" aria-hidden=\"true\"><div></div><svg width=\"100%\" height=\"16\"><text x=\"0\" y=\"12\">0 min</text><text class=\"opt\" x=\"20%\" y=\"12\" text-anchor=\"middle\">3 min</text><text x=\"40%\" y=\"12\" text-anchor=\"middle\" class=\"opt3\">6 min</text><text class=\"opt\" x=\"60%\" y=\"12\" text-anchor=\"middle\">9 min</text><text class=\"lim\" x=\"100%\" y=\"12\" text-anchor=\"end\">Karpenter gives up at 15 min</text></svg><div></div></div>";

/// Classes and names of the phases.
const PHASES: [(&str, &str); 4] = [
    ("machine", "launch"),
    ("bootstrap", "boot and bootstrap"),
    ("register", "register"),
    ("ready", "ready"),
];

/// Returns class, name, start and end of the phases until `now`, in seconds since `began`; the last may not have ended.
fn phases(node: &Node, began: Timestamp, now: i64) -> Vec<(&'static str, &'static str, i64, i64)> {
    let ends = [node.launched_at, node.node_created_at, node.joined_at, node.ready_at];
    let mut from = 0;
    let mut phases = Vec::new();
    for ((class, name), end) in PHASES.into_iter().zip(ends) {
        let to = end.map_or(now, |at| at.as_second() - began.as_second());
        let to = to.clamp(from, now.max(from));
        phases.push((class, name, from, to));
        from = to;
        if end.is_none() {
            break;
        }
    }
    phases
}

/// Returns a time after the start, in percent of the limit.
fn place(seconds: i64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "seconds of an hour")]
    let percent = seconds.clamp(0, LIMIT) as f64 * 100.0 / LIMIT as f64;
    percent
}

fn row(model: &PageModel<'_>, node: &Node) -> String {
    let Some(began) = start(node) else { return String::new() };
    let seconds = |at: Timestamp| at.as_second() - began.as_second();
    let now = seconds(end(node).unwrap_or(model.now));
    let launched = node.launched_at.map_or(now, seconds).clamp(0, now.max(0));
    let mut plot = String::new();
    let usual = model.usual(node.pool.as_deref());
    if let Some(usual) = usual {
        let (from, to) = (place(usual.median), place(usual.p95));
        let _ = write!(
            plot,
            "<rect class=\"usual\" x=\"{from:.2}%\" width=\"{:.2}%\" y=\"6\" height=\"28\"><title>usually joined: median {}, 95 % by {}</title></rect>",
            (to - from).max(0.8),
            duration(usual.median),
            duration(usual.p95)
        );
    }
    for (class, name, from, to) in phases(node, began, now) {
        if to > from {
            let (x, end) = (place(from), place(to));
            let _ = write!(
                plot,
                "<rect class=\"ph {class}\" x=\"{x:.2}%\" width=\"{:.2}%\" y=\"13\" height=\"14\"><title>{name}: {}</title></rect>",
                end - x,
                duration(to - from)
            );
        }
    }
    let like = model.failures_like(node).filter(|_| end(node).is_none());
    if let Some((count, after)) = like {
        let x = place(launched + after);
        let _ = write!(
            plot,
            "<line class=\"soon\" x1=\"{x:.2}%\" x2=\"{x:.2}%\" y1=\"7\" y2=\"33\"><title>{count} nodes on this image failed {} after launch (median)</title></line>",
            duration(after)
        );
    }
    let (mark, text) = result(model, node, (now, like, usual.map(|usual| usual.median)));
    if let Some((class, sign)) = mark {
        let _ = write!(
            plot,
            "<text class=\"{class}\" x=\"{:.2}%\" y=\"25\">{sign}</text>",
            (place(now) + 0.7).min(96.0)
        );
    }
    let version = node.image.as_deref().map_or("", mooring_nodes::claim::image::version);
    format!(
        "<li class=\"wrow\"><div class=\"wname\">{}<small><code>{}</code></small></div><svg class=\"wf\" width=\"100%\" height=\"40\" aria-hidden=\"true\">{plot}</svg><div class=\"wtext\">{text}</div></li>",
        node_link(model.view, node.name()),
        escape(version)
    )
}

type Mark = Option<(&'static str, &'static str)>;

/// Returns the mark at the end of a bar, and the text next to it.
fn result(
    model: &PageModel<'_>,
    node: &Node,
    (seconds, like, median): (i64, Option<(usize, i64)>, Option<i64>),
) -> (Mark, String) {
    let at = |at: Option<Timestamp>| {
        at.map_or_else(String::new, |at| format!(", at {}", exact_clock(at, model.now)))
    };
    if let Some(failure) = &node.failure {
        let text = format!(
            "<span class=\"failed\">✗ {}</span><small>after {}{}</small>",
            escape(&failure.cause),
            duration(seconds),
            at(failure.failed_at)
        );
        return (Some(("x", "✗")), text);
    }
    if node.joined_at.is_some() {
        let text = format!(
            "<span class=\"good\">✓ joined</span><small>after {}{}</small>",
            duration(seconds),
            at(end(node))
        );
        return (Some(("v", "✓")), text);
    }
    let phase = match (node.launched_at, node.node_created_at) {
        (None, None) => "launching",
        (Some(_), None) => "in bootstrap",
        (_, Some(_)) => "registering",
    };
    let began = start(node).unwrap_or(model.now);
    let mut text =
        format!("<b>{}</b> <span class=\"muted\">{phase}</span>", elapsed(began, model.now));
    if let Some((count, after)) = like {
        let _ =
            write!(text, "<small>{count} like it failed {} after launch</small>", duration(after));
    } else if let Some(median) = median {
        let _ = write!(text, "<small>half of its pool joined by {}</small>", duration(median));
    }
    (None, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{before, joined, joining};

    #[test]
    fn phases_end_with_the_times_of_the_node() {
        let mut node = joining("a", "default", "i", 100);
        node.launched_at = None;
        let of = |node: &Node, now: i64| -> Vec<(&str, i64, i64)> {
            let phases = phases(node, before(100), now).into_iter();
            phases.map(|(class, _, from, to)| (class, from, to)).collect()
        };
        assert_eq!(of(&node, 100), [("machine", 0, 100)]);
        node.launched_at = Some(before(90));
        assert_eq!(of(&node, 100), [("machine", 0, 10), ("bootstrap", 10, 100)]);
        node.node_created_at = Some(before(40));
        let registering = [("machine", 0, 10), ("bootstrap", 10, 60), ("register", 60, 100)];
        assert_eq!(of(&node, 100), registering);
        (node.joined_at, node.ready_at) = (Some(before(30)), Some(before(20)));
        let all =
            [("machine", 0, 10), ("bootstrap", 10, 60), ("register", 60, 70), ("ready", 70, 80)];
        assert_eq!(of(&node, 80), all);
        // Times of two clocks may be out of order.
        node.node_created_at = Some(before(25));
        let late =
            [("machine", 0, 10), ("bootstrap", 10, 75), ("register", 75, 75), ("ready", 75, 80)];
        assert_eq!(of(&node, 80), late);
    }

    #[test]
    fn node_ends_when_it_is_ready_or_failed() {
        let mut node = joined("a", "default", "i", 50, 100);
        node.ready_at = Some(before(40));
        assert_eq!(end(&node), Some(before(40)));
        for unlikely in [Some(before(60)), Some(before(150 - LIMIT - 1)), None] {
            node.ready_at = unlikely;
            assert_eq!(end(&node), Some(before(50)), "{unlikely:?}");
        }
        node.ready_at = Some(before(150 - LIMIT));
        assert_eq!(end(&node), node.ready_at);
        node.failure = Some(crate::fixture::failure(45).into());
        assert_eq!(end(&node), Some(before(45)));
        assert_eq!(end(&joining("a", "default", "i", 100)), None);
    }
}

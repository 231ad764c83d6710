//! Images and causes with 95 % intervals.

use std::fmt::Write as _;

use mooring_nodes::{FleetRow, FleetVerdict, Share, percent};

use crate::html::{MAX_ROWS, card, cause_link, clock, escape, image_link, more, word};
use crate::model::PageModel;

const HINT: &str = "Upper mark: nodes of this image. Lower mark: all other images. Lines are 95 % intervals; the image is at fault only if they do not touch and each side has four nodes.";

pub(crate) fn section(model: &PageModel<'_>) -> String {
    let rows = model.rows();
    if rows.is_empty() {
        return String::new();
    }
    let mut html = String::from(
        "<table class=\"fleet\"><caption class=\"sr\">Failures by image and cause, with 95 % intervals</caption><thead class=\"sr\"><tr><th scope=\"col\">Image and cause</th><th scope=\"col\">Failure rate</th><th scope=\"col\">Nodes and verdict</th></tr></thead><tbody>",
    );
    for row in rows.iter().take(MAX_ROWS) {
        html.push_str(&table_row(model, row));
    }
    html.push_str("</tbody><tfoot aria-hidden=\"true\"><tr><td></td><td><svg width=\"100%\" height=\"16\"><text x=\"0\" y=\"12\">0</text><text x=\"50%\" y=\"12\" text-anchor=\"middle\">50 % failed</text><text x=\"100%\" y=\"12\" text-anchor=\"end\">100</text></svg></td><td></td></tr></tfoot></table>");
    html.push_str(&more(MAX_ROWS, rows.len()));
    let _ = write!(html, "<p class=\"hint\">{HINT}</p>");
    card("h-fleet", "By image and cause", "", &html)
}

fn table_row(model: &PageModel<'_>, row: &FleetRow) -> String {
    let (severity, text) = match row.verdict {
        FleetVerdict::Image => ("failed", "the image"),
        FleetVerdict::NotTheImage => ("calm", "not the image"),
        FleetVerdict::TooFewNodes => ("calm", "too few nodes"),
    };
    let last = row.last_at.map(|at| format!(", last {}", clock(at, model.now)));
    let class = if row.verdict == FleetVerdict::Image { "bad" } else { "here" };
    let plot = interval(class, row.here, 13) + &interval("rest", row.others, 35);
    format!(
        "<tr><th scope=\"row\">{}{}<small>{}{}</small></th><td><svg class=\"iv\" width=\"100%\" height=\"48\" aria-hidden=\"true\">{plot}</svg></td><td><b>{} of {}</b> <small>{} %</small><br><span class=\"muted\">{} of {}</span> <small>{} %</small><br>{}</td></tr>",
        image_link(model.view, &row.image),
        cause_link(model.view, &row.cause),
        escape(&row.pools.join(", ")),
        last.unwrap_or_default(),
        row.here.failed,
        row.here.nodes,
        range(row.here),
        row.others.failed,
        row.others.nodes,
        range(row.others),
        word(severity, text),
    )
}

fn range(share: Share) -> String {
    format!("{}–{}", percent(share.low), percent(share.high))
}

fn interval(class: &str, share: Share, y: i32) -> String {
    let Share { failed, nodes, low, high } = share;
    if nodes == 0 {
        return String::new();
    }
    let rate = f64::from(failed) * 100.0 / f64::from(nodes);
    let mut html = String::new();
    for (x1, x2, y1, y2) in
        [(low, high, y, y), (low, low, y - 4, y + 4), (high, high, y - 4, y + 4)]
    {
        let _ = write!(
            html,
            "<line class=\"wh {class}\" x1=\"{x1:.1}%\" x2=\"{x2:.1}%\" y1=\"{y1}\" y2=\"{y2}\"/>"
        );
    }
    let _ = write!(html, "<circle class=\"dot {class}\" cx=\"{rate:.1}%\" cy=\"{y}\" r=\"4.5\"/>");
    html
}

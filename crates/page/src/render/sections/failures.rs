//! The last failures.

use std::fmt::Write as _;

use mooring_nodes::Node;
use mooring_nodes::claim::image;
use mooring_workflow::Reading;

use crate::html::{
    MAX_ROWS, card, cause_link, code_link, duration, escape, exact_clock, more, node_link,
};
use crate::model::PageModel;
use crate::view::Route;

/// Failures on a page that shows more than failures.
const LAST: usize = 8;

pub(crate) fn section(model: &PageModel<'_>) -> String {
    let failures = model.failures();
    let title = match model.view.route {
        Route::Failures => format!("Failures in the {}", model.view.since.text()),
        _ => "Last failures".to_owned(),
    };
    if failures.is_empty() {
        let fleet = &model.fleet;
        let mut text = match () {
            () if fleet.failed.is_none() => "None.".to_owned(),
            () if fleet.failed_existing.is_none() => {
                "None among the nodes that exist now.".to_owned()
            }
            () => "Not known.".to_owned(),
        };
        if model.facts.inventory.reads.record == Reading::NotFound {
            text.push_str(" Failures of deleted nodes are not known.");
        }
        let unread = model.facts.unread().into_iter().map(str::to_owned);
        for unread in unread.chain(model.facts.unasked()) {
            let _ = write!(text, " {}", escape(&unread));
        }
        return card("h-failures", &title, "", &format!("<p>{text}</p>"));
    }
    let is_list = matches!(model.view.route, Route::Failures | Route::Code(_));
    let limit = if is_list { MAX_ROWS } else { LAST };
    let mut html = String::from(
        "<table class=\"cards fails\"><caption class=\"sr\">The last failures, the newest first</caption><thead><tr><th scope=\"col\">At</th><th scope=\"col\">Node</th><th scope=\"col\">Cause and evidence</th><th scope=\"col\">Image</th><th scope=\"col\" class=\"num\">After launch</th></tr></thead><tbody>",
    );
    for node in failures.iter().take(limit) {
        html.push_str(&row(model, node));
    }
    html.push_str("</tbody></table>");
    if is_list {
        html.push_str(&more(limit, failures.len()));
    } else if failures.len() > limit {
        let address = crate::PageView {
            route: Route::Failures,
            pool: model.filter.pool.clone(),
            image: model.filter.image.clone(),
            cause: model.filter.cause.clone(),
            since: model.view.since,
            from: 0,
        };
        let _ = write!(
            html,
            "<p class=\"hint\"><a href=\"{}\">All {} failures of the {}</a></p>",
            escape(&address.address()),
            failures.len(),
            model.view.since.text()
        );
    }
    card("h-failures", &title, "", &html)
}

fn row(model: &PageModel<'_>, node: &Node) -> String {
    let Some(failure) = &node.failure else { return String::new() };
    let at = failure.failed_at.map_or_else(|| "–".to_owned(), |at| exact_clock(at, model.now));
    let code = |code: i32| code_link(model.view, code);
    let codes = match (&failure.effective, &failure.reported) {
        (Some(effective), Some(reported)) => {
            format!(" <small>{}, reported as {}</small>", code(effective.code), code(reported.code))
        }
        (None, Some(one)) | (Some(one), None) => format!(" <small>{}</small>", code(one.code)),
        (None, None) => String::new(),
    };
    let confirmed =
        if failure.is_confirmed { "" } else { " <small>reported by an event only</small>" };
    let evidence = failure.evidence.first().map_or(failure.message.as_str(), |one| &one.line);
    let version = node.image.as_deref().map_or("–", image::version);
    let after = node.seconds_to_failure().map_or_else(|| "–".to_owned(), duration);
    format!(
        "<tr><td data-l=\"At\">{at}</td><th scope=\"row\">{}</th><td data-l=\"Cause\">{}{codes}{confirmed}<br><code class=\"ev\">{}</code></td><td data-l=\"Image\"><code>{}</code></td><td class=\"num\" data-l=\"After\">{after}</td></tr>",
        node_link(model.view, node.name()),
        cause_link(model.view, &failure.cause),
        escape(&mooring_redact::without_middle(evidence, 600)),
        escape(version)
    )
}

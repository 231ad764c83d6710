//! Whole pages.

use std::fmt::Write as _;

use super::frame::{BRAND, THEME, footer, head, header};
use super::sections::{
    controller, failures, figures, fleet, joining, pools, runs, strips, timeline,
};
use super::{subject, verdict};
use crate::html::{escape, part};
use crate::model::PageModel;
use crate::snapshot::Snapshot;
use crate::view::{PageView, Route};

/// Renders a page. Returns false with a page about something that does not exist.
pub fn render(snapshot: &Snapshot, view: &PageView) -> (bool, String) {
    let model = PageModel::new(snapshot, view);
    let subject = subject::section(&model);
    let exists = subject.is_some();
    let parts = sections(&model, &subject.unwrap_or_else(|| subject::not_found(&model)));
    let name = model.facts.cluster_name();
    let mark = verdict::mark(&model);
    let about = view.route.title().map_or_else(String::new, |about| format!("{about} – "));
    let mut html = head(&format!("{mark} {about}{name} – Mooring"), 30);
    html.push_str(&header(&model, &name));
    let _ = write!(
        html,
        "<main id=\"main\" tabindex=\"-1\" data-now=\"{}\">\n<div id=\"offline\" class=\"strip stale\" role=\"alert\" hidden></div>\n{parts}</main>\n",
        model.now.as_millisecond()
    );
    html.push_str(&footer(view));
    (exists, html)
}

/// Renders the page before the first facts are read.
pub fn render_loading(why: Option<&str>) -> String {
    let mut html = head("… Mooring", 2);
    let text = match why {
        Some(why) => format!(
            "<section class=\"verdict failed\" aria-labelledby=\"v\"><h2 id=\"v\">The cluster cannot be read</h2><p>{}</p></section>",
            escape(why)
        ),
        None => "<section class=\"verdict\" aria-busy=\"true\" aria-labelledby=\"v\"><h2 id=\"v\">Reading the cluster…</h2><p>NodeClaims, nodes, the failure record and the controller are read; Azure only for nodes without a verdict.</p></section>".to_owned(),
    };
    let _ = write!(
        html,
        "<header class=\"top\"><a class=\"brand\" href=\"/\" aria-label=\"Mooring, overview\">{BRAND}</a><div class=\"who\"><h1>Mooring</h1></div><span class=\"pill\" id=\"pill\"><i></i><span id=\"live\">Reading</span></span>{THEME}</header>\n\
         <main id=\"main\" tabindex=\"-1\" data-loading data-now=\"0\"><div id=\"offline\" class=\"strip stale\" role=\"alert\" hidden></div>{text}</main>\n{}",
        footer(&PageView::new(Route::Overview))
    );
    html
}

/// Joins the sections that a page has, in their order.
fn sections(model: &PageModel<'_>, subject: &str) -> String {
    let is_about_nodes = !matches!(model.view.route, Route::Node(_) | Route::Run(_));
    if model.view.route == Route::Joining {
        let joining = part("joining", &joining::section(model));
        return part("strips", &strips::section(model)) + &part("subject", subject) + &joining;
    }
    let is_list = matches!(model.view.route, Route::Failures | Route::Code(_));
    let mut html = part("strips", &strips::section(model));
    html.push_str(&part("subject", subject));
    if is_about_nodes && !is_list {
        html.push_str(&part("verdict", &verdict::section(model)));
        html.push_str(&part("figures", &figures::section(model)));
        let (timeline, fleet) = (timeline::section(model), fleet::section(model));
        let (timeline, fleet) = (part("timeline", &timeline), part("fleet", &fleet));
        let _ = write!(html, "<div class=\"two\">\n{timeline}{fleet}</div>\n");
        html.push_str(&part("joining", &joining::section(model)));
    }
    if matches!(model.view.route, Route::Overview) {
        html.push_str(&part("pools", &pools::section(model)));
        html.push_str(&part("runs", &runs::section(model)));
    }
    if is_about_nodes {
        html.push_str(&part("failures", &failures::section(model)));
    }
    if matches!(model.view.route, Route::Overview) {
        html.push_str(&part("controller", &controller::section(model)));
    }
    html
}

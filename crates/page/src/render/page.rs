//! Whole pages: their frame, and their sections in order.

use std::fmt::Write as _;

use mooring_workflow::Reading;

use super::sections::{
    controller, failures, figures, fleet, joining, pools, runs, strips, timeline,
};
use super::{subject, verdict};
use crate::html::{escape, part};
use crate::model::{PageMode, PageModel, Snapshot};
use crate::view::{PageView, Route, TimeRange};

const PATTERNS: &str = r#"<svg width="0" height="0" class="defs" aria-hidden="true" focusable="false"><defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hg" width="6" height="6"/><rect class="hl" width="3" height="6"/></pattern><pattern id="dots" width="5" height="5" patternUnits="userSpaceOnUse"><rect class="dg" width="5" height="5"/><circle class="dd" cx="2.5" cy="2.5" r="1.3"/></pattern></defs></svg>"#;

pub(super) const BRAND: &str = r#"<svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true"><circle cx="16" cy="19" r="9" fill="none" stroke="currentColor" stroke-width="4.5"/><path d="M16 3v7M10.5 4.5h11" stroke="currentColor" stroke-width="4.5" stroke-linecap="round"/></svg>"#;

pub(super) const THEME: &str = r#"<button type="button" id="theme" class="icon" aria-label="Theme: system" hidden><svg viewBox="0 0 20 20" width="18" height="18" aria-hidden="true"><path d="M10 2a8 8 0 1 0 0 16z" fill="currentColor"/><circle cx="10" cy="10" r="7.2" fill="none" stroke="currentColor" stroke-width="1.6"/></svg></button>"#;

pub(super) fn head(title: &str, refresh: u32) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n\
         <link rel=\"icon\" href=\"/icon.svg\" type=\"image/svg+xml\">\n<link rel=\"stylesheet\" href=\"/page.css\">\n\
         <script src=\"/page.js\" defer></script>\n\
         <noscript><meta http-equiv=\"refresh\" content=\"{refresh}\"></noscript>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the verdict</a>\n{PATTERNS}\n",
        escape(title)
    )
}

pub(super) fn header(model: &PageModel<'_>, name: &str) -> String {
    let mut range = String::new();
    for since in TimeRange::ALL {
        let current = if since == model.view.since { " aria-current=\"true\"" } else { "" };
        let address = escape(&PageView { since, ..model.view.clone() }.address());
        let _ = write!(range, "<a href=\"{address}\"{current}>{}</a>", since.label());
    }
    let record = &model.facts.inventory.reads.record;
    let (state, live) = match (&model.snapshot.mode, record) {
        (PageMode::Local, record) if record.has_failed() => ("partial", "Live, record not read"),
        (PageMode::Local, Reading::NotFound) => ("partial", "Live, no record"),
        (PageMode::Follower, _) => ("partial", "Live, not the leader"),
        _ => ("live", "Live"),
    };
    format!(
        "<header class=\"top\">\n<a class=\"brand\" href=\"/\" aria-label=\"Mooring, overview\">{BRAND}</a>\n\
         <div class=\"who\"><h1>{}</h1><p>{}</p></div>\n<nav aria-label=\"Time shown\" class=\"range\">{range}</nav>\n\
         <span class=\"pill {state}\" id=\"pill\"><i></i><span id=\"live\" data-live=\"{live}\">{live}</span></span>\n{THEME}\n</header>\n",
        escape(name),
        escape(&model.facts.about().join(" · ")),
    )
}

pub(super) fn footer(view: &PageView) -> String {
    let since = view.since.as_str();
    format!(
        "<footer><p>Read-only: nothing on this page changes the cluster. The same as JSON: <a href=\"/api/v1/status?since={since}\">status</a>, \
         <a href=\"/api/v1/fleet?since={since}\">fleet</a>, <a href=\"/api/v1/failures?since={since}\">failures</a>. Times are UTC. mooring {}</p></footer>\n\
         <p class=\"sr\" id=\"say\" aria-live=\"polite\"></p>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    )
}

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

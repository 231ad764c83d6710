//! HTML of the page, section by section.

mod card;
mod controller;
mod failures;
mod figures;
mod fleet;
mod joining;
mod pools;
mod runs;
mod strips;
mod subject;
mod timeline;
mod verdict;

use std::fmt::Write as _;
use std::hash::Hasher as _;

use crate::html::escape;
use crate::model::Model;
use crate::snapshot::{Mode, Snapshot};
use crate::view::{Route, Since, View};

const PATTERNS: &str = r#"<svg width="0" height="0" class="defs" aria-hidden="true" focusable="false"><defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hg" width="6" height="6"/><rect class="hl" width="3" height="6"/></pattern><pattern id="dots" width="5" height="5" patternUnits="userSpaceOnUse"><rect class="dg" width="5" height="5"/><circle class="dd" cx="2.5" cy="2.5" r="1.3"/></pattern></defs></svg>"#;

const BRAND: &str = r#"<svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true"><circle cx="16" cy="19" r="9" fill="none" stroke="currentColor" stroke-width="4.5"/><path d="M16 3v7M10.5 4.5h11" stroke="currentColor" stroke-width="4.5" stroke-linecap="round"/></svg>"#;

const THEME: &str = r#"<button type="button" id="theme" class="icon" aria-label="Theme: system" hidden><svg viewBox="0 0 20 20" width="18" height="18" aria-hidden="true"><path d="M10 2a8 8 0 1 0 0 16z" fill="currentColor"/><circle cx="10" cy="10" r="7.2" fill="none" stroke="currentColor" stroke-width="1.6"/></svg></button>"#;

/// Renders a page. Returns false with a page about something that does not exist.
pub fn render(snapshot: &Snapshot, view: &View) -> (bool, String) {
    let model = Model::new(snapshot, view);
    let subject = subject::section(&model);
    let exists = subject.is_some();
    let parts = sections(&model, &subject.unwrap_or_else(|| subject::not_found(&model)));
    let name = model.facts.cluster_name();
    let mark = verdict::mark(&model);
    let mut html = head(&format!("{mark} {name} – Mooring"), 30);
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
        footer(&View::new(Route::Overview))
    );
    html
}

fn head(title: &str, refresh: u32) -> String {
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

fn header(model: &Model<'_>, name: &str) -> String {
    let facts = model.facts;
    let mut about: Vec<String> = Vec::new();
    about.extend(facts.region.clone());
    let version = facts.version.as_deref();
    about.extend(version.map(|text| format!("Kubernetes {}", text.trim_start_matches('v'))));
    about.extend(facts.identity.context.as_ref().map(|context| format!("context {context}")));
    let mut range = String::new();
    for since in Since::ALL {
        let current = if since == model.view.since { " aria-current=\"true\"" } else { "" };
        let address = escape(&model.view.with_since(since));
        let _ = write!(range, "<a href=\"{address}\"{current}>{}</a>", since.label());
    }
    let (state, live) = match (&model.snapshot.mode, &facts.record) {
        (Mode::Local, None) => ("partial", "Live, no record"),
        (Mode::Follower, _) => ("partial", "Live, not the leader"),
        _ => ("live", "Live"),
    };
    format!(
        "<header class=\"top\">\n<a class=\"brand\" href=\"/\" aria-label=\"Mooring, overview\">{BRAND}</a>\n\
         <div class=\"who\"><h1>{}</h1><p>{}</p></div>\n<nav aria-label=\"Time shown\" class=\"range\">{range}</nav>\n\
         <span class=\"pill {state}\" id=\"pill\"><i></i><span id=\"live\" data-live=\"{live}\">{live}</span></span>\n{THEME}\n</header>\n",
        escape(name),
        escape(&about.join(" · ")),
    )
}

fn footer(view: &View) -> String {
    let since = view.since.as_str();
    format!(
        "<footer><p>Read-only: nothing on this page changes the cluster. The same as JSON: <a href=\"/api/v1/status?since={since}\">status</a>, \
         <a href=\"/api/v1/fleet?since={since}\">fleet</a>, <a href=\"/api/v1/failures?since={since}\">failures</a>. Times are UTC. mooring {}</p></footer>\n\
         <p class=\"sr\" id=\"say\" aria-live=\"polite\"></p>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// Joins the sections that a page has, in their order.
fn sections(model: &Model<'_>, subject: &str) -> String {
    let is_about_nodes = !matches!(model.view.route, Route::Node(_) | Route::Run(_));
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

/// Wraps a section that the script exchanges when its revision changes.
fn part(name: &str, html: &str) -> String {
    format!("<div data-part=\"{name}\" data-revision=\"{:016x}\">{html}</div>\n", revision(html))
}

/// Returns a hash of the content. Elapsed times are not content: the script keeps them current.
fn revision(html: &str) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    let mut rest = html;
    while let Some((before, after)) = rest.split_once(" data-since>") {
        hasher.write(before.as_bytes());
        rest = after.split_once("</time>").map_or("", |(_, after)| after);
    }
    hasher.write(rest.as_bytes());
    hasher.finish()
}

#[cfg(test)]
mod tests;

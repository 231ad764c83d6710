//! Messages about the page itself: missing sources, filters, a replica that does not lead.

use std::fmt::Write as _;

use mooring_workflow::published::{Source, SourceName, SourceState};

use crate::html::{command, elapsed, escape};
use crate::model::PageMode;
use crate::model::PageModel;
use crate::view::{PageView, Route};

pub(crate) fn section(model: &PageModel<'_>) -> String {
    let mut html = String::new();
    if let Some(text) = filters(model) {
        let _ = write!(html, "<div class=\"strip plain\">{text}</div>");
    }
    if model.snapshot.mode == PageMode::Follower {
        let leader = match model.facts.controller.leader.as_deref() {
            Some(leader) => format!("<code>{}</code> leads.", escape(leader)),
            None if model.facts.controller.is_unknown() => "The leader is not known.".to_owned(),
            None => "No replica leads.".to_owned(),
        };
        let _ = write!(
            html,
            "<div class=\"strip\"><b>This replica does not lead.</b> {leader} You see what this replica read.</div>"
        );
    }
    let record_state = model.facts.source_state(SourceName::Record);
    let is_without_record = model.facts.record.is_none() && record_state != SourceState::Failed;
    if !model.facts.has_karpenter {
        html.push_str("<div class=\"strip\"><b>Karpenter is not installed.</b> You see the nodes that exist now; failures of deleted nodes are not known.</div>");
    } else if is_without_record {
        html.push_str(&no_record(model));
    }
    for source in &model.facts.sources {
        html.push_str(&source_strip(model, source));
    }
    for warning in &model.facts.warnings {
        let _ = write!(html, "<div class=\"strip\"><b>Warning:</b> {}</div>", escape(warning));
    }
    html
}

fn no_record(model: &PageModel<'_>) -> String {
    if model.facts.controller.is_running() {
        return "<div class=\"strip\"><b>The failure record is empty.</b> The controller runs and has recorded no failure.</div>".to_owned();
    }
    format!(
        "<div class=\"strip\"><b>No controller runs in this cluster.</b> You see what exists now: failures of deleted nodes are not known, and NodeClaims do not show their cause. {}</div>",
        command("mooring doctor controller")
    )
}

fn source_strip(model: &PageModel<'_>, source: &Source) -> String {
    match (source.state, source.at) {
        (SourceState::Stale, Some(at)) => format!(
            "<div class=\"strip\"><b>The {} is not current.</b> Its last update was {} ago.</div>",
            escape(source.name.as_str()),
            elapsed(at, model.now)
        ),
        (SourceState::Stale, None) => {
            let name = escape(source.name.as_str());
            let why = if model.facts.controller.is_unknown() {
                "may not be current.</b> The state of the controller was not read."
            } else {
                "is not current.</b> No controller is running."
            };
            format!("<div class=\"strip\"><b>The {name} {why}</div>")
        }
        _ => String::new(),
    }
}

/// Returns the parameters of the address that hide something.
fn filters(model: &PageModel<'_>) -> Option<String> {
    let PageView { pool, image, cause, .. } = model.view;
    let named = [("pool", pool), ("image", image), ("cause", cause)];
    let named: Vec<String> = named
        .into_iter()
        .filter_map(|(name, value)| {
            value.as_ref().map(|value| format!("{name} <b>{}</b>", escape(value)))
        })
        .collect();
    if named.is_empty() {
        return None;
    }
    let all = PageView { pool: None, image: None, cause: None, ..model.view.clone() };
    let address =
        if all.route == Route::Overview { all.link(Route::Overview) } else { all.address() };
    Some(format!("Only {}. <a href=\"{}\">Show all</a>", named.join(", "), escape(&address)))
}

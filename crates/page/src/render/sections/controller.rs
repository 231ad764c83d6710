//! The controller: leader, watches, Azure, record, version.

use std::fmt::Write as _;

use mooring_workflow::plural::counted;
use mooring_workflow::published::{Source, SourceName, SourceState};

use crate::html::{card, clock, elapsed, escape};
use crate::model::PageModel;

/// A severity and HTML.
type State = (&'static str, String);

pub(crate) fn section(model: &PageModel<'_>) -> String {
    let source = |name| model.facts.sources.iter().find(|source| source.name == name);
    let mut rows = vec![("Leader", leader(model))];
    rows.extend(source(SourceName::Cluster).map(|one| ("Cluster", cluster(model, one))));
    rows.push(("Azure", azure(model, source(SourceName::Azure))));
    rows.extend(source(SourceName::Record).map(|one| ("Record", record(model, one))));
    if let Some(version) = model.facts.controller.version.as_deref() {
        let own = env!("CARGO_PKG_VERSION");
        let same = if version == own { " (the same as this page)" } else { "" };
        rows.push(("Version", ("", format!("{}{same}", escape(version)))));
    }
    let mut html = String::from("<dl class=\"facts\">");
    for (label, (severity, text)) in rows {
        let mark = match severity {
            "good" => "<span class=\"good\" aria-hidden=\"true\">✓</span> ",
            "slow" => "<span class=\"slow\" aria-hidden=\"true\">!</span> ",
            "failed" => "<span class=\"failed\" aria-hidden=\"true\">✗</span> ",
            _ => "",
        };
        let _ = write!(html, "<dt>{label}</dt><dd>{mark}{text}</dd>");
    }
    card("h-controller", "Controller", "", &(html + "</dl>"))
}

fn leader(model: &PageModel<'_>) -> State {
    let state = &model.facts.controller;
    let leader = escape(state.leader.as_deref().unwrap_or("unknown"));
    let (severity, mut text) = match state.state {
        "running" => ("good", format!("<code>{leader}</code>")),
        "late" => {
            let since = state.renewed_at.map(|at| format!(" for {}", elapsed(at, model.now)));
            let since = since.unwrap_or_default();
            ("failed", format!("<code>{leader}</code> did not renew its Lease{since}"))
        }
        "not-running" => {
            ("slow", format!("no controller runs in namespace {}", escape(&state.namespace)))
        }
        _ => {
            ("", format!("unknown: {}", escape(state.error.as_deref().unwrap_or("no permission"))))
        }
    };
    if let (Some(ready), Some(replicas)) = (state.ready_replicas, state.replicas) {
        let _ = write!(text, "; {ready} of {replicas} replicas ready");
    }
    (severity, text)
}

fn cluster(model: &PageModel<'_>, source: &Source) -> State {
    let details = model.snapshot.details.as_ref();
    if let Some(error) = details.and_then(|details| details.error.as_ref()) {
        return ("slow", escape(error));
    }
    if source.state == SourceState::Failed {
        return ("slow", format!("not read completely: {}", error(source)));
    }
    let read = match (details, source.seconds) {
        (Some(details), _) => format!(
            "watches work; {} scheduled for reads, {} waiting",
            counted(details.pending, "node"),
            details.waiting
        ),
        (None, Some(seconds)) => format!("read in {seconds:.1} s"),
        (None, None) => "read".to_owned(),
    };
    ("good", read)
}

fn azure(model: &PageModel<'_>, source: Option<&Source>) -> State {
    if let Some(details) = &model.snapshot.details {
        let severity = if details.azure_throttled > 0 { "slow" } else { "good" };
        let text = format!(
            "{} reads left, {} sent, {} throttled",
            details.azure_reads_left, details.azure_requests, details.azure_throttled
        );
        return (severity, text);
    }
    match source.map(|source| (source.state, source)) {
        Some((SourceState::Read, source)) => {
            ("good", format!("read in {:.1} s", source.seconds.unwrap_or_default()))
        }
        Some((SourceState::Failed, source)) => ("slow", format!("failed: {}", error(source))),
        _ => ("", "not asked".to_owned()),
    }
}

fn error(source: &Source) -> String {
    escape(source.error.as_deref().unwrap_or("unknown"))
}

fn record(model: &PageModel<'_>, source: &Source) -> State {
    let counts = model.facts.inventory.counts.as_ref();
    let since = counts.map(|counts| format!("; counts since {}", clock(counts.since(), model.now)));
    let since = since.unwrap_or_default();
    let failures = model.facts.record.as_ref().map_or(0, |record| record.entries().count());
    let failures = counted(failures, "failure");
    match source.state {
        SourceState::Read => ("good", format!("{failures}{since}")),
        SourceState::Stale => ("slow", format!("not current; {failures}{since}")),
        SourceState::Absent | SourceState::NotAsked => ("", "none".to_owned()),
        SourceState::Failed => ("slow", format!("cannot be read: {}", error(source))),
    }
}

//! The controller: leader, watches, Azure, record, hooks, version.

use std::fmt::Write as _;

use mooring_controller::notify::HookStatus;
use mooring_workflow::plural::counted;
use mooring_workflow::published::{Source, SourceName, SourceState};

use crate::html::{clock, elapsed, escape};
use crate::model::PageModel;
use crate::render::card::card;

/// Rows of the list: a label, a severity and HTML.
type Rows = Vec<(&'static str, &'static str, String)>;

pub(crate) fn section(model: &PageModel<'_>) -> String {
    let mut rows: Rows = vec![leader(model)];
    let source = |name| model.facts.sources.iter().find(|source| source.name == name);
    rows.extend(source(SourceName::Cluster).map(|one| cluster(model, one)));
    rows.push(azure(model, source(SourceName::Azure)));
    rows.extend(source(SourceName::Record).map(|one| record(model, one)));
    let details = model.snapshot.details.as_ref().filter(|details| !details.hooks.is_empty());
    rows.extend(details.map(|details| hooks(model, &details.hooks)));
    let version = model.facts.controller.version.as_deref();
    if let Some(version) = version {
        let own = env!("CARGO_PKG_VERSION");
        let same = if version == own { " (the same as this page)" } else { "" };
        rows.push(("Version", "", format!("{}{same}", escape(version))));
    }
    let mut html = String::from("<dl class=\"facts\">");
    for (label, severity, text) in rows {
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

fn leader(model: &PageModel<'_>) -> (&'static str, &'static str, String) {
    let state = &model.facts.controller;
    let leader = escape(state.leader.as_deref().unwrap_or("unknown"));
    let (severity, mut text) = match state.state {
        "running" => ("good", format!("<code>{leader}</code>")),
        "late" => {
            let since = state.renewed_at.map(|at| format!(" for {}", elapsed(at, model.now)));
            (
                "failed",
                format!(
                    "<code>{leader}</code> did not renew its Lease{}",
                    since.unwrap_or_default()
                ),
            )
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
    ("Leader", severity, text)
}

fn cluster(model: &PageModel<'_>, source: &Source) -> (&'static str, &'static str, String) {
    let details = model.snapshot.details.as_ref();
    if let Some(error) = details.and_then(|details| details.error.as_ref()) {
        return ("Cluster", "failed", escape(error));
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
    ("Cluster", "good", read)
}

fn azure(model: &PageModel<'_>, source: Option<&Source>) -> (&'static str, &'static str, String) {
    if let Some(details) = &model.snapshot.details {
        let severity = if details.azure_throttled > 0 { "slow" } else { "good" };
        let text = format!(
            "{} reads left, {} sent, {} throttled",
            details.azure_reads_left, details.azure_requests, details.azure_throttled
        );
        return ("Azure", severity, text);
    }
    match source.map(|source| (source.state, source)) {
        Some((SourceState::Read, source)) => {
            let seconds = source.seconds.unwrap_or_default();
            ("Azure", "good", format!("read in {seconds:.1} s"))
        }
        Some((SourceState::Failed, source)) => (
            "Azure",
            "slow",
            format!("failed: {}", escape(source.error.as_deref().unwrap_or("unknown"))),
        ),
        _ => ("Azure", "", "not asked: no node needs it".to_owned()),
    }
}

fn record(model: &PageModel<'_>, source: &Source) -> (&'static str, &'static str, String) {
    let counts = model.facts.inventory.counts.as_ref();
    let since = counts.map(|counts| format!("; counts since {}", clock(counts.since(), model.now)));
    let since = since.unwrap_or_default();
    let failures = model.facts.record.as_ref().map_or(0, |record| record.entries().count());
    match source.state {
        SourceState::Read => ("Record", "good", format!("{}{since}", counted(failures, "failure"))),
        SourceState::Stale => {
            ("Record", "slow", format!("not current; {}{since}", counted(failures, "failure")))
        }
        SourceState::Absent | SourceState::NotAsked => ("Record", "", "none".to_owned()),
        SourceState::Failed => (
            "Record",
            "failed",
            format!("cannot be read: {}", escape(source.error.as_deref().unwrap_or("unknown"))),
        ),
    }
}

fn hooks(model: &PageModel<'_>, hooks: &[HookStatus]) -> (&'static str, &'static str, String) {
    let failing: Vec<String> = hooks
        .iter()
        .filter_map(|hook| {
            let since = hook.failing_since_at?;
            Some(format!(
                "<code>{}</code> fails since {}: {}",
                escape(&hook.name),
                clock(since, model.now),
                escape(hook.error.as_deref().unwrap_or("unknown"))
            ))
        })
        .collect();
    if failing.is_empty() {
        ("Hooks", "good", format!("{} configured, none fails", hooks.len()))
    } else {
        ("Hooks", "slow", failing.join("; "))
    }
}

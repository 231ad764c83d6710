//! Verdicts: what is wrong, the evidence, the owner, and the command that helps.

use std::fmt::Write as _;

use mooring_diagnosis::cause_page;
use mooring_nodes::status::StatusFinding;
use mooring_nodes::{Advice, FailureGroup, FleetRow, FleetVerdict};
use mooring_workflow::plural::counted;

use crate::html::{
    cause_link, clock, command, elapsed, escape, explain_command, image_link, pool_link, sign,
    why_command, word,
};
use crate::model::PageModel;
use crate::view::PageView;

/// Verdicts with evidence; further ones take a line each.
const MAX_LARGE: usize = 2;
const MAX_SMALL: usize = 6;

/// Returns the mark of the title: the worst of all verdicts.
pub(super) fn mark(model: &PageModel<'_>) -> &'static str {
    let severities = || model.status.findings.iter().map(|finding| finding.severity);
    if severities().any(|severity| severity == "error") {
        "✗"
    } else if severities().next().is_some() {
        "!"
    } else if model.is_healthy() {
        "✓"
    } else {
        "–"
    }
}

pub(super) fn section(model: &PageModel<'_>) -> String {
    let is_run = |finding: &&StatusFinding| finding.kind == "run-unfinished";
    let findings = || model.status.findings.iter();
    let shown = |finding: &StatusFinding| {
        let severity = if finding.severity == "error" { "failed" } else { "slow" };
        let undo = finding.advice.as_ref().filter(|_| finding.severity == "warning");
        let undo = undo.and_then(|step| step.command.as_deref());
        let undo = undo.map(|undo| format!(" To undo it: {}", command(undo)));
        line(severity, &(escape(&finding.message) + &undo.unwrap_or_default()))
    };
    // A repair that stopped is the first: the pool may have lost its nodes.
    let runs: String = findings().filter(is_run).map(shown).collect();
    let mut large: Vec<String> = Vec::new();
    let mut small: Vec<String> = Vec::new();
    for node in &model.facts.lost {
        small.push(line("failed", &escape(&node.finding())));
    }
    let blamed: Vec<&FleetRow> =
        model.rows().into_iter().filter(|row| row.verdict == FleetVerdict::Image).collect();
    for row in &blamed {
        large.push(image_verdict(model, row));
    }
    let is_blamed = |group: &FailureGroup| {
        blamed
            .iter()
            .any(|row| row.cause == group.cause && Some(&*row.image) == group.image.as_deref())
    };
    for group in model.groups.iter().filter(|group| group.is_confirmed && !is_blamed(group)) {
        if large.len() < MAX_LARGE {
            large.push(group_verdict(model, group));
        } else {
            small.push(line("failed", &(group_title(model.view, group) + ".")));
        }
    }
    let is_other = |finding: &&StatusFinding| {
        finding.severity == "warning" || model.status.problems().any(|text| text == finding.message)
    };
    small.extend(findings().filter(|one| !is_run(one)).filter(is_other).map(shown));
    if large.is_empty() && !findings().any(|finding| finding.severity == "error") {
        large.push(no_problem(model));
    }
    let rest = large.len().saturating_sub(MAX_LARGE) + small.len().saturating_sub(MAX_SMALL);
    large.truncate(MAX_LARGE);
    small.truncate(MAX_SMALL);
    let mut html = runs + &large.concat() + &small.concat();
    if rest > 0 {
        let _ = write!(html, "<p class=\"hint\">and {rest} more</p>");
    }
    html
}

fn line(severity: &str, html: &str) -> String {
    format!(
        "<section class=\"verdict second {severity}\" aria-label=\"Verdict\"><p>{} {html}</p></section>",
        sign(severity)
    )
}

fn image_verdict(model: &PageModel<'_>, row: &FleetRow) -> String {
    let view = model.view;
    let title = format!(
        "Image {} fails with {}",
        image_link(view, &row.image),
        cause_link(view, &row.cause)
    );
    let (here, others) = (row.here, row.others);
    let mut why = format!(
        "<b>{} of {}</b> nodes on this image failed, <b>{} of {}</b> on other images.",
        here.failed, here.nodes, others.failed, others.nodes
    );
    let summary = cause_page(&row.cause).map(|page| page.summary);
    if let Some(summary) = summary {
        let _ = write!(why, " {}", sentence(summary));
    }
    let pool = row.pools.first().map_or("", String::as_str);
    let group = model.group_of(row);
    verdict(model, group, &title, &why, (pool, &row.cause))
}

fn group_verdict(model: &PageModel<'_>, group: &FailureGroup) -> String {
    let title = group_title(model.view, group);
    let page = cause_page(&group.cause);
    let summary = page.as_ref().map(|page| sentence(page.summary));
    let mut why = summary.unwrap_or_else(|| escape(&group.message));
    if let Some(name) = &group.image {
        let mut rows = model.fleet.rows.iter();
        if let Some(row) = rows.find(|row| *row.image == **name && row.cause == group.cause) {
            let text = match row.verdict {
                FleetVerdict::TooFewNodes => {
                    "Four nodes on each side are needed to blame the image."
                }
                _ => "The image is not at fault: it does not fail more often than others.",
            };
            let _ = write!(
                why,
                " On image {} <b>{} of {}</b> nodes failed, on others <b>{} of {}</b>. {text}",
                image_link(model.view, name),
                row.here.failed,
                row.here.nodes,
                row.others.failed,
                row.others.nodes
            );
        }
    }
    let pool = group.pool.as_deref().unwrap_or_default();
    verdict(model, Some(group), &title, &why, (pool, &group.cause))
}

fn group_title(view: &PageView, group: &FailureGroup) -> String {
    let mut title =
        format!("{} failed with {}", counted(group.failed, "node"), cause_link(view, &group.cause));
    if let Some(pool) = &group.pool {
        let _ = write!(title, " in pool {}", pool_link(view, pool));
    }
    title
}

/// Renders a verdict with its evidence, advice and commands. Title and reason are HTML.
fn verdict(
    model: &PageModel<'_>,
    group: Option<&FailureGroup>,
    title: &str,
    why: &str,
    (pool, cause): (&str, &str),
) -> String {
    let mut over = format!("{} Verdict", sign("failed"));
    let mut evidence = String::new();
    if let Some(group) = group {
        if let Some(confidence) = &group.confidence {
            let _ = write!(over, " {}", word("calm", &format!("confidence {confidence}")));
        }
        if let Some(owner) = &group.owner {
            let _ = write!(over, " {}", word("calm", &format!("owner: {owner}")));
        }
        if let Some(first) = group.first_at {
            let _ = write!(
                over,
                " <span class=\"muted\">since {}, {} ago</span>",
                clock(first, model.now),
                elapsed(first, model.now)
            );
        }
        evidence = quote(group);
    }
    let first = group.and_then(|group| model.adviser.advise(group).into_iter().next());
    let todo = first.map_or_else(
        || "<p>See what each failed node reported.</p>".to_owned(),
        |first| advice(&first),
    );
    let id = format!("v-{}", escape(cause));
    let why_command = if pool.is_empty() { command("mooring why") } else { why_command(pool) };
    format!(
        "<section class=\"verdict failed\" aria-labelledby=\"{id}\"><div><p class=\"over\">{over}</p><h2 id=\"{id}\">{title}</h2><p class=\"why\">{why}</p>{evidence}</div>\
         <div class=\"todo\"><h3>Next</h3>{todo}{why_command}{}</div></section>",
        explain_command(cause)
    )
}

/// Renders a next step with its commands.
fn advice(step: &Advice) -> String {
    let mut html = format!("<p>{}</p>", escape(&step.text));
    html.extend(step.command.as_deref().map(command));
    html.extend(step.undo.as_deref().map(|undo| format!("<p>To undo it:</p>{}", command(undo))));
    html
}

fn quote(group: &FailureGroup) -> String {
    let Some(line) = group.evidence.first() else { return String::new() };
    let mut notes = vec![match (group.with_evidence, group.failed) {
        (1, 1) => String::new(),
        (same, all) if same == all => format!("the same line on all {all}"),
        (same, all) => format!("the same line on {same} of {all}"),
    }];
    notes.push(match (&group.effective, &group.reported) {
        (Some(effective), Some(reported)) => {
            format!("code {effective}, reported as {reported}")
        }
        (None, Some(code)) | (Some(code), None) => format!("code {code}"),
        (None, None) => String::new(),
    });
    notes.retain(|note| !note.is_empty());
    format!(
        "<blockquote><code>{}</code><small>{}</small></blockquote>",
        escape(&line.line),
        escape(&notes.join(" · "))
    )
}

fn no_problem(model: &PageModel<'_>) -> String {
    let joined = crate::series::Series::of(model).joined();
    let fleet = &model.fleet;
    let has_record = model.facts.record.is_some() && model.facts.controller.is_running();
    let title = match (fleet.failed.is_none() && has_record, joined) {
        (true, 1..) => {
            format!("All {joined} nodes of the {} joined", model.view.since.text())
        }
        (true, 0) => "No node failed".to_owned(),
        (false, _) if fleet.failed_existing.is_none() => {
            let exist = model.inventory.nodes.iter().filter(|node| node.exists).count();
            format!("No failures among the {} that exist now", counted(exist, "node"))
        }
        (false, _) => "It is not known if nodes failed".to_owned(),
    };
    let mut text = format!("Nodes: {} ready, {} joining.", fleet.ready, fleet.joining);
    if !has_record {
        text.push_str(" Failures of deleted nodes are not known.");
    } else if let Some(counts) = &model.facts.inventory.counts {
        let _ = write!(text, " Recorded since {}.", counts.since().strftime("%-d %b %H:%M UTC"));
    }
    for unasked in model.facts.unasked() {
        let _ = write!(text, " {unasked}");
    }
    let severity = if has_record && model.is_healthy() { "good" } else { "calm" };
    format!(
        "<section class=\"verdict {severity}\" aria-labelledby=\"v-good\"><p class=\"over\">{} Verdict</p><h2 id=\"v-good\">{}</h2><p>{}</p></section>",
        sign(severity),
        escape(&title),
        escape(&text)
    )
}

/// Returns a text as a sentence.
fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let end = if text.ends_with(['.', '!']) { "" } else { "." };
    escape(&format!("{first}{}{end}", characters.as_str()))
}

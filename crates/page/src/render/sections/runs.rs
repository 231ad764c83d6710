//! Runs of `mooring repair`, with the step from which on they can only continue.

use std::fmt::Write as _;

use mooring_redact::shell_word;
use mooring_workflow::status::RunStatus;

use crate::html::{card, command, duration, elapsed, escape, exact_clock, link};
use crate::model::PageModel;
use crate::view::Route;

/// Runs shown on the overview.
const MAX_RUNS: usize = 3;

pub(crate) fn section(model: &PageModel<'_>) -> String {
    let current = || model.facts.runs.iter().filter(|run| run.is_running() || run.is_stopped());
    let mut html: String = current().take(MAX_RUNS).map(|run| run_card(model, run)).collect();
    html.push_str(&crate::html::more(MAX_RUNS, current().count()));
    html
}

pub(crate) fn find<'a>(model: &'a PageModel<'_>, id: &str) -> Option<&'a RunStatus> {
    model.facts.runs.iter().find(|run| run.run_id.starts_with(id))
}

pub(crate) fn run_card(model: &PageModel<'_>, run: &RunStatus) -> String {
    let pool = run.subject.name();
    let mut html = match &run.step {
        Some(step) => {
            let usual = step
                .expected_seconds
                .map(|usual| format!(", usually {}", duration(i64::from(usual))));
            format!(
                "<p class=\"lead\"><b>Step {} of {}, {}</b>: {} so far{}.</p>",
                step.number,
                run.step_count,
                escape(step.name),
                elapsed(step.started_at, model.now),
                usual.unwrap_or_default()
            )
        }
        None => format!("<p class=\"lead\">{}</p>", escape(run.state)),
    };
    html.push_str(&steps(run));
    html.push_str(&gate(run));
    html.push_str(&facts(model, run));
    let id = format!("h-run-{}", escape(&run.run_id));
    card(&id, &format!("Repair of pool {pool}"), "", &html)
}

fn steps(run: &RunStatus) -> String {
    let gate = run.point_of_no_return.as_ref().map(|point| point.number);
    let current = run.step.as_ref().map(|step| step.number);
    let mut html = String::from("<ol class=\"steps\" aria-label=\"Steps of the repair\">");
    for number in 1..=run.step_count {
        let done = run.steps.iter().find(|step| step.number == number);
        let (class, state, name) = match (done, &run.step) {
            (Some(step), _) => ("done", "done", step.name),
            (None, Some(step)) if Some(number) == current => ("now", "current", step.name),
            _ => ("next", "not started", ""),
        };
        let gate = if gate == Some(number) { " gate" } else { "" };
        let _ = write!(
            html,
            "<li class=\"{class}{gate}\"><span class=\"nm\">{}</span><span class=\"sr\"> {number}: {state}</span></li>",
            escape(name)
        );
    }
    html + "</ol>"
}

fn gate(run: &RunStatus) -> String {
    let Some(point) = &run.point_of_no_return else { return String::new() };
    let text = if point.is_passed {
        format!("Step {} ({}) is passed: the run can only continue.", point.number, point.name)
    } else {
        format!(
            "Before step {} ({}), the red line, `mooring repair abort` rolls it back; from there it can only continue.",
            point.number, point.name
        )
    };
    format!("<p class=\"hint\">{}</p>", escape(&text))
}

fn facts(model: &PageModel<'_>, run: &RunStatus) -> String {
    let id = run.run_id.get(..8).unwrap_or(&run.run_id);
    let mut html = format!(
        "<dl class=\"facts\"><dt>Run</dt><dd>{}, {}, started {}</dd>",
        link(model.view, Route::Run(id.to_owned()), id),
        escape(run.state),
        exact_clock(run.started_at, model.now)
    );
    if let Some(lock) = &run.lock {
        let state = if lock.is_expired { ", which does not respond" } else { "" };
        let _ = write!(html, "<dt>Host</dt><dd><code>{}</code>{state}</dd>", escape(&lock.host));
    }
    if let Some(stopped) = &run.stopped {
        let _ = write!(html, "<dt>Stopped</dt><dd>{}</dd>", escape(stopped));
    }
    if run.is_running() || run.is_stopped() {
        let resume = format!("mooring repair resume --pool {}", shell_word(run.subject.name()));
        let _ = write!(html, "<dt>If it stops</dt><dd>{}</dd>", command(&resume));
    }
    html + "</dl>"
}

//! Human-readable forms of a plan, from the list of steps that is executed.

use mooring_workflow::Step as _;
use std::fmt::Write as _;

use mooring_redact::{Lines, markdown as escape, markdown_code};

use super::build::Plan;
use crate::checks::blocks;
use mooring_workflow::CheckResult;
use mooring_workflow::Outcome;
use mooring_workflow::flowchart::flowchart;

pub fn table(plan: &Plan) -> String {
    let mut text = Lines::default();
    text.line(format_args!("Plan {}", plan.hash));
    text.line(format_args!("Pool {} in cluster {}", plan.pool, plan.cluster));
    text.line("");
    for step in &plan.steps {
        text.line(format_args!(
            "{:>2}  {:<17} {:>5}  {}",
            step.number,
            step.name.name(),
            clock(step.expected_seconds),
            step.what
        ));
        if !step.risk.is_empty() {
            text.line(format_args!("{:29}risk: {}", "", step.risk));
        }
    }
    text.line("");
    text.line(format_args!("    expected          {:>5}", clock(plan.expected_seconds)));
    text.line("");
    for check in &plan.prechecks {
        text.line(format_args!("{:<8} {:<11} {}", status(check), check.name, check.detail()));
    }
    for change in &plan.changes {
        text.line(format_args!("note     {change}"));
    }
    text.into()
}

pub fn markdown(plan: &Plan) -> String {
    let mut text = format!(
        "# Rebuild pool {}\n\nCluster {}, plan {}, about {} minutes.\n\n| # | step | what | expected | risk |\n|---|---|---|---|---|\n",
        markdown_code(&plan.pool),
        markdown_code(&plan.cluster),
        markdown_code(&plan.hash),
        plan.expected_seconds / 60
    );
    for step in &plan.steps {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} |",
            step.number,
            step.name.name(),
            escape(&step.what),
            clock(step.expected_seconds),
            escape(&step.risk)
        );
    }
    text.push_str("\n| check | outcome | detail |\n|---|---|---|\n");
    for check in &plan.prechecks {
        let _ =
            writeln!(text, "| {} | {} | {} |", check.name, status(check), escape(&check.detail()));
    }
    for change in &plan.changes {
        let _ = writeln!(text, "\n- Note: {}", escape(change));
    }
    for step in &plan.steps {
        if let Some(body) = &step.body {
            let pretty = serde_json::to_string_pretty(body).unwrap_or_default();
            let _ = write!(text, "\n## Body of {}\n\n```json\n{pretty}\n```\n", step.name.name());
        }
    }
    text
}

pub fn mermaid(plan: &Plan) -> String {
    flowchart(plan.steps.iter().map(|step| format!("{}<br/>{}", step.name.name(), step.what)))
}

fn clock(seconds: u32) -> String {
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

fn status(check: &CheckResult) -> &'static str {
    match check.outcome {
        Outcome::Pass => "ok",
        Outcome::Fail if blocks(check) => "failed",
        Outcome::Fail => "warning",
        Outcome::Unknown => "unknown",
    }
}

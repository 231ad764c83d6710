//! Human-readable forms of a plan, from the list of steps that is executed.

use std::fmt::Write as _;

use mooring_redact::{markdown as escape, markdown_code};

use super::build::Plan;
use crate::checks::blocks;
use mooring_workflow::CheckResult;
use mooring_workflow::Outcome;
use mooring_workflow::flowchart::flowchart;
use mooring_workflow::screens::clock;

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
            escape(step.what),
            clock(step.expected_seconds),
            escape(step.risk.unwrap_or("none"))
        );
    }
    text.push_str("\n| check | outcome | detail |\n|---|---|---|\n");
    for check in &plan.checks {
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

fn status(check: &CheckResult) -> &'static str {
    match check.outcome {
        Outcome::Pass => "ok",
        Outcome::Fail if blocks(check) => "failed",
        Outcome::Fail => "warning",
        Outcome::Unknown => "unknown",
    }
}

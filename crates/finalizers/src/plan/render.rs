//! Human-readable forms of a plan, from the list of steps that is executed.

use mooring_workflow::Step as _;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use mooring_redact::Lines;

use super::build::Plan;
use mooring_workflow::Outcome;
use mooring_workflow::flowchart::flowchart;

/// Targets of a step in the table.
const MAX_TARGETS: usize = 20;

pub fn table(plan: &Plan) -> String {
    let name = &plan.profile.name;
    let cluster = if plan.cluster.is_empty() { "unknown" } else { &plan.cluster };
    let mut text = Lines::default();
    text.line(format_args!("Plan to remove {name} from the cluster with uid {cluster}"));
    text.line("");
    if plan.nothing_to_do {
        text.line("Nothing to do: no resources found.");
        return text.into();
    }
    for step in &plan.steps {
        text.line(format_args!("{:>2}  {:<18} {}", step.number, step.name.name(), step.what));
        for target in step.targets.iter().take(MAX_TARGETS) {
            text.line(format_args!("      {target}"));
        }
        if step.targets.len() > MAX_TARGETS {
            text.line(format_args!(
                "      and {} more (-o json has all)",
                step.targets.len() - MAX_TARGETS
            ));
        }
    }
    text.line("");
    if !plan.cascade.is_empty() {
        text.line("garbage-collected with their owners:");
        for (resource, count) in by_resource(plan) {
            text.line(format_args!("      {count} {resource}"));
        }
        text.line("");
    }
    for object in plan.objects.iter().filter(|object| !object.keep.is_empty()).take(MAX_TARGETS) {
        text.line(format_args!("kept     {}: {}", object.object.target, object.keep.join(", ")));
    }
    for guard in &plan.guards {
        let status = match guard.outcome {
            Outcome::Pass => "ok",
            Outcome::Fail => "failed",
            Outcome::Unknown => "unknown",
        };
        text.line(format_args!("{status:<8} {:<16} {}", guard.name, guard.evidence.join("; ")));
        if let Some(reason) = &guard.overridden {
            text.line(format_args!("         {:<16} overridden: {reason}", ""));
        }
    }
    for note in &plan.notes {
        text.line(format_args!("note     {note}"));
    }
    let (approval, expires) = (&plan.approval, plan.approval.expires);
    text.line("");
    text.line(format_args!("Hash:     {approval}"));
    text.line(format_args!("Expires:  {expires:.0}"));
    text.into()
}

fn by_resource(plan: &Plan) -> BTreeMap<&str, usize> {
    plan.cascade.iter().fold(BTreeMap::new(), |mut counts, one| {
        *counts.entry(one.resource.as_str()).or_default() += 1;
        counts
    })
}

pub fn mermaid(plan: &Plan) -> String {
    let mut text = flowchart(plan.steps.iter().map(|step| {
        let targets = match step.targets.len() {
            0 => String::new(),
            count => format!("<br/>{count} targets"),
        };
        format!("{}<br/>{}{targets}", step.name.name(), step.what)
    }));
    for (at, (resource, count)) in by_resource(plan).into_iter().enumerate() {
        let _ = writeln!(text, "    s1 -. garbage-collected .-> c{at}([\"{count} {resource}\"])");
    }
    text
}

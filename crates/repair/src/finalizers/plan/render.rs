//! A plan for people. All forms are made from the one list that is also executed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::build::Plan;
use crate::flowchart::flowchart;
use crate::guards::Outcome;
use crate::shell::told;

/// Targets of a step that are shown by name.
const SHOWN: usize = 20;

/// Lines for a terminal.
#[must_use]
pub fn table(plan: &Plan) -> String {
    let name = &plan.profile.name;
    let cluster = if plan.cluster.is_empty() { "unknown" } else { &plan.cluster };
    let mut text = format!("Plan to remove {name} from the cluster with uid {cluster}\n\n");
    if plan.nothing_to_do {
        text.push_str("nothing to do: nothing of it is there\n");
        return text;
    }
    for step in &plan.steps {
        let _ = writeln!(text, "{:>2}  {:<18} {}", step.number, step.name.name(), step.what);
        for target in step.targets.iter().take(SHOWN) {
            let _ = writeln!(text, "      {target}");
        }
        if step.targets.len() > SHOWN {
            let _ =
                writeln!(text, "      and {} more (-o json has all)", step.targets.len() - SHOWN);
        }
    }
    text.push('\n');
    if !plan.cascade.is_empty() {
        let _ = writeln!(text, "goes along, since it belongs to what is deleted:");
        for (resource, count) in by_resource(plan) {
            let _ = writeln!(text, "      {count} {resource}");
        }
        text.push('\n');
    }
    for object in plan.objects.iter().filter(|object| !object.keep.is_empty()).take(SHOWN) {
        let _ = writeln!(text, "stays    {}: {}", object.object.target, object.keep.join(", "));
    }
    for guard in &plan.guards {
        let word = match guard.outcome {
            Outcome::Pass => "pass",
            Outcome::Fail => "fail",
            Outcome::Unknown => "unknown",
        };
        let _ = writeln!(text, "{word:<8} {:<16} {}", guard.name, guard.evidence.join("; "));
        if let Some(reason) = &guard.overridden {
            let _ = writeln!(text, "         {:<16} overridden: {}", "", told(reason));
        }
    }
    for note in &plan.notes {
        let _ = writeln!(text, "note     {note}");
    }
    let (approval, expires) = (&plan.approval, plan.approval.expires);
    let _ = writeln!(text, "\nHash:     {approval}\nExpires:  {expires:.0}");
    text
}

fn by_resource(plan: &Plan) -> BTreeMap<&str, usize> {
    plan.cascade.iter().fold(BTreeMap::new(), |mut counts, one| {
        *counts.entry(one.resource.as_str()).or_default() += 1;
        counts
    })
}

/// A diagram.
#[must_use]
pub fn mermaid(plan: &Plan) -> String {
    let mut text = flowchart(plan.steps.iter().map(|step| {
        let targets = match step.targets.len() {
            0 => String::new(),
            count => format!("<br/>{count} targets"),
        };
        format!("{}<br/>{}{targets}", step.name.name(), step.what)
    }));
    for (at, (resource, count)) in by_resource(plan).into_iter().enumerate() {
        let _ = writeln!(text, "    s1 -. goes along .-> c{at}([\"{count} {resource}\"])");
    }
    text
}

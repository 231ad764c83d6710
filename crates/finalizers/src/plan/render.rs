//! Human-readable forms of a plan, from the list of steps that is executed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::build::Plan;
use mooring_workflow::flowchart::flowchart;

pub fn mermaid(plan: &Plan) -> String {
    let mut text = flowchart(plan.steps.iter().map(|step| {
        let targets = match step.targets.len() {
            0 => String::new(),
            count => format!("<br/>{count} targets"),
        };
        format!("{}<br/>{}{targets}", step.name.name(), step.what)
    }));
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for one in &plan.cascade {
        *counts.entry(&one.resource).or_default() += 1;
    }
    for (at, (resource, count)) in counts.into_iter().enumerate() {
        let _ = writeln!(text, "    s1 -. garbage-collected .-> c{at}([\"{count} {resource}\"])");
    }
    text
}

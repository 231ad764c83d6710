//! Human-readable forms of a plan, from the list of steps that is executed.

use mooring_workflow::Step as _;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::build::Plan;
use mooring_workflow::flowchart::flowchart;

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

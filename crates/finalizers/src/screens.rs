//! Screens of plans and runs.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use mooring_terminal::{Mark, Screen, Text};
use mooring_workflow::plural::counted;
use mooring_workflow::published::Next;
use mooring_workflow::screens::{self, duration, short_id, time_of_day};
use mooring_workflow::status::RunStatus;

use crate::documents::checks;
use crate::plan::{Plan, PlannedStep};
use crate::step::Step;

/// Returns steps, checks, the hash and the next commands, or none in a prompt, which comes before a change. `cluster` is its
/// name.
pub fn plan(plan: &Plan, cluster: &str, next: Option<&[Next]>, is_wide: bool) -> Screen {
    let mut screen = Screen::default();
    let profile = &plan.profile.name;
    if plan.nothing_to_do {
        let text = format!("No resources of {profile} found in {cluster}. Nothing to do.");
        screen.sentence(Mark::Good, text);
        screens::next(&mut screen, "Next", next.unwrap_or_default());
        return screen;
    }
    let objects = counted(plan.objects.len(), "custom resource");
    let steps = counted(Step::ALL.len(), "step");
    screen.prose(
        0,
        Text::new(format!(
            "{steps} remove {profile} from {cluster}, with {objects}.{}",
            screens::unchanged(next)
        )),
    );
    let names = Step::ALL.iter().map(|step| step.name().len()).max().unwrap_or(0);
    for step in Step::ALL {
        let planned = plan.steps.iter().find(|planned| planned.name == *step);
        let head = format!("{:>2}  ", step.number());
        let hanging = head.len() + names + 2;
        let what = planned.map_or_else(|| "nothing to do".to_owned(), |one| summary(plan, one));
        let text =
            Text::new(head).bold(format!("{:<names$}", step.name())).plain(format!("  {what}"));
        screen.hanging(0, hanging, text);
        let targets = planned.filter(|_| is_wide).map_or(&[][..], |one| one.targets.as_slice());
        for target in targets {
            screen.line(Text::new(format!("      {target}")));
        }
    }
    screens::checks(&mut screen, &checks(&plan.checks), is_wide);
    let mut also = Vec::new();
    if !plan.contents.is_empty() {
        let counts = counts(plan.contents.iter().map(|one| one.resource.as_str()));
        also.push(format!("{counts}, deleted with the namespace"));
        let names = plan.contents.iter().filter(|_| is_wide).map(ToString::to_string);
        also.extend(names.map(|name| format!("  {name}")));
    }
    if !plan.cascade.is_empty() {
        let counts = counts(plan.cascade.iter().map(|one| one.resource.as_str()));
        also.push(format!("{counts}, garbage-collected with their owners"));
    }
    screen.label("Also", also.into_iter().map(Text::new));
    let kept = plan.objects.iter().filter(|object| !object.keep.is_empty());
    let kept = kept.map(|one| format!("{}: {}", one.object.target, one.keep.join(", ")));
    let kept: Vec<String> = kept.collect();
    let most = if is_wide { kept.len() } else { MAX_LINES };
    let more = kept.len().saturating_sub(most);
    let rest = (more > 0).then(|| format!("and {more} more (-o wide)"));
    screen.label("Kept", kept.into_iter().take(most).chain(rest).map(Text::new));
    screen.label("Notes", plan.notes.iter().map(Text::new));
    let until = time_of_day(plan.approval.expires);
    let about = format!("for {cluster} only, until {until} UTC");
    screens::plan_hash(&mut screen, &about, &plan.approval.to_string());
    screens::next(&mut screen, "Next", next.unwrap_or_default());
    screen
}

/// Kept objects that the narrow screen names.
const MAX_LINES: usize = 3;

/// Describes the targets of a step.
fn summary(plan: &Plan, step: &PlannedStep) -> String {
    let count = |what| counted(step.targets.len(), what);
    match step.name {
        Step::DeleteObjects | Step::WaitForTeardown | Step::ScaleDown => {
            let resources = step.targets.iter().filter_map(|target| target.split(' ').next());
            let counts = counts(resources);
            match step.name {
                Step::WaitForTeardown => format!("by {counts}, which remove their finalizers"),
                Step::ScaleDown => format!("{counts} to zero"),
                _ => counts,
            }
        }
        Step::RemoveFinalizers => {
            let names: BTreeSet<&str> =
                plan.objects.iter().flat_map(|one| one.strip.iter().map(String::as_str)).collect();
            let names: Vec<&str> = names.into_iter().collect();
            format!("{} from {}, each with a backup", names.join(", "), count("object"))
        }
        Step::DeleteCrds => format!("{} without remaining objects", count("CRD")),
        Step::DeleteRelease => {
            let release = plan.profile.release.as_ref().map_or("", |release| release.name.as_str());
            format!("{} of Helm release {release}", count("object"))
        }
        Step::DeleteBindings | Step::DeleteNamespace => step.targets.join(", "),
        Step::Verify => step.what.to_owned(),
    }
}

/// Returns `2 clusterpackages, 3 packages`, without the API groups.
fn counts<'a>(resources: impl Iterator<Item = &'a str>) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for resource in resources {
        *counts.entry(resource.split('.').next().unwrap_or(resource)).or_default() += 1;
    }
    let counts: Vec<String> =
        counts.into_iter().map(|(resource, count)| format!("{count} {resource}")).collect();
    counts.join(", ")
}

/// Returns the table of runs, and how to continue one that stops.
pub fn runs(runs: &[RunStatus], cluster: &str, now: Timestamp, is_wide: bool) -> Screen {
    if runs.is_empty() {
        let mut screen = Screen::default();
        screen.sentence(Mark::None, format!("No runs found in {cluster}."));
        return screen;
    }
    let mut screen = screens::runs(runs, now, is_wide);
    if let Some(run) = runs.iter().find(|run| run.is_running() || run.is_stopped()) {
        let purpose = if run.is_stopped() { "continues" } else { "continues if it stops" };
        let purpose = format!("{purpose}, with the same profile, on any host");
        screens::next(&mut screen, "Next", &[Next::new("mooring finalizers resume", purpose)]);
    }
    screen
}

/// Returns the state of a run as a sentence.
pub fn run_sentence(run: &RunStatus, cluster: &str, now: Timestamp) -> (Mark, Text) {
    let (profile, id) = (run.subject.name(), short_id(&run.run_id));
    let took = duration(run.elapsed(now));
    let (mark, text) = match run.state {
        "removed" => (Mark::Good, format!("{profile} was removed from {cluster} in {took}.")),
        "nothing-to-do" => (Mark::Good, format!("{profile} in {cluster}: nothing to do.")),
        "partially-removed" => (
            Mark::Bad,
            format!(
                "{profile} was partially removed from {cluster}; remaining: {}.",
                counted(run.remaining.len(), "object")
            ),
        ),
        _ if run.is_running() => {
            (Mark::Warning, format!("{profile} is being removed from {cluster} for {took}."))
        }
        _ => (
            Mark::Bad,
            format!("The removal of {profile} from {cluster} is unfinished: it stopped."),
        ),
    };
    (mark, Text::new(format!("{text} Run {id}.")))
}

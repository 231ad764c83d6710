//! The screen of `plan`.

use mooring_terminal::{Column, Screen, Table, Text};
use mooring_workflow::published::Next;
use mooring_workflow::screens::{self, clock, time_of_day};

use super::detection::{sentence, signs};
use crate::checks::verdict::WedgeVerdict;
use crate::plan::{Plan, PlannedStep, Step};
use crate::present::documents::checks;
use crate::present::report::DetectionReport;

/// Returns steps with durations, the point of no return, checks, the hash and the next commands, or none in a prompt, which
/// comes before a change.
pub fn plan(plan: &Plan, report: &DetectionReport, next: Option<&[Next]>, is_wide: bool) -> Screen {
    let mut screen = Screen::default();
    // A pool that is not wedged is the answer; the steps are what `apply` would do otherwise.
    if report.detection.verdict != WedgeVerdict::Confirmed {
        let (mark, text) = sentence(report);
        screen.sentence(mark, text);
        signs(&mut screen, &report.detection.checks, is_wide);
    }
    screen.prose(
        0,
        Text::new(format!(
            "{} steps rebuild pool {} of {} in about {} min.{}",
            plan.steps.len(),
            plan.pool,
            report.cluster,
            plan.expected_seconds.div_ceil(60),
            screens::unchanged(next)
        )),
    );
    steps(&mut screen, plan, is_wide);
    screens::checks(&mut screen, &checks(&plan.checks), is_wide);
    screen.label("Changes", plan.changes.iter().map(Text::new));
    let also = report.operation.iter().map(ToString::to_string);
    let also = also.chain(plan.left_temporary_pool.iter().map(ToString::to_string));
    screen.label("Also", also.map(Text::new));
    let until = time_of_day(plan.expires);
    let about = format!("for {} and this pool only, until {until} UTC", report.cluster);
    screens::plan_hash(&mut screen, &about, &plan.hash);
    if is_wide {
        bodies(&mut screen, plan);
    }
    screens::next(&mut screen, "Next", next.unwrap_or_default());
    screen
}

/// Steps that `plan` shows as one unless it is wide: the removal of the temporary pool.
const LAST: Step = Step::CordonTemporary;

fn steps(screen: &mut Screen, plan: &Plan, is_wide: bool) {
    let columns = || {
        Table::new([
            Column::right(""),
            Column::left(""),
            Column::right(""),
            Column::left(""),
            Column::left("").extra().rank(1),
        ])
        .without_heads()
        .wide(is_wide)
    };
    let names = plan.steps.iter().map(|step| step.name.name().len()).max().unwrap_or(0);
    let whats = plan.steps.iter().map(|step| step.what.len()).max().unwrap_or(0);
    let row = |number: String, name: &str, seconds: u32, what: &str, risk: Option<&str>| {
        let risk = risk.map_or_else(String::new, |risk| format!("risk: {risk}"));
        [
            Text::new(format!("{number:>2}")),
            Text::default().bold(format!("{name:<names$}")),
            Text::new(format!("{:>5}", clock(seconds))),
            Text::new(if risk.is_empty() { what.to_owned() } else { format!("{what:<whats$}") }),
            Text::new(risk),
        ]
    };
    let mut table = columns();
    for step in &plan.steps {
        if step.name == Step::DeletePool {
            screen.table(std::mem::replace(&mut table, columns()));
            screen.rule("`abort` rolls back all steps above; from here only `resume` continues");
        }
        if step.name == LAST && !is_wide {
            let rest: Vec<&PlannedStep> =
                plan.steps.iter().filter(|step| step.name >= LAST).collect();
            let seconds = rest.iter().map(|step| step.expected_seconds).sum();
            let name = format!("to {}", plan.steps.len());
            let what = "remove the temporary pool, update a cluster tag";
            table.row(row(
                step.number.to_string(),
                &name,
                seconds,
                what,
                Some("pods restart again"),
            ));
            break;
        }
        let name = step.name.name();
        table.row(row(step.number.to_string(), name, step.expected_seconds, step.what, step.risk));
    }
    screen.table(table);
}

/// Adds the bodies of requests, which are never wrapped.
fn bodies(screen: &mut Screen, plan: &Plan) {
    for step in &plan.steps {
        let Some(body) = &step.body else { continue };
        screen.blank();
        screen.line(Text::new(format!("Body of {}:", step.name.name())));
        let pretty = serde_json::to_string_pretty(body).unwrap_or_default();
        for line in pretty.lines() {
            screen.line(Text::new(format!("  {line}")));
        }
    }
    screen.blank();
}

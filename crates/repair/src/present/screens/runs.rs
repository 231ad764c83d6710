//! Screens of runs.

use jiff::Timestamp;
use mooring_terminal::{Mark, Screen, Text};
use mooring_workflow::published::Next;
use mooring_workflow::screens::{self, duration};
use mooring_workflow::status::RunStatus;

/// Returns the table of runs, and how to continue those that stop. `flags` select a pool of the same cluster.
pub fn runs(
    runs: &[RunStatus],
    cluster: &str,
    now: Timestamp,
    is_wide: bool,
    flags: &dyn Fn(&str) -> String,
) -> Screen {
    if runs.is_empty() {
        let mut screen = Screen::default();
        screen.sentence(Mark::None, format!("No runs found in {cluster}."));
        return screen;
    }
    let mut screen = screens::runs(runs, now, is_wide);
    let resume = |run: &&RunStatus| run.is_running() || run.is_stopped();
    let next: Vec<Next> = runs
        .iter()
        .filter(resume)
        .map(|run| {
            let flags = flags(run.subject.name());
            let purpose = if run.is_stopped() { "continues" } else { "continues if it stops" };
            let purpose = format!("{purpose}, on any host");
            Next::new(format!("mooring repair resume{flags}"), purpose)
        })
        .collect();
    screens::next(&mut screen, "Next", &next);
    screen
}

/// Returns the state of a run as a sentence.
pub fn run_sentence(run: &RunStatus, cluster: &str, now: Timestamp) -> (Mark, Text) {
    let (pool, id) = (run.subject.name(), screens::short_id(&run.run_id));
    let took = duration(run.elapsed(now));
    let place = match &run.step {
        Some(step) => format!("at step {} of {}, {}", step.number, run.step_count, step.name),
        None => "in its rollback".to_owned(),
    };
    let (mark, text) = match run.state {
        "repaired" => (Mark::Good, format!("Pool {pool} of {cluster} was rebuilt in {took}.")),
        "nothing-to-do" => (Mark::Good, format!("Pool {pool} of {cluster}: nothing to do.")),
        "blocked" => {
            (Mark::Bad, format!("The repair of pool {pool} of {cluster} was blocked by a check."))
        }
        "aborted" => {
            (Mark::Warning, format!("The repair of pool {pool} of {cluster} was rolled back."))
        }
        _ if run.is_running() => (
            Mark::Warning,
            format!("Pool {pool} of {cluster} is being repaired for {took}, {place}."),
        ),
        _ => (
            Mark::Bad,
            format!("The repair of pool {pool} of {cluster} is unfinished: it stopped {place}."),
        ),
    };
    (mark, Text::new(format!("{text} Run {id}.")))
}

//! Screens of runs.

use std::fmt::Write as _;

use jiff::Timestamp;
use mooring_redact::{markdown, markdown_code};
use mooring_terminal::{Mark, Screen, Text};
use mooring_workflow::published::Next;
use mooring_workflow::screens::{self, duration};
use mooring_workflow::status::RunStatus;
use mooring_workflow::{Finish, Phase, Workflow as _};

use crate::plan::Step;
use crate::workflow::{PoolRepair, Run};

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

/// Returns the last run of a journal as Markdown.
pub fn run_markdown(run: &Run) -> String {
    let plan = &run.session.plan;
    let result = match run.phase {
        Phase::Running => "UNFINISHED; continue with `mooring repair resume`",
        Phase::Aborting => "UNFINISHED (rollback); continue with `mooring repair abort`",
        Phase::Finished(Finish::Complete | Finish::Partial) => "REPAIRED",
        Phase::Finished(Finish::NothingToDo) => "NOTHING TO DO",
        Phase::Finished(Finish::Refused) => "BLOCKED",
        Phase::Finished(Finish::Aborted) => "ABORTED",
    };
    let mut text = format!(
        "# Run {}: {result}\n\nPool {} of {}, plan {}.\n\n| step | evidence |\n|---|---|\n",
        markdown_code(&run.id),
        markdown_code(&plan.pool),
        markdown_code(&plan.cluster),
        markdown_code(&plan.token().to_string())
    );
    for done in &run.done {
        let evidence = markdown(&done.evidence.join("; "));
        let _ = writeln!(text, "| {} | {evidence} |", done.step.name());
    }
    for (name, why) in &run.session.settings().overrides {
        let _ = writeln!(text, "\n- Overridden: {}", markdown(&format!("{name}: {why}")));
    }
    for left in PoolRepair::remaining(run) {
        let _ = writeln!(text, "\n- Remaining: {}", markdown(&left.what));
    }
    if !run.is_finished() {
        let place = match run.step() {
            _ if run.phase == Phase::Aborting => "rolling back".to_owned(),
            Some(step) => format!("step {}/{} {}", step.number(), Step::ALL.len(), step.name()),
            None => "finished".to_owned(),
        };
        let stopped = run.stopped.as_ref().map(|why| format!(": {}", markdown(why)));
        let _ = writeln!(text, "\n- Now: {place}{}", stopped.unwrap_or_default());
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use mooring_workflow::CompletedStep;

    use super::*;
    use crate::common::{document, session, target};
    use crate::plan::{HashedPlan, PlanDocument};
    use crate::settings::Settings;

    /// A screen clear, a direction mark, Markdown, HTML, and line breaks.
    const HOSTILE: &str = "x\u{1b}[2J\u{202e}|`a`<script>\n| b | c |\nnow        done\r";

    fn hostile() -> Run {
        let all = || HOSTILE.to_owned();
        let settings = Settings::new(target("system"));
        let mut session = session(&settings);
        let plan = PlanDocument { cluster: all(), pool: all(), ..document(&settings) };
        session.plan = HashedPlan::new(plan);
        session.overrides = BTreeMap::from([("pdb".to_owned(), all())]);
        let at = Timestamp::UNIX_EPOCH;
        let mut run = Run::begin(HOSTILE, session, at);
        run.done.push(CompletedStep { step: Step::Snapshot, at, evidence: vec![all()] });
        run.facts.losses.push(all());
        run.stopped = Some(all());
        run
    }

    fn is_safe(text: &str) -> bool {
        text.chars().all(|c| c == '\n' || !mooring_redact::is_hidden(c))
    }

    #[test]
    fn forged_journal_adds_no_row_or_markup_to_markdown() {
        let text = run_markdown(&hostile());
        assert!(is_safe(&text), "{text:?}");
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(rows.len(), 3, "{text}");
        let bars = |row: &&str| row.replace("\\|", "").matches('|').count() == 3;
        assert!(rows.iter().all(bars), "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with('#')).count(), 1, "{text}");
        let prose = text.lines().filter(|line| line.starts_with(['|', '-']));
        assert!(!prose.collect::<String>().contains("<script>"), "{text}");
        for word in ["Overridden", "Remaining", "Now: step 2/16 clear-operation"] {
            assert!(text.contains(&format!("\n- {word}")), "{text}");
        }
    }
}

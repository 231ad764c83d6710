//! `mooring repair --pipeline`: the whole repair as one unattended step.

use std::time::Duration;

use jiff::SignedDuration;
use mooring_redact::printable;
use mooring_repair::begin::may_begin;
use mooring_repair::report::{DetectionReport, RunReport};
use mooring_repair::resume::{Consent, Footing, Fresh};
use mooring_repair::settings::Settings;
use mooring_repair::shell::{CommandResult, LOCK_WAIT, Operator};
use mooring_repair::temporary_pool::TemporaryPool;
use mooring_repair::verdict::Verdict;
use mooring_repair::workflow::Finish;
use mooring_repair::workflow::RunOutcome;
use mooring_repair::workflow::{Reason, Run};
use mooring_workflow::Outcome;
use mooring_workflow::approval::Approval;
use mooring_workflow::store::JournalPlace;

use super::arguments::{Drawn, RepairArguments, Written};
use super::confirm::show_target;
use super::left::{absence, nobody_stands_in, unfinished, warn_of_0_1};
use super::outside::operator;
use super::progress::tell;
use super::settings::{SIGNATURES, read_signatures};
use super::show;
use crate::failure::Failure;
use crate::runs::{
    Progress, Signals, build_runtime, dry_run, env_var, format_lock, print_once, with_progress,
    write,
};

/// The step's whole time, waiting for rights and for another run's lock included.
const OVERALL: SignedDuration = SignedDuration::from_hours(1);
/// To write down where a run rests, and to tell.
const TELLING: SignedDuration = SignedDuration::from_mins(2);
/// A pipeline may have given the right to read the activity log in the step before.
const GRACE: SignedDuration = SignedDuration::from_mins(5);

/// How long a run may take that begins after so much of the step's time: it comes to rest by itself before that is up.
fn left_after(elapsed: SignedDuration) -> SignedDuration {
    (OVERALL - TELLING - LOCK_WAIT - elapsed).max(SignedDuration::from_mins(1))
}

/// Exit 0 for done or nothing to do, 2 for an invalid `DRY_RUN`, 1 for everything else.
pub(crate) fn pipeline(arguments: &RepairArguments) -> Result<u8, Failure> {
    let dry_run = dry_run::from_environment()? || arguments.dry_run;
    dry_run::announce(dry_run);
    let mut settings = Settings::from_env(env_var).map_err(|error| {
        Failure::usage(format!("{error}\nhint: this step takes it from the environment"))
            .with_code(1)
    })?;
    settings.version = arguments.kubernetes_version.into();
    if let Some(namespace) = &arguments.namespace {
        settings.journal = JournalPlace::ConfigMap(namespace.clone());
    }
    read_signatures(&mut settings, env_var(SIGNATURES).as_deref())
        .map_err(|failure| failure.with_code(1))?;
    let done = build_runtime()?.block_on(async {
        let (mut operator, signals) = operator(None, settings)?;
        operator.await_rights(GRACE, Box::new(print_once()));
        let most = Duration::try_from(OVERALL).unwrap_or_default();
        // Whatever is under way then is left as a kill would leave it, which the journal bears.
        tokio::time::timeout(most, Box::pin(step(&mut operator, signals, dry_run)))
            .await
            .unwrap_or_else(|_| {
                Err(Failure::resumable(
                    "60 minutes are up\nhint: the next run of this step continues".to_owned(),
                ))
            })
    });
    done.map_err(|failure| failure.with_code(1))
}

async fn step(operator: &mut Operator, signals: Signals, dry_run: bool) -> Result<u8, Failure> {
    let entered = tokio::time::Instant::now();
    let report = with_progress(operator.detect()).await;
    if report.greenfield {
        write(&format!("{}: greenfield rollout, nothing to repair\n", absence(operator)));
        return Ok(0);
    }
    show_target(operator).await;
    write(&report.table());
    // What an earlier run left is looked for before anything is judged: a pool that was deleted and not made
    // again looks like no pool at all.
    let standing = match operator.status().await {
        Ok(standing) => standing,
        // A cluster that is being made or deleted may have no API, and no run goes on there now.
        Err(_) if !report.detection.cluster_allows() => return nothing_to_do(&report),
        Err(unreached) => return Err(unreached.into()),
    };
    warn_of_0_1(operator).await;
    let unfinished = unfinished(operator, &standing.records)?;
    let footing = match &unfinished {
        Some(state) => Some(operator.footing(state).await.map_err(Failure::io)?),
        None => None,
    };
    let examined = with_progress(operator.examine(None, unfinished.as_ref())).await;
    let report = &examined.report;
    let elapsed = SignedDuration::try_from(entered.elapsed()).unwrap_or(OVERALL);
    operator.allow(left_after(elapsed));
    let mut progress = Progress::new();
    let watcher = Box::new(|state: &_, action: &_, now| tell(&mut progress, state, action, now));
    let ending = match unfinished.as_ref().zip(footing) {
        Some((state, footing)) if footing != Footing::Replannable => {
            let run = printable(&state.id);
            if dry_run {
                write(&format!("run {run} is unfinished and would be continued\n"));
                return Ok(0);
            }
            write(&format!("run {run} is unfinished and is continued\n"));
            let mut say = print_once();
            let resume = operator.resume(&Consent::Pipeline, None, watcher, &mut say);
            Box::pin(signals.run(resume, CommandResult::Resumable)).await
        }
        resumes => {
            let guards = &report.detection.guards;
            if report.detection.verdict == Verdict::Healthy
                || guards.iter().any(|guard| guard.outcome == Outcome::Fail)
            {
                return match resumes {
                    Some((state, _)) => not_resumed(state, report),
                    None => nothing_to_do(report),
                };
            }
            let plan = examined.plan.as_ref().map_err(|error| Failure::io(error.to_string()))?;
            if dry_run {
                if let Some((state, _)) = &resumes {
                    let run = printable(&state.id);
                    write(&format!(
                        "run {run} is unfinished and would be continued with this plan\n"
                    ));
                }
                show::plan(plan, Drawn::Table)?;
                may_begin(plan, guards, operator.settings())
                    .map_err(|error| Failure::io(error.to_string()))?;
                return Ok(0);
            }
            if let Some(young) = report.operation.as_ref().filter(|found| found.left_alone) {
                let own = |left: &TemporaryPool| {
                    standing.records.iter().any(|record| left.run.as_ref() == Some(&record.run))
                };
                if !report.temporary_pool.as_ref().is_some_and(own) {
                    nobody_stands_in(report)?;
                }
                write(&format!("{young}; nothing to do\n"));
                return Ok(0);
            }
            show::warnings(plan);
            if let Some((state, _)) = resumes {
                let run = printable(&state.id);
                write(&format!("run {run} is unfinished and continues with a new plan\n"));
                let mut say = print_once();
                let fresh = Some(Fresh { plan, guards });
                let resume = operator.resume(&Consent::Pipeline, fresh, watcher, &mut say);
                Box::pin(signals.run(resume, CommandResult::Resumable)).await
            } else {
                let approval = Approval::Pipeline(plan.document.hash());
                let run = operator.apply(plan, guards, approval, watcher);
                Box::pin(signals.run(run, CommandResult::Resumable)).await
            }
        }
    };
    progress.end();
    // What came of it is known, whether or not it can be read once more.
    let records = operator.status().await.map(|standing| standing.records).unwrap_or_default();
    let begun = matches!(ending, CommandResult::Rested(_) | CommandResult::Resumable(_));
    let report = RunReport::of(&records).ok().flatten();
    let last = report.as_ref().and_then(|report| report.finish);
    let report = report.filter(|_| begun);
    if let Some(report) = &report {
        show::report(report, Written::Table)?;
    }
    verdict(ending, report.as_ref(), last)
}

fn nothing_to_do(report: &DetectionReport) -> Result<u8, Failure> {
    nobody_stands_in(report)?;
    write("nothing to do\n");
    Ok(0)
}

/// An unfinished run that nothing vouches for, on a pool that no plan may rebuild now.
fn not_resumed(state: &Run, report: &DetectionReport) -> Result<u8, Failure> {
    if report.detection.verdict == Verdict::Healthy {
        write(&format!(
            "run {} in the journal is unfinished, and the pool is not wedged; nothing to do\nhint: `mooring repair abort` ends the run\n",
            printable(&state.id)
        ));
        return Ok(0);
    }
    Err(Failure::blocked(format!(
        "run {} is unfinished, and the checks allow no new plan\nhint: an operator must decide: `mooring repair status`, then `resume` or `abort`",
        printable(&state.id)
    )))
}

const ANEW: &str = "the next run of this step begins anew";

/// What waiting does not change, and a pipeline may not decide.
fn needs_a_person(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::GuardRefused
            | Reason::PoolChanged
            | Reason::PoolGone
            | Reason::NameTaken
            | Reason::NotUndoable
            | Reason::NotApproved
    )
}

/// `report` is of the run that this step drove, `last` how the journal's last one ended.
fn verdict(
    ending: CommandResult,
    report: Option<&RunReport>,
    last: Option<Finish>,
) -> Result<u8, Failure> {
    Err(Failure::io(match ending {
        // It came back by itself, or something else changed: there is nothing to repair now.
        CommandResult::Rested(RunOutcome::Finished(Finish::Refused))
            if report.is_some_and(RunReport::refused_at_recheck) =>
        {
            return Ok(0);
        }
        CommandResult::Rested(RunOutcome::Finished(Finish::Repaired | Finish::NothingToDo)) => {
            return Ok(0);
        }
        CommandResult::Rested(RunOutcome::Finished(Finish::Aborted)) => {
            format!("somebody had begun to undo the run, which is undone now\nhint: {ANEW}")
        }
        // Somebody else ended it while this step waited for them.
        CommandResult::Nothing(text) => match last {
            None | Some(Finish::Repaired | Finish::NothingToDo) => {
                write(&format!("{text}; nothing to do\n"));
                return Ok(0);
            }
            Some(Finish::Aborted | Finish::Refused) => {
                format!("{text}, and the pool is not repaired\nhint: {ANEW}")
            }
        },
        CommandResult::Rested(RunOutcome::Finished(Finish::Refused)) => {
            let why = report.and_then(|report| report.stopped.as_deref());
            format!("refused: {}", why.unwrap_or("by a guard"))
        }
        CommandResult::Rested(RunOutcome::Resumable { reason, message })
            if needs_a_person(reason) =>
        {
            format!(
                "{message}\nhint: the next run of this step would only come to the same; a person must decide"
            )
        }
        CommandResult::Rested(RunOutcome::Resumable { message, .. })
        | CommandResult::Resumable(message) => {
            format!("{message}\nhint: the next run of this step continues")
        }
        CommandResult::Refused(error) => error.to_string(),
        CommandResult::Held(lock) => format_lock(&lock),
        CommandResult::Failed(why) | CommandResult::NoJournal(why) => why,
    }))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use mooring_repair::plan::Step;

    use super::*;

    #[test]
    fn a_run_comes_to_rest_before_the_steps_hour_is_up() {
        assert_eq!(left_after(SignedDuration::ZERO), SignedDuration::from_mins(53));
        for waited in [0, 1, 6, 30, 51] {
            let waited = SignedDuration::from_mins(waited);
            let all = waited + LOCK_WAIT + left_after(waited) + TELLING;
            assert!(all <= SignedDuration::from_mins(60), "{waited}: {all}");
        }
    }

    #[test]
    fn a_pool_that_recovers_before_anything_is_touched_is_nothing_to_do() {
        let of = |step| RunReport {
            schema: "mooring.repair/v1",
            run: String::new(),
            cluster: String::new(),
            pool: String::new(),
            plan_hash: String::new(),
            started: Timestamp::UNIX_EPOCH,
            last: Timestamp::UNIX_EPOCH,
            finish: Some(Finish::Refused),
            undoing: false,
            step: Some(step),
            steps: Vec::new(),
            effects: Vec::new(),
            overrides: Vec::new(),
            left: Vec::new(),
            stopped: Some("systmp is somebody else's".to_owned()),
        };
        let refused = |step| {
            verdict(
                CommandResult::Rested(RunOutcome::Finished(Finish::Refused)),
                Some(&of(step)),
                None,
            )
        };
        assert_eq!(refused(Step::Recheck).ok(), Some(0));
        let failure = refused(Step::Snapshot).unwrap_err();
        assert!(failure.text().contains("somebody else's"), "{}", failure.text());
    }

    #[test]
    fn a_step_is_done_only_if_the_pool_is_repaired_or_was_well() {
        let code =
            |ending, last| verdict(ending, None, last).map_err(|failure| failure.text().to_owned());
        let over = || CommandResult::Nothing("run r is over".to_owned());
        assert_eq!(code(over(), Some(Finish::Repaired)), Ok(0));
        assert!(code(over(), Some(Finish::Aborted)).unwrap_err().contains("begins anew"));
        let undone = CommandResult::Rested(RunOutcome::Finished(Finish::Aborted));
        assert!(code(undone, Some(Finish::Aborted)).unwrap_err().contains("begins anew"));
        let stopped = |reason| {
            CommandResult::Rested(RunOutcome::Resumable { reason, message: "m".to_owned() })
        };
        assert!(code(stopped(Reason::Deadline), None).unwrap_err().contains("continues"));
        assert!(code(stopped(Reason::PoolGone), None).unwrap_err().contains("a person"));
    }
}

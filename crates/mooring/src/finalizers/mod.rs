//! `mooring finalizers`: wiring. What is decided is decided in `mooring-repair`.

mod arguments;
mod end;
mod settings;

use std::process::ExitCode;
use std::rc::Rc;

use jiff::Timestamp;
use mooring_repair::finalizers::machine::Action;
use mooring_repair::finalizers::plan::{self, Plan};
use mooring_repair::finalizers::report::Verdict;
use mooring_repair::finalizers::settings::Settings;
use mooring_repair::finalizers::shell::{BeginError, Ending, Remover};
use mooring_repair::finalizers::state::State;
use mooring_repair::finalizers::step::Step;
use mooring_repair::guards::Outcome;
use mooring_repair::shell::KubeApi;

pub(crate) use arguments::FinalizersArguments;
use arguments::{Drawn, FinalizersCommand, TargetArguments, Written};

use crate::connect;
use crate::failure::Failure;
use crate::journaled::{
    Progress, Signals, confirm, dry_run, environment, in_the_way, once, runtime, signals, write,
};
use crate::show::{json, print};

/// Runs the command.
pub(crate) fn finalizers(arguments: &FinalizersArguments) -> ExitCode {
    run(&arguments.command).map_or_else(|failure| failure.report(), ExitCode::from)
}

fn run(command: &FinalizersCommand) -> Result<u8, Failure> {
    dry_run::from_environment()?;
    match command {
        FinalizersCommand::Plan { target, policy, output } => {
            let settings = settings::settings(target, Some(policy))?;
            on(target, settings, async |remover, _| show(&remover.plan().await, *output))
        }
        FinalizersCommand::Apply { target, policy, approval, best_effort, timeout, output } => {
            let mut settings = settings::settings(target, Some(policy))?;
            let usual = settings.limits.overall;
            settings.limits.overall = settings::timeout(timeout.as_deref(), environment, usual)?;
            settings.best_effort = *best_effort;
            let asks = !approval.yes && !best_effort;
            let name = settings.profile.name.clone();
            let done = on(target, settings, async |remover, signals| {
                let applied = Box::pin(apply(
                    &remover,
                    signals,
                    &name,
                    approval.plan_hash.as_ref().map(ToString::to_string).as_deref(),
                    asks,
                    *output,
                    *best_effort,
                ))
                .await;
                if !best_effort {
                    return applied;
                }
                // A pipeline of old goes on, whatever is left.
                if let Err(failure) = &applied {
                    write(&format!("mooring: {}\n", failure.text()));
                }
                Ok(0)
            });
            if *best_effort { done.map_err(|failure| failure.with_code(1)) } else { done }
        }
        FinalizersCommand::Resume { target, yes, output } => {
            let settings = settings::settings(target, None)?;
            let name = settings.profile.name.clone();
            on(target, settings, async |remover, signals| {
                if !yes {
                    confirm(
                        &name,
                        &format!("Type the profile's name to continue the removal of {name}: "),
                        "resume --yes",
                    )?;
                }
                resume(&remover, signals, *output).await
            })
        }
        FinalizersCommand::Status { target, output } => {
            let settings = settings::settings(target, None)?;
            on(target, settings, async |remover, _| {
                let standing = remover.status().await.map_err(Failure::unreadable)?;
                end::standing(&standing, *output)?;
                Ok(0)
            })
        }
    }
}

fn on(
    target: &TargetArguments,
    settings: Settings,
    act: impl AsyncFnOnce(Remover, Signals) -> Result<u8, Failure>,
) -> Result<u8, Failure> {
    runtime()?.block_on(async {
        let client = connect::kubernetes_by(target.kubeconfig.as_deref()).await?;
        let (signals, stopped) = signals();
        let remover =
            Remover::new(KubeApi::new(client), settings, Rc::new(Timestamp::now), stopped);
        act(remover, signals).await
    })
}

/// Shows a plan; the exit code says whether `apply` would begin.
fn show(plan: &Plan, output: Drawn) -> Result<u8, Failure> {
    let text = match output {
        Drawn::Table => plan::table(plan),
        Drawn::Json => json(plan)?,
        Drawn::Mermaid => plan::mermaid(plan),
    };
    print(text.as_bytes())?;
    match plan.guards.iter().find(|guard| !guard.lets_through()) {
        None => Ok(0),
        Some(guard) => {
            let why = guard.evidence.join("; ");
            Err(match guard.outcome {
                Outcome::Unknown => {
                    Failure::unreadable(format!("{} cannot be told: {why}", guard.name))
                }
                _ => Failure::refused(format!("{}: {why}\n{}", guard.name, end::STILL_RUNS)),
            })
        }
    }
}

async fn apply(
    remover: &Remover,
    signals: Signals,
    name: &str,
    approved: Option<&str>,
    asks: bool,
    output: Written,
    best_effort: bool,
) -> Result<u8, Failure> {
    // What an earlier run left comes before anything is judged. Without a journal to read, beginning one will tell.
    if let Ok(standing) = remover.status().await
        && let Ok(Some(state)) = State::replay(&standing.records)
        && state.finished.is_none()
    {
        if best_effort {
            write(&format!("run {} is not over and is continued\n", state.run));
            return resume(remover, signals, output).await;
        }
        let ending = in_the_way(standing.lock, BeginError::Unfinished(state.run));
        return end::end(remover, name, "", ending, output).await;
    }
    let plan = remover.plan().await;
    if plan.nothing_to_do {
        end::without_run(name, &plan.hash, Verdict::Clean, None, output)?;
        return Ok(0);
    }
    if asks {
        write(&format!("{}\n", plan::table(&plan)));
        if plan.guards.iter().all(mooring_repair::guards::Guard::lets_through) {
            let question = format!("Type the profile's name to remove {name}: ");
            confirm(name, &question, "apply --yes --plan-hash HASH")?;
        }
    }
    let mut progress = Progress::new();
    let watcher = Box::new(|state: &_, action: &_, _| tell(&mut progress, state, action));
    let ending = signals.during(remover.apply(&plan, approved, watcher), Ending::Resumable).await;
    progress.end();
    end::end(remover, name, &plan.hash, ending, output).await
}

async fn resume(remover: &Remover, signals: Signals, output: Written) -> Result<u8, Failure> {
    let mut progress = Progress::new();
    let watcher = Box::new(|state: &_, action: &_, _| tell(&mut progress, state, action));
    let mut say = once();
    let ending =
        signals.during(Box::pin(remover.resume(watcher, &mut say)), Ending::Resumable).await;
    progress.end();
    end::end(remover, "", "", ending, output).await
}

/// Tells a person what comes next.
fn tell(progress: &mut Progress, state: &State, action: &Action) {
    use mooring_repair::finalizers::entry::Entry;
    let what = match action {
        Action::Effect { effect, .. } => format!("{} {}", effect.verb(), effect.target()),
        Action::Wait { why, .. } => format!("waiting {why}"),
        Action::Stop { message, .. } => format!("stopping: {message}"),
        Action::Record(entry) => match &**entry {
            Entry::StepDone { proof, .. } => format!("done: {}", proof.join("; ")),
            Entry::Spared { key, why } => format!("{key} stays: {why}"),
            _ => return,
        },
        Action::Observe(_) | Action::LookAgain | Action::Done => return,
    };
    let place = state.step().map_or("end".to_owned(), |step| {
        format!("step {}/{} {}", step as usize + 1, Step::ALL.len(), step.name())
    });
    progress.show(&place, "", &what, matches!(action, Action::Wait { .. }));
}

//! `mooring finalizers apply` and `mooring finalizers resume`.

use jiff::{SignedDuration, Timestamp};
use mooring_finalizers::commands::{CommandResult, StartError};
use mooring_finalizers::plan::Plan;
use mooring_finalizers::screens;
use mooring_workflow::approval::{Approval, ApprovalToken};

use super::arguments::RunArguments;
use super::session::{FinalizerSession, with_session};
use super::target::{Change, ensure_named};
use super::{exit, settings, show};
use crate::output::failure::CommandFailure;
use crate::output::{AnswerFormat, PlanFormat};
use crate::process::env_var;
use crate::workflows::runs::{
    ReadLimit, Signals, announce_dry_run, confirm, confirm_protected, is_dry_run,
    unfinished_result, write, write_screen,
};

const DRY_RUN_LIMIT: SignedDuration = SignedDuration::from_mins(2);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begin {
    /// With `--best-effort`, an unfinished run is continued instead.
    New,
    Unfinished,
}

pub(super) fn change(arguments: &RunArguments, begin: Begin) -> Result<u8, CommandFailure> {
    let dry_run = is_dry_run()? || arguments.dry_run;
    announce_dry_run(dry_run);
    let has_token = arguments.approval.plan_hash.is_some();
    if has_token {
        ensure_named(&arguments.target, env_var)?;
    }
    let mut settings = settings::settings(&arguments.target, Some(&arguments.policy))?;
    let usual = if dry_run { DRY_RUN_LIMIT } else { settings.limits.overall };
    settings.limits.overall = settings::timeout(arguments.timeout, env_var, usual);
    let timeout = settings.limits.overall.unsigned_abs();
    let limit = dry_run.then_some(ReadLimit { timeout });
    let best_effort = settings.best_effort;
    let change = if has_token || best_effort { Change::Unattended } else { Change::Confirmed };
    let request = Request { arguments, begin, dry_run };
    let done =
        with_session(&arguments.target, change, limit, settings, async |session, signals| {
            let done = Box::pin(session.change(&request, signals)).await;
            match done {
                // A pipeline continues regardless of the result.
                Err(failure) if best_effort && !session.remover.is_signed_out() => {
                    write(&format!("warning: {}\n", failure.text()));
                    Ok(0)
                }
                Ok(_) if best_effort => Ok(0),
                done => done,
            }
        });
    if best_effort { done.map_err(|failure| failure.with_code(1)) } else { done }
}

/// A command that changes the cluster.
struct Request<'a> {
    arguments: &'a RunArguments,
    begin: Begin,
    dry_run: bool,
}

impl FinalizerSession {
    async fn change(&self, request: &Request<'_>, signals: Signals) -> Result<u8, CommandFailure> {
        self.show_target();
        let format = request.arguments.output.output;
        let token = request.arguments.approval.plan_hash.as_ref();
        if let Some(token) = token.filter(|token| token.is_expired(Timestamp::now())) {
            let expired = CommandResult::Refused(StartError::Expired(token.expires));
            return exit::end(self, "", expired, format).await;
        }
        let is_unfinished = match self.find_unfinished(request).await? {
            Ok(is_unfinished) => is_unfinished,
            Err(ending) => return exit::end(self, "", ending, format).await,
        };
        let plan = self.plan(token).await?;
        if request.dry_run {
            let code = exit::plan(self, &plan, PlanFormat::Answer(format)).await?;
            let other = token.filter(|token| **token != plan.approval && !plan.nothing_to_do);
            let changed = |token: &ApprovalToken| {
                let (approved, current) = (token.hash.clone(), plan.approval.hash.clone());
                Err(exit::refusal(&StartError::PlanChanged { approved, current }))
            };
            return other.map_or(Ok(code), changed);
        }
        let hash = plan.approval.to_string();
        if plan.nothing_to_do && !is_unfinished {
            show::without_run(self, &hash, None, format).await?;
            return Ok(0);
        }
        let approval = self.approve(&plan, request)?;
        let run = signals.drive("end", async |watcher, say| {
            if is_unfinished {
                self.remover.resume(&plan, &approval, watcher, say).await
            } else {
                self.remover.apply(&plan, &approval, watcher).await
            }
        });
        let ending = run.await;
        exit::end(self, &hash, ending, format).await
    }

    /// Returns true if an unfinished run is to be continued, or the result of the command.
    async fn find_unfinished(
        &self,
        request: &Request<'_>,
    ) -> Result<Result<bool, CommandResult>, CommandFailure> {
        let is_new = request.begin == Begin::New;
        let status = match self.wait_for(self.remover.status()).await {
            Ok(status) => status,
            // Starting a journal shows why it cannot be read.
            Err(_) if is_new => return Ok(Ok(false)),
            Err(why) => return Err(self.unreadable(why)),
        };
        Ok(match status.unfinished() {
            None if is_new => Ok(false),
            None => {
                let nothing = format!("no unfinished run found in {}", status.place);
                Err(CommandResult::Nothing(nothing))
            }
            Some(run) => match self.remover.check_profile(run) {
                Err(error) => Err(CommandResult::Refused(error)),
                Ok(()) if !is_new => Ok(true),
                Ok(()) if request.arguments.policy.best_effort => {
                    write(&format!("run {} is unfinished and is continued\n", run.id));
                    Ok(true)
                }
                Ok(()) => {
                    let unfinished = StartError::Unfinished(run.id.clone());
                    Err(unfinished_result(status.lock.clone(), unfinished))
                }
            },
        })
    }

    /// Returns the approval of the plan: the token, `--best-effort`, or the typed name.
    fn approve(&self, plan: &Plan, request: &Request<'_>) -> Result<Approval, CommandFailure> {
        if plan.nothing_to_do {
            return Ok(Approval::None);
        }
        let Request { arguments, begin, .. } = request;
        let (name, hash) = (self.typed_name(), &plan.approval.hash);
        let by_flags = match &arguments.approval.plan_hash {
            Some(token) => Some(Approval::Token(token.clone())),
            None => arguments.policy.best_effort.then(|| Approval::Pipeline(hash.clone())),
        };
        if let Some(approval) = by_flags {
            if let Some(context) = &self.protected {
                confirm_protected(&name, context)?;
            }
            return Ok(approval);
        }
        let is_wide = arguments.output.output == AnswerFormat::Wide;
        write_screen(&screens::plan(plan, self.cluster(), None, is_wide));
        // A blocked plan needs no confirmation.
        if plan.blocking().is_none() {
            let command = if *begin == Begin::New { "apply" } else { "resume" };
            confirm(&name, &format!("mooring finalizers {command} --yes --plan-hash HASH"))?;
        }
        Ok(Approval::Typed(hash.clone()))
    }
}

//! `mooring finalizers apply` and `mooring finalizers resume`.

use jiff::{SignedDuration, Timestamp};
use mooring_finalizers::commands::{CommandResult, StartError};
use mooring_finalizers::plan::Plan;
use mooring_finalizers::screens;
use mooring_finalizers::workflow::RemovalVerdict;
use mooring_workflow::CheckResult;
use mooring_workflow::approval::{Approval, ApprovalToken};

use super::arguments::{PlanOutput, RunArguments, RunOutput};
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
    let token = arguments.approval.plan_hash.clone();
    if token.is_some() {
        ensure_named(&arguments.target, env_var)?;
    }
    let mut settings = settings::settings(&arguments.target, Some(&arguments.policy))?;
    let usual = if dry_run { DRY_RUN_LIMIT } else { settings.limits.overall };
    settings.limits.overall = settings::timeout(arguments.timeout, env_var, usual);
    let timeout = settings.limits.overall.unsigned_abs();
    let limit = dry_run.then_some(ReadLimit { timeout });
    let best_effort = settings.best_effort;
    let output = arguments.output.clone();
    let is_unattended = token.is_some() || best_effort;
    let request = Request { begin, token, dry_run, best_effort, output };
    let change = if is_unattended { Change::Unattended } else { Change::Confirmed };
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

/// Arguments of a command that changes the cluster.
struct Request {
    begin: Begin,
    token: Option<ApprovalToken>,
    dry_run: bool,
    best_effort: bool,
    output: RunOutput,
}

impl FinalizerSession {
    async fn change(&self, request: &Request, signals: Signals) -> Result<u8, CommandFailure> {
        self.show_target();
        if let Some(token) =
            request.token.as_ref().filter(|token| token.is_expired(Timestamp::now()))
        {
            let expired = CommandResult::Refused(StartError::Expired(token.expires));
            return exit::end(self, "", expired, &request.output).await;
        }
        let unfinished = match self.unfinished(request).await? {
            Ok(unfinished) => unfinished,
            Err(ending) => return exit::end(self, "", ending, &request.output).await,
        };
        let plan = self.plan(request.token.as_ref()).await?;
        if request.dry_run {
            return self.rehearse(&plan, request).await;
        }
        if plan.nothing_to_do && !unfinished {
            let token = plan.approval.to_string();
            show::without_run(self, &token, RemovalVerdict::Clean, None, &request.output).await?;
            return Ok(0);
        }
        let approval = self.approve(&plan, request)?;
        let run = signals.drive("end", async |watcher, say| {
            if unfinished {
                self.remover.resume(&plan, &approval, watcher, say).await
            } else {
                self.remover.apply(&plan, &approval, watcher).await
            }
        });
        let ending = run.await;
        exit::end(self, &plan.approval.to_string(), ending, &request.output).await
    }

    /// Returns true if an unfinished run is to be continued, or the result of the command.
    async fn unfinished(
        &self,
        request: &Request,
    ) -> Result<Result<bool, CommandResult>, CommandFailure> {
        let is_new = request.begin == Begin::New;
        let status = match self.wait_for(self.remover.status()).await {
            Ok(status) => status,
            // Starting a journal shows why it cannot be read.
            Err(_) if is_new => return Ok(Ok(false)),
            Err(why) => return Err(self.unreadable(why)),
        };
        let Some(state) = status.unfinished() else {
            let nothing = format!("no unfinished run found in {}", status.place);
            return Ok(if is_new { Ok(false) } else { Err(CommandResult::Nothing(nothing)) });
        };
        if let Err(error) = self.remover.check_profile(state) {
            return Ok(Err(CommandResult::Refused(error)));
        }
        if is_new && !request.best_effort {
            return Ok(Err(unfinished_result(
                status.lock.clone(),
                StartError::Unfinished(state.id.clone()),
            )));
        }
        if is_new {
            write(&format!("run {} is unfinished and is continued\n", state.id));
        }
        Ok(Ok(true))
    }

    /// Returns the approval of the plan: the token, `--best-effort`, or the typed name.
    fn approve(&self, plan: &Plan, request: &Request) -> Result<Approval, CommandFailure> {
        if plan.nothing_to_do {
            return Ok(Approval::None);
        }
        let name = format!("{}/{}", self.cluster(), self.profile);
        let by_flags = match &request.token {
            Some(token) => Some(Approval::Token(token.clone())),
            None => request.best_effort.then(|| Approval::Pipeline(plan.approval.hash.clone())),
        };
        if let Some(approval) = by_flags {
            if let Some(context) = &self.protected {
                confirm_protected(&name, context)?;
            }
            return Ok(approval);
        }
        let is_wide = request.output.output == AnswerFormat::Wide;
        write_screen(&screens::plan(plan, self.cluster(), None, is_wide));
        // A blocked plan needs no confirmation.
        if plan.checks.iter().all(CheckResult::allows_run) {
            let command = if request.begin == Begin::New { "apply" } else { "resume" };
            confirm(&name, &format!("mooring finalizers {command} --yes --plan-hash HASH"))?;
        }
        Ok(Approval::Typed(plan.approval.hash.clone()))
    }

    /// Prints the plan, and checks the approval.
    async fn rehearse(&self, plan: &Plan, request: &Request) -> Result<u8, CommandFailure> {
        let output = PlanFormat::Answer(request.output.output);
        let code = exit::plan(self, plan, &PlanOutput { output }).await?;
        match &request.token {
            Some(token) if *token != plan.approval && !plan.nothing_to_do => {
                let (approved, current) = (token.hash.clone(), plan.approval.hash.clone());
                Err(exit::refusal(&StartError::PlanChanged { approved, current }))
            }
            _ => Ok(code),
        }
    }
}

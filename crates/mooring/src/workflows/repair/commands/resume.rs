//! `mooring repair resume`: reviews an unfinished run, prompts if needed, and continues it.

use mooring_redact::printable;
use mooring_repair::plan::{Plan, Step};
use mooring_repair::report::DetectionReport;
use mooring_repair::resume::{Consent, Fresh, ResumeBasis, further_overrides};
use mooring_repair::runtime::{ApiUnavailable, Operator};
use mooring_repair::screens;
use mooring_repair::start_checks::may_begin;
use mooring_repair::workflow::Run;
use mooring_workflow::approval::ApprovalToken;

use crate::output::failure::CommandFailure;
use crate::workflows::repair::arguments::ResumeArguments;
use crate::workflows::repair::confirm::{no_plan, show_target};
use crate::workflows::repair::formats::RunOutput;
use crate::workflows::repair::session::RepairSession;
use crate::workflows::repair::{exit, leftover, show};
use crate::workflows::runs::{Signals, with_progress, write, write_screen};

/// Returns the unfinished run; the outer none if the command is done.
pub(crate) async fn find(
    operator: &mut Operator,
    dry_run: bool,
    output: &RunOutput,
    command: &str,
) -> Result<Option<Option<Run>>, CommandFailure> {
    let status = match with_progress(None, operator.status()).await {
        Err(ApiUnavailable::Absent(_)) => return Err(leftover::not_found(operator)),
        read => read?,
    };
    let unfinished = leftover::unfinished(operator, &status)?;
    if unfinished.is_none() {
        leftover::ensure_exists(operator).await?;
    }
    if unfinished.is_none() || dry_run {
        show::unchanged(operator, &status, output).await?;
    }
    if !dry_run {
        return Ok(Some(unfinished));
    }
    match &unfinished {
        Some(state) => write(&format!(
            "run {} is unfinished: `{command}` would start at {}\n",
            printable(&state.id),
            state.position()
        )),
        None => write("nothing to do\n"),
    }
    Ok(if command == "resume" && unfinished.is_some() { Some(unfinished) } else { None })
}

impl ResumeArguments {
    pub(crate) async fn run(
        &self,
        session: &mut RepairSession<'_>,
        signals: Signals,
        dry_run: bool,
    ) -> Result<u8, CommandFailure> {
        let operator = &mut session.operator;
        let found = find(operator, dry_run, &self.output, "resume").await?;
        let Some(unfinished) = found else { return Ok(0) };
        let mut fresh = None;
        let mut consent = Consent::Unattended;
        if let Some(state) = &unfinished {
            show_target(operator, "This continues the repair of", None).await;
            let basis = operator.resume_basis(state).await.map_err(CommandFailure::io)?;
            if self.needs_plan(operator, state, &basis) {
                fresh = Some(self.plan(session, state).await?);
            }
            if dry_run {
                Self::preview(&session.operator, state, &basis, fresh.as_ref());
                return Ok(0);
            }
            consent = self.consent(session, state, &basis, fresh.as_ref())?;
        }
        let fresh =
            fresh.as_ref().map(|(plan, report)| Fresh { plan, checks: &report.detection.checks });
        session
            .drive(signals, &self.output, async |operator, watcher, say| {
                operator.resume(&consent, fresh, watcher, say).await
            })
            .await
    }

    /// Returns true if the plan of the journal cannot be continued, and a new one can be approved.
    fn needs_plan(&self, operator: &Operator, state: &Run, basis: &ResumeBasis) -> bool {
        let is_journals = |token: &ApprovalToken| token.hash == reviewed(operator, state).hash;
        *basis == ResumeBasis::Replannable
            && match &self.plan_hash {
                Some(token) => !is_journals(token),
                None => !self.yes,
            }
    }

    /// Creates a new plan, if it may start.
    async fn plan(
        &self,
        session: &mut RepairSession<'_>,
        state: &Run,
    ) -> Result<(Plan, DetectionReport), CommandFailure> {
        let operator = &mut session.operator;
        let expires = self.plan_hash.as_ref().map(|token| token.expires);
        let examined = with_progress(None, operator.examine(expires, Some(state))).await;
        show::verdict(&examined.report);
        let plan = examined.plan.map_err(|error| no_plan(&error))?;
        let checks = &examined.report.detection.checks;
        may_begin(&plan, checks, operator.settings()).map_err(|error| {
            let failure = exit::refusal(&error, &session.flags());
            CommandFailure::blocked(format!(
                "{}; `mooring repair abort` ends the unfinished run",
                failure.text()
            ))
        })?;
        Ok((plan, examined.report))
    }

    fn preview(
        operator: &Operator,
        state: &Run,
        basis: &ResumeBasis,
        fresh: Option<&(Plan, DetectionReport)>,
    ) {
        match (fresh, basis) {
            (Some((plan, report)), _) => {
                write_screen(&screens::plan(plan, report, Some(&[]), false));
            }
            (None, ResumeBasis::Contradicted(anchor)) => write(&format!(
                "the plan in the journal is not the approved one: {anchor} with another approval\n"
            )),
            (None, ResumeBasis::Harmless) => write("only steps that need no approval remain\n"),
            (None, _) => write(&format!(
                "{}hash of the plan: {}\n",
                remaining(operator, state, basis),
                reviewed(operator, state)
            )),
        }
    }

    fn consent(
        &self,
        session: &RepairSession<'_>,
        state: &Run,
        basis: &ResumeBasis,
        fresh: Option<&(Plan, DetectionReport)>,
    ) -> Result<Consent, CommandFailure> {
        if self.yes || self.plan_hash.is_some() {
            session.ask_protected()?;
        }
        if let Some(token) = &self.plan_hash {
            return Ok(Consent::Token(token.clone()));
        }
        if self.yes || matches!(basis, ResumeBasis::Contradicted(_)) {
            return Ok(Consent::Unattended);
        }
        let Some((plan, report)) = fresh else {
            write(&remaining(&session.operator, state, basis));
            session.ask("resume --yes")?;
            return Ok(Consent::Typed(reviewed(&session.operator, state).hash));
        };
        write("The plan in the journal is not verified; this new plan replaces it:\n");
        write_screen(&screens::plan(plan, report, None, false));
        session.ask("resume --yes --plan-hash HASH")?;
        Ok(Consent::Typed(plan.document.hash()))
    }
}

/// Returns the approval of the journal's plan with the overrides of this command line.
fn reviewed(operator: &Operator, state: &Run) -> ApprovalToken {
    state
        .session
        .plan
        .with_overrides(&further_overrides(&state.session.plan, operator.settings()))
        .token()
}

/// Describes the remaining steps of a run and its approval.
fn remaining(operator: &Operator, state: &Run, basis: &ResumeBasis) -> String {
    use std::fmt::Write as _;

    let verified = match basis {
        ResumeBasis::Anchored => "approved plan, verified by the tag of the temporary pool",
        ResumeBasis::Harmless => "only steps that need no approval remain",
        _ => "NOT VERIFIED: no temporary pool has the approval of this plan",
    };
    let mut text = format!("Run {} is unfinished: {verified}\n", printable(&state.id));
    let left = Step::ALL.iter().filter(|step| !state.has_done(**step));
    for step in left {
        let _ = writeln!(text, "{:>2}  {:<17} {}", step.number(), step.name(), step.what());
    }
    let plan = state
        .session
        .plan
        .with_overrides(&further_overrides(&state.session.plan, operator.settings()));
    for (name, reason) in &plan.settings.overrides {
        let _ = writeln!(text, "overridden  {name}: {}", printable(reason));
    }
    text
}

//! `mooring repair resume` and `abort`: an unfinished run is reviewed, and continued or rolled back.

use std::fmt::Write as _;

use mooring_redact::printable;
use mooring_repair::plan::{Plan, Step};
use mooring_repair::report::DetectionReport;
use mooring_repair::resume::{Consent, Fresh, ResumeBasis, further_overrides};
use mooring_repair::runtime::{ApiUnavailable, Operator};
use mooring_repair::screens;
use mooring_repair::start_checks::may_begin;
use mooring_repair::workflow::{HashedPlan, Run};

use super::arguments::ResumeArguments;
use super::failures::{ensure_exists, no_plan, not_found, refusal, unfinished};
use super::session::RepairSession;
use super::show;
use crate::output::AnswerFormat;
use crate::output::failure::CommandFailure;
use crate::workflows::runs::{with_progress, write, write_screen};

/// Returns the unfinished run; the outer none if the command is done.
async fn find(
    session: &mut RepairSession<'_>,
    dry_run: bool,
    format: AnswerFormat,
    command: &str,
) -> Result<Option<Option<Run>>, CommandFailure> {
    let operator = &mut session.operator;
    let journal = match with_progress(None, operator.status()).await {
        Err(ApiUnavailable::Absent(_)) => return Err(not_found(operator)),
        read => read?,
    };
    let unfinished = unfinished(operator, &journal)?;
    if unfinished.is_none() {
        ensure_exists(operator).await?;
    }
    if (unfinished.is_none() || dry_run) && format.is_document() {
        show::run(session, &journal, format).await?;
    }
    if !dry_run {
        return Ok(Some(unfinished));
    }
    match &unfinished {
        Some(run) => write(&format!(
            "run {} is unfinished: `{command}` would start at {}\n",
            printable(&run.id),
            run.position()
        )),
        None => write("nothing to do\n"),
    }
    Ok(Some(unfinished).filter(|found| command == "resume" && found.is_some()))
}

/// Rolls back an unfinished run as far as possible.
pub(crate) async fn abort(
    session: &mut RepairSession<'_>,
    yes: bool,
    dry_run: bool,
    format: AnswerFormat,
) -> Result<u8, CommandFailure> {
    let Some(found) = find(session, dry_run, format, "abort").await? else { return Ok(0) };
    if let Some(run) = &found {
        write(&format!("Run {} is unfinished, at {}.\n", printable(&run.id), run.position()));
        session.show_target("This rolls back the repair of", None).await;
        if yes {
            session.ask_protected()?;
        } else {
            session.ask("abort --yes")?;
        }
    }
    let operator = &mut session.operator;
    let run =
        session.signals.drive("rollback", async |watcher, say| operator.abort(watcher, say).await);
    let ending = run.await;
    session.end(ending, format).await
}

impl ResumeArguments {
    pub(crate) async fn run(
        &self,
        session: &mut RepairSession<'_>,
        dry_run: bool,
    ) -> Result<u8, CommandFailure> {
        let found = find(session, dry_run, self.output, "resume").await?;
        let Some(unfinished) = found else { return Ok(0) };
        let mut fresh = None;
        let mut consent = Consent::Unattended;
        if let Some(run) = &unfinished {
            session.show_target("This continues the repair of", None).await;
            let operator = &mut session.operator;
            let basis = operator.resume_basis(run).await.map_err(CommandFailure::io)?;
            let reviewed = reviewed(operator, run);
            if self.needs_plan(&reviewed, &basis) {
                fresh = Some(self.plan(session, run).await?);
            }
            if dry_run {
                preview(run, &reviewed, &basis, fresh.as_ref());
                return Ok(0);
            }
            consent = self.consent(session, run, &reviewed, &basis, fresh.as_ref())?;
        }
        let fresh =
            fresh.as_ref().map(|(plan, report)| Fresh { plan, checks: &report.detection.checks });
        let operator = &mut session.operator;
        let run = session.signals.drive("rollback", async |watcher, say| {
            operator.resume(&consent, fresh, watcher, say).await
        });
        let ending = run.await;
        session.end(ending, self.output).await
    }

    /// Returns true if the plan of the journal cannot be continued, and a new one can be approved.
    fn needs_plan(&self, reviewed: &HashedPlan, basis: &ResumeBasis) -> bool {
        *basis == ResumeBasis::Replannable
            && match &self.plan_hash {
                Some(token) => token.hash != reviewed.hash(),
                None => !self.yes,
            }
    }

    /// Creates a new plan, if it may start.
    async fn plan(
        &self,
        session: &mut RepairSession<'_>,
        run: &Run,
    ) -> Result<(Plan, DetectionReport), CommandFailure> {
        let operator = &mut session.operator;
        let expires = self.plan_hash.as_ref().map(|token| token.expires);
        let examined = with_progress(None, operator.examine(expires, Some(run))).await;
        show::verdict(&examined.report);
        let plan = examined.plan.map_err(|error| no_plan(&error))?;
        let checks = &examined.report.detection.checks;
        may_begin(&plan, checks, operator.settings()).map_err(|error| {
            let failure = refusal(&error, &session.flags()).text();
            CommandFailure::blocked(format!(
                "{failure}; `mooring repair abort` ends the unfinished run"
            ))
        })?;
        Ok((plan, examined.report))
    }

    fn consent(
        &self,
        session: &RepairSession<'_>,
        run: &Run,
        reviewed: &HashedPlan,
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
            write(&remaining(run, reviewed, basis));
            session.ask("resume --yes")?;
            return Ok(Consent::Typed(reviewed.hash()));
        };
        write("The plan in the journal is not verified; this new plan replaces it:\n");
        write_screen(&screens::plan(plan, report, None, false));
        session.ask("resume --yes --plan-hash HASH")?;
        Ok(Consent::Typed(plan.document.hash()))
    }
}

fn preview(
    run: &Run,
    reviewed: &HashedPlan,
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
            remaining(run, reviewed, basis),
            reviewed.token()
        )),
    }
}

/// Returns the plan of the journal with the overrides of this command line.
fn reviewed(operator: &Operator, run: &Run) -> HashedPlan {
    let plan = &run.session.plan;
    plan.with_overrides(&further_overrides(plan, operator.settings()))
}

/// Describes the remaining steps of a run and its approval.
fn remaining(run: &Run, reviewed: &HashedPlan, basis: &ResumeBasis) -> String {
    let verified = match basis {
        ResumeBasis::Anchored => "approved plan, verified by the tag of the temporary pool",
        ResumeBasis::Harmless => "only steps that need no approval remain",
        _ => "NOT VERIFIED: no temporary pool has the approval of this plan",
    };
    let mut text = format!("Run {} is unfinished: {verified}\n", printable(&run.id));
    for step in Step::ALL.iter().filter(|step| !run.has_done(**step)) {
        let _ = writeln!(text, "{:>2}  {:<17} {}", step.number(), step.name(), step.what());
    }
    for (name, reason) in &reviewed.settings.overrides {
        let _ = writeln!(text, "overridden  {name}: {}", printable(reason));
    }
    text
}

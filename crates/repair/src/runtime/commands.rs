//! The commands apply, resume and abort.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use mooring_redact::printable;
use mooring_workflow::approval::Approval;
use mooring_workflow::command::{self, HeldJournal};
use mooring_workflow::lock::LockWait;
use mooring_workflow::{CheckResult, live};

use super::operator::Operator;
use crate::names::pointer;
use crate::plan::Plan;
use crate::start::resume::{Consent, Fresh, authorize};
use crate::start::start_checks::{StartError, begin, lost_run, may_begin};
use crate::temporary_pool::TemporaryPool;
use crate::workflow::{Entry, PoolCluster, PoolRepair, Run, Runs, Session};

/// Time to wait for a process that renews its lock.
pub const LOCK_TIMEOUT: SignedDuration = SignedDuration::from_mins(5);

pub type CommandResult = command::CommandResult<StartError>;
pub type Watcher<'a> = live::Watcher<'a, PoolRepair>;

impl Operator {
    /// Starts a run of an approved plan and drives it until it stops.
    pub async fn apply(
        &mut self,
        plan: &Plan,
        checks: &[CheckResult],
        approval: Approval,
        watcher: Watcher<'_>,
    ) -> CommandResult {
        let settings = self.settings.clone();
        // A blocked run does not touch the journal.
        if let Err(error) = may_begin(plan, checks, &settings) {
            return CommandResult::Refused(error);
        }
        let store = match self.store().await {
            Ok(store) => store,
            Err(error) => return CommandResult::Failed(error.why().to_owned()),
        };
        let journal = match self.process.acquire(store, LockWait::None, &mut |_| {}).await {
            Ok(journal) => journal,
            Err(result) => return result,
        };
        let now = self.process.now();
        let run_id = self.live.client.new_id();
        let run = match begin(&journal.runs, plan, checks, &settings, approval, &run_id, now) {
            Ok(run) => run,
            Err(error) => return journal.end(CommandResult::Refused(error)).await,
        };
        self.extend_window(&settings, SignedDuration::ZERO);
        self.drive(journal, run, watcher).await
    }

    /// Continues the last run as far as `consent` and live state allow; `fresh` is a new plan where one is needed.
    pub async fn resume(
        &mut self,
        consent: &Consent,
        fresh: Option<Fresh<'_>>,
        watcher: Watcher<'_>,
        say: &mut dyn FnMut(&str),
    ) -> CommandResult {
        let (journal, state) = match self.unfinished(say).await {
            Ok(held) => held,
            Err(result) => return result,
        };
        let basis = match self.resume_basis(&state).await {
            Ok(basis) => basis,
            Err(why) => return journal.end(CommandResult::Failed(why)).await,
        };
        let now = self.process.now();
        let settings = &self.settings;
        match authorize(&state, &basis, &journal.runs, settings, consent, fresh, now) {
            Ok(session) => {
                let entry = Entry::Resumed(Box::new(session));
                self.continue_run(journal, state, entry, watcher).await
            }
            Err(error) => journal.end(CommandResult::Refused(error)).await,
        }
    }

    /// Rolls back the last run as far as possible.
    pub async fn abort(
        &mut self,
        watcher: Watcher<'_>,
        say: &mut dyn FnMut(&str),
    ) -> CommandResult {
        let (journal, state) = match self.unfinished(say).await {
            Ok(held) => held,
            Err(result) => return result,
        };
        let plan = state.session.plan.clone();
        let session = Session::new(plan, BTreeMap::new(), Approval::Rollback, &self.settings);
        self.continue_run(journal, state, Entry::AbortStarted(Box::new(session)), watcher).await
    }

    /// Returns the unfinished run of this pool, under its lock.
    async fn unfinished(
        &mut self,
        say: &mut dyn FnMut(&str),
    ) -> Result<(HeldJournal<PoolRepair>, Run), CommandResult> {
        let store = self.store().await;
        let store = store.map_err(|error| CommandResult::Failed(error.why().to_owned()))?;
        let wait = LockWait::Until(LOCK_TIMEOUT);
        let (journal, run) = match self.process.acquire_unfinished(store, wait, say).await {
            Ok(found) => found,
            Err((CommandResult::Nothing(text), runs)) => {
                return Err(self.nothing(text, &runs).await);
            }
            Err((result, _)) => return Err(result),
        };
        let own = match self.own(&run) {
            Ok(()) => self.ensure_same_cluster(&run).await,
            other => other,
        };
        match own {
            Ok(()) => Ok((journal, run)),
            Err(why) => Err(journal.end(CommandResult::Failed(why)).await),
        }
    }

    async fn continue_run(
        &mut self,
        journal: HeldJournal<PoolRepair>,
        mut state: Run,
        entry: Entry,
        watcher: Watcher<'_>,
    ) -> CommandResult {
        // Checks use the window of the start of the run.
        let since = self.process.now().duration_since(state.started);
        if let Err(error) = state.change(self.process.now(), &entry) {
            return journal.end(CommandResult::Failed(error.to_string())).await;
        }
        self.extend_window(&state.session.settings(), since);
        self.drive(journal, state, watcher).await
    }

    /// Ensures that a run of the journal is one of this pool.
    pub fn own(&self, state: &Run) -> Result<(), String> {
        let (asked, of_run) = (&self.settings.target.pool, &state.session.plan.pool);
        let cluster = self.live.cluster.to_string();
        if cluster.eq_ignore_ascii_case(&state.session.plan.cluster) && asked == of_run {
            return Ok(());
        }
        Err(format!(
            "run {} in the journal is for pool {} of {}, not for pool {asked} of {cluster}",
            printable(&state.id),
            printable(of_run),
            printable(&state.session.plan.cluster)
        ))
    }

    /// Ensures that the cluster was not replaced by another one of the same name since the plan was approved.
    async fn ensure_same_cluster(&mut self, state: &Run) -> Result<(), String> {
        let Some(planned) = &state.session.plan.cluster_uid else { return Ok(()) };
        match self.read_uid().await {
            Some(uid) if uid != *planned => Err(format!(
                "run {} is for another cluster: the uid of kube-system is {}, and was {} in the approved plan",
                printable(&state.id),
                printable(&uid),
                printable(planned)
            )),
            _ => Ok(()),
        }
    }

    /// Reports that no run exists, or where another one is.
    async fn nothing(&mut self, text: String, runs: &Runs) -> CommandResult {
        let knows = |left: &TemporaryPool| left.run.as_ref().is_some_and(|run| runs.knows(run));
        match self.temporary_pool().await {
            Some(left) if knows(&left) => CommandResult::Failed(format!(
                "{text}, but {left}: the next `apply` adopts the pool, or drain and delete it (docs/RUNBOOK.md)"
            )),
            Some(left) => {
                let lost = lost_run(runs, &left, &self.pointer());
                CommandResult::Failed(format!(
                    "{text}, but {}",
                    lost.unwrap_or_else(|| left.remediation())
                ))
            }
            None => CommandResult::Nothing(text),
        }
    }

    /// Returns the location of the journal for the tag of a temporary pool.
    fn pointer(&self) -> String {
        pointer(&self.settings.journal, &self.settings.target.pool)
    }

    async fn drive(
        &mut self,
        journal: HeldJournal<PoolRepair>,
        run: Run,
        watcher: Watcher<'_>,
    ) -> CommandResult {
        if let Err(error) = self.live.kube().await {
            return journal.end(CommandResult::Failed(error.why().to_owned())).await;
        }
        let cluster = PoolCluster::new(self.live.clone(), run.session.settings());
        // On the heap: it is large.
        Box::pin(self.process.drive(journal, run, cluster, watcher)).await
    }
}

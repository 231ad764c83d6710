//! The commands plan, apply, resume and status.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use mooring_k8s::Client;
use mooring_workflow::Clock;
use mooring_workflow::approval::{Approval, ApprovalToken};
use mooring_workflow::command::{self, HeldJournal, Process};
use mooring_workflow::live;
use mooring_workflow::lock::{LockOwner, LockWait, random_id};
use mooring_workflow::store::RunStore;
use tokio::sync::watch;

use crate::cluster::{OperatorCluster, OperatorView};
use crate::objects::Object;
use crate::plan::{self, Plan, Terms};
use crate::profile::Settings;
pub use crate::start::StartError;
use crate::start::{approve, compare, compare_profile};
use crate::steps::Removal;
use crate::workflow::{Entry, FinalizerRemoval, Run, Session};

/// Time to wait for a process that renews its lock.
const LOCK_TIMEOUT: SignedDuration = SignedDuration::from_mins(5);
const ABOUT: &str =
    "Journal of an operator removal, with backups; `mooring finalizers status` prints it.";

pub type Watcher<'a> = live::Watcher<'a, FinalizerRemoval>;

/// Runs commands for one operator.
pub struct Remover {
    settings: Settings,
    /// Nothing is read of it: every command reads a clone.
    cluster: OperatorCluster,
    process: Process,
}

/// The API server rejected the credentials (401).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the API server rejected the credentials (401 Unauthorized)")]
pub struct SignedOut;

pub type CommandResult = command::CommandResult<StartError>;
pub type JournalStatus = command::JournalStatus<FinalizerRemoval>;

impl Remover {
    /// Makes no request. `stop` is true once a run must stop at the next safe point.
    #[must_use]
    pub fn new(api: Client, settings: Settings, clock: Clock, stop: watch::Receiver<bool>) -> Self {
        let profile = settings.profile.clone();
        let lock = [settings.journal.clone(), profile.config_map()];
        let now = Clock::clone(&clock);
        let cluster =
            OperatorCluster { api, profile, lock, clock: now, view: OperatorView::default() };
        let process = Process { owner: LockOwner::this_process(random_id()), clock, stop };
        Self { settings, cluster, process }
    }

    /// Creates a plan that can be started until `expires`.
    pub async fn plan(&self, expires: Timestamp) -> Result<Plan, SignedOut> {
        let cluster = self.cluster.clone();
        let view = cluster.read_all().await;
        if self.is_signed_out() {
            return Err(SignedOut);
        }
        let around = cluster.read_dependents(view.known_objects().next().is_some()).await;
        if self.is_signed_out() {
            return Err(SignedOut);
        }
        Ok(plan::build(view, &self.settings, &around, expires, self.process.now()))
    }

    /// Reads the uid of the namespace kube-system, if permitted.
    pub async fn uid(&self) -> Option<String> {
        self.cluster.uid().await
    }

    pub fn is_signed_out(&self) -> bool {
        self.cluster.api.is_signed_out()
    }

    /// Returns the expiry of a plan that is created now.
    pub fn expiry(&self) -> Timestamp {
        ApprovalToken::expiry(self.process.now())
    }

    fn store(&self) -> RunStore {
        let [namespace, name] = &self.cluster.lock;
        RunStore::new(self.cluster.api.clone(), namespace, name.clone(), ABOUT)
    }

    /// Reads the journal without its lock.
    pub async fn status(&self) -> Result<JournalStatus, String> {
        JournalStatus::read(self.store()).await
    }

    /// Returns the API groups with objects that are being deleted and have finalizers, and how many, as far as they can be
    /// read.
    pub async fn stuck_groups(&self) -> Vec<(String, usize)> {
        let cluster = self.cluster.clone();
        let mut groups: BTreeMap<String, usize> = BTreeMap::new();
        for crd in cluster.crds().await.iter().flatten() {
            let objects = cluster.objects_of(crd).await.unwrap_or_default();
            let is_stuck = |one: &&Object| one.deleting && !one.finalizers.is_empty();
            let stuck = objects.iter().filter(is_stuck).count();
            if stuck > 0 {
                *groups.entry(crd.group.clone()).or_default() += stuck;
            }
        }
        groups.into_iter().collect()
    }

    /// Returns true if the last run of this profile can be resumed; false as well if it cannot be read.
    pub async fn has_unfinished_run(&self) -> bool {
        let Ok(status) = self.status().await else { return false };
        status.unfinished().is_some_and(|run| self.check_profile(run).is_ok())
    }

    /// Starts a run and drives it until it stops.
    pub async fn apply(
        &self,
        plan: &Plan,
        approval: &Approval,
        watcher: Watcher<'_>,
    ) -> CommandResult {
        let acquired = self.process.acquire(self.store(), LockWait::None, &mut |_| {}).await;
        let journal: HeldJournal<_> = match acquired {
            Ok(journal) => journal,
            Err(result) => return result,
        };
        let begun = match journal.runs.last.as_ref().filter(|run| !run.is_finished()) {
            Some(run) => compare(run, plan).and(Err(StartError::Unfinished(run.id.clone()))),
            None => self.session(plan, approval),
        };
        let run = begun.map(|session| Run::begin(&random_id(), session, self.process.now()));
        self.drive(plan, journal, run, watcher).await
    }

    /// Continues the last run with a new, approved plan from live state.
    pub async fn resume(
        &self,
        plan: &Plan,
        approval: &Approval,
        watcher: Watcher<'_>,
        say: &mut dyn FnMut(&str),
    ) -> CommandResult {
        let wait = LockWait::Until(LOCK_TIMEOUT);
        let acquired = self.process.acquire_unfinished(self.store(), wait, say).await;
        let (journal, mut run) = match acquired {
            Ok(found) => found,
            Err((result, _)) => return result,
        };
        let session = compare(&run, plan).and_then(|()| self.session(plan, approval));
        let resumed = session.and_then(|session| {
            run.change(self.process.now(), &Entry::Resumed(Box::new(session)))?;
            Ok(run)
        });
        self.drive(plan, journal, resumed, watcher).await
    }

    /// Rejects a run of the journal that has another profile than the command line.
    pub fn check_profile(&self, state: &Run) -> Result<(), StartError> {
        compare_profile(state, &self.settings.profile)
    }

    /// Returns what this process adds to a run, if the plan is approved.
    fn session(&self, plan: &Plan, approval: &Approval) -> Result<Session, StartError> {
        approve(plan, approval, self.process.now())?;
        Ok(Session {
            plan: plan.approval.clone(),
            approval: approval.clone(),
            cluster: plan.cluster.clone(),
            profile: Box::new(plan.profile.clone()),
            owner: self.process.owner.clone(),
        })
    }

    async fn drive(
        &self,
        plan: &Plan,
        journal: HeldJournal<FinalizerRemoval>,
        run: Result<Run, StartError>,
        watcher: Watcher<'_>,
    ) -> CommandResult {
        let run = match run {
            Ok(run) => run,
            Err(error) => return journal.end(CommandResult::Refused(error)).await,
        };
        let terms = Terms::new(self.settings.clone(), plan);
        let cluster = Removal::new(self.cluster.clone(), terms);
        self.process.drive(journal, run, cluster, watcher).await
    }
}

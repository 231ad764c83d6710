//! What a person asks for.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use mooring_kube::{Client, Response};
use mooring_workflow::approval::{Approval, ApprovalToken};
use mooring_workflow::command::{self, HeldJournal, Process};
use mooring_workflow::journal::retained;
use mooring_workflow::live::{self, Adapter};
use mooring_workflow::lock::LockWait;
use mooring_workflow::process::{random_id, this_process};
use mooring_workflow::store::{ConfigMapStore, FileStore, JournalPlace, Store};
use mooring_workflow::workflow::View as _;
use mooring_workflow::world::Clock;
use mooring_workflow::{EffectResult, Stop, StopKind};
use tokio::sync::watch;

use super::api::Cluster;
use super::begin::{self, BeginError, begin};
use crate::effect::Effect;
use crate::plan::{self, Plan};
use crate::settings::Settings;
use crate::steps::reads;
use crate::terms::Terms;
use crate::view::{Answer, OperatorView, Query};
use crate::workflow::{Entry, FinalizerRemoval, Reason, Record, Run, RunOutcome};

/// How long a holder is waited for that renews its lock: it is at work.
const LOCK_WAIT: SignedDuration = SignedDuration::from_mins(5);
/// Runs that a journal keeps. Backups of earlier runs go with them.
const KEPT: usize = 4;
/// What the journal's object says of itself.
const ABOUT: &str =
    "The journal of a removal of an operator, with backups; `mooring finalizers status` reads it.";

/// Receives what comes next.
pub type Watcher<'a> = live::Watcher<'a, FinalizerRemoval>;

/// Carries out what a person asks for, on one operator of one cluster.
pub struct Remover {
    settings: Settings,
    cluster: Cluster,
    process: Process,
}

/// The API server rejected the credentials (401), so that nothing is known of the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the API server does not accept the credentials (401 Unauthorized)")]
pub struct SignedOut;

pub type CommandResult = command::CommandResult<RunOutcome, BeginError>;
/// What `status` shows.
pub type JournalStatus = command::JournalStatus<Entry>;

impl Remover {
    /// Prepares; nothing is asked yet. `stop` turns true when a run shall stop at the next safe point.
    #[must_use]
    pub fn new(api: Client, settings: Settings, clock: Clock, stop: watch::Receiver<bool>) -> Self {
        let profile = settings.profile.clone();
        let lock = match &settings.journal {
            JournalPlace::ConfigMap(namespace) => Some([namespace.clone(), profile.config_map()]),
            JournalPlace::File(_) => None,
        };
        let cluster = Cluster { api, profile, lock };
        let process = Process { owner: this_process(random_id()), clock, stop };
        Self { settings, cluster, process }
    }

    /// Looks, and plans; changes nothing. A run of the plan may begin until `expires`.
    pub async fn plan(&self, expires: Timestamp) -> Result<Plan, SignedOut> {
        let mut seen = OperatorView::default();
        loop {
            let mut queries = reads::everything(&seen, &self.settings.profile).into_iter();
            let Some(query) = queries.find(|query| !seen.has(query)) else { break };
            seen.take(self.cluster.observe(&query).await);
            if self.is_signed_out() {
                return Err(SignedOut);
            }
        }
        let any =
            seen.objects.values().any(|objects| objects.known().is_some_and(|all| !all.is_empty()));
        let around = self.cluster.look_around(any).await;
        if self.is_signed_out() {
            return Err(SignedOut);
        }
        Ok(plan::build(&seen, &self.settings, &around, expires, self.process.now()))
    }

    /// Returns true once the API server has rejected the credentials.
    pub fn is_signed_out(&self) -> bool {
        self.cluster.api.is_signed_out()
    }

    /// Returns when a plan that is made now expires.
    pub fn expiry(&self) -> Timestamp {
        ApprovalToken::expiry(self.process.now())
    }

    /// Returns the run that an earlier version of Mooring left unfinished, in words. This version does not continue it.
    pub async fn former_run(&self) -> Option<String> {
        if !matches!(self.settings.journal, JournalPlace::ConfigMap(_)) {
            return None;
        }
        let name = self.settings.profile.former_config_map();
        let path = format!("/api/v1/namespaces/kube-system/configmaps/{name}");
        let answer = self.cluster.api.get(&path).await.ok().filter(Response::is_success)?;
        let newest = answer.body.pointer("/data/journal")?.as_str()?.lines().last()?;
        let newest: serde_json::Value = serde_json::from_str(newest).ok()?;
        (newest["entry"] != "finished").then(|| {
            format!(
                "ConfigMap kube-system/{name} has an unfinished run of Mooring 0.1, which only that version can resume; \
                 a new run from live state does the same work"
            )
        })
    }

    fn store(&self) -> Store<Entry> {
        match &self.settings.journal {
            JournalPlace::File(path) => Store::File(FileStore::new(Path::new(path))),
            JournalPlace::ConfigMap(namespace) => {
                let name = self.settings.profile.config_map();
                Store::ConfigMap(Box::new(ConfigMapStore::new(
                    self.cluster.api.clone(),
                    namespace,
                    name,
                    ABOUT,
                )))
            }
        }
    }

    /// What the journal says, without its lock.
    pub async fn status(&self) -> Result<JournalStatus, String> {
        JournalStatus::read(self.store(), self.process.now()).await
    }

    /// Begins a run and drives it until it stops.
    pub async fn apply(
        &self,
        plan: &Plan,
        approval: &Approval,
        watcher: Watcher<'_>,
    ) -> CommandResult {
        let acquired = self.process.acquire(self.store(), LockWait::None, &mut |_| {}).await;
        let mut journal: HeldJournal<_> = match acquired {
            Ok(journal) => journal,
            Err(result) => return result,
        };
        let (now, owner) = (self.process.now(), self.process.owner.clone());
        let first = match begin(&journal.records, plan, approval, owner, &random_id(), now) {
            Ok(first) => first,
            Err(error) => {
                journal.release().await;
                return CommandResult::Refused(error);
            }
        };
        let kept = retained(&journal.records, KEPT, |_| false);
        if let Err(error) = journal.keep(kept).await {
            return CommandResult::failed(&error);
        }
        self.drive(plan, journal, first, watcher).await
    }

    /// Continues the journal's last run with a plan that was made for it from live state, and approved.
    pub async fn resume(
        &self,
        plan: &Plan,
        approval: &Approval,
        watcher: Watcher<'_>,
        say: &mut dyn FnMut(&str),
    ) -> CommandResult {
        let wait = LockWait::Until(LOCK_WAIT);
        let acquired = self.process.acquire_unfinished(self.store(), wait, say).await;
        let (journal, run) = match acquired {
            Ok(found) => found,
            Err((result, _)) => return result,
        };
        let (owner, now) = (self.process.owner.clone(), self.process.now());
        match begin::resume(&journal.records, &run, plan, approval, owner, now) {
            Ok(first) => self.drive(plan, journal, first, watcher).await,
            Err(error) => {
                journal.release().await;
                CommandResult::Refused(error)
            }
        }
    }

    /// Rejects a run of the journal that has another profile than the command line.
    pub fn check_profile(&self, state: &Run) -> Result<(), BeginError> {
        begin::compare_profile(state, &self.settings.profile)
    }

    async fn drive(
        &self,
        plan: &Plan,
        journal: HeldJournal<FinalizerRemoval>,
        first: Record,
        watcher: Watcher<'_>,
    ) -> CommandResult {
        let terms = Terms::new(self.settings.clone(), plan);
        self.process.drive(journal, first, &terms, self.cluster.clone(), watcher).await
    }
}

impl Adapter<FinalizerRemoval> for Cluster {
    async fn read(&mut self, query: &Query, _: Timestamp) -> Answer {
        self.observe(query).await
    }

    async fn perform(&mut self, effect: &Effect, _: Timestamp) -> EffectResult {
        self.change(effect).await
    }

    /// Whatever was read since the credentials were rejected is not an answer.
    fn halted(&self) -> Option<Stop<FinalizerRemoval>> {
        self.api.is_signed_out().then(|| Stop {
            kind: StopKind::Resumable,
            reason: Reason::SignedOut,
            message: "the API server does not accept the credentials (401)".to_owned(),
        })
    }
}

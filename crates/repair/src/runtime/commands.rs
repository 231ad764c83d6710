//! The commands apply, resume, status and abort.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use jiff::SignedDuration;
use mooring_arm::ResourceIdError;
use mooring_kube::{Client, Response};
use mooring_redact::printable;
use mooring_workflow::approval::Approval;
use mooring_workflow::command::{self, HeldJournal, Process};
use mooring_workflow::journal::follow;
use mooring_workflow::live;
use mooring_workflow::lock::LockWait;
use mooring_workflow::process::this_process;
use mooring_workflow::published::{ClusterIdentity, Source, SourceName};
use mooring_workflow::store::{ConfigMapStore, FileStore, JournalPlace, Store};
use mooring_workflow::world::Clock;
use mooring_workflow::{CheckResult, Reading};
use serde_json::Value;
use tokio::sync::watch;

use super::adapter::Services;
use super::azure::Azure;
use super::credentials::{self, Access, ApiUnavailable};
use super::grace::Grace;
use super::kubernetes::Cluster;
use crate::history::retained;
use crate::names::{config_map, config_map_of_0_1};
use crate::plan::Plan;
use crate::resume::{Consent, Fresh, Grant, authorize};
use crate::settings::{Settings, pointer};
use crate::start_checks::{Start, StartError, begin, lost_run, may_begin};
use crate::temporary_pool::TemporaryPool;
use crate::workflow::{Entry, PoolRepair, Record, RepairRun as _, Run, RunOutcome, Session};

/// Time to wait for a process that renews its lock.
pub const LOCK_TIMEOUT: SignedDuration = SignedDuration::from_mins(5);

/// Runs commands on one pool.
pub struct Operator {
    pub(super) settings: Settings,
    pub(super) azure: Azure,
    access: Access,
    kube: Option<Result<Cluster, ApiUnavailable>>,
    pub(super) process: Process,
    pub(super) grace: Option<Grace>,
    pub(super) sources: [Source; 2],
    /// Uid of the namespace `kube-system`, once it was read.
    pub(super) uid: Option<String>,
}

pub type CommandResult = command::CommandResult<RunOutcome, StartError>;
pub type JournalStatus = command::JournalStatus<Entry>;
pub type Watcher<'a> = live::Watcher<'a, PoolRepair>;

pub fn store(api: Client, namespace: &str, pool: &str) -> Store<Entry> {
    let about = "Journal of a node pool repair; `mooring repair status` prints it.";
    Store::ConfigMap(Box::new(ConfigMapStore::new(api, namespace, config_map(pool), about)))
}

impl Operator {
    /// Makes no request. `stop` is true once a run must stop at the next safe point.
    pub fn new(
        arm: &mooring_arm::Client,
        access: Access,
        settings: Settings,
        clock: Clock,
        stop: watch::Receiver<bool>,
    ) -> Result<Self, ResourceIdError> {
        let azure = Azure::new(arm, &settings)?;
        let owner = this_process(arm.new_id());
        let process = Process { owner, clock, stop };
        let sources = [SourceName::Cluster, SourceName::Azure].map(Source::new);
        Ok(Self { settings, azure, access, kube: None, process, grace: None, sources, uid: None })
    }

    /// Sets the deadline of the next run.
    pub fn allow(&mut self, overall: SignedDuration) {
        self.settings.limits.overall = overall;
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the address of the API server, if known.
    pub async fn api_server(&mut self) -> Option<String> {
        self.kube().await.ok()?.0.server().map(str::to_owned)
    }

    /// Returns the name, id, context, server and uid of the cluster, as far as they are known.
    pub async fn identity(&mut self) -> ClusterIdentity {
        let context = match &self.access {
            Access::File(path) => credentials::current_context(path),
            Access::Azure | Access::Given(_) => None,
        };
        let uid = match &self.uid {
            Some(uid) => Some(uid.clone()),
            None => self.read_uid().await,
        };
        ClusterIdentity {
            name: Some(self.settings.target.cluster.clone()),
            id: Some(self.azure.cluster_id().to_string()),
            context,
            server: self.api_server().await,
            uid,
        }
    }

    /// Returns the services that were read so far.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// Selects another pool of the same cluster, with its own journal.
    pub fn select_pool(&mut self, pool: &str) {
        pool.clone_into(&mut self.settings.target.pool);
    }

    pub(super) async fn kube(&mut self) -> Result<Cluster, ApiUnavailable> {
        if self.kube.is_none() {
            let connected =
                credentials::connect(&self.access, self.azure.client(), self.azure.cluster_id())
                    .await;
            self.kube = Some(connected.map(Cluster));
        }
        self.kube.clone().unwrap_or_else(|| Err("no Kubernetes API".to_owned().into()))
    }

    async fn store(&mut self) -> Result<Store<Entry>, ApiUnavailable> {
        Ok(match self.settings.journal.clone() {
            JournalPlace::File(path) => Store::File(FileStore::new(Path::new(&path))),
            JournalPlace::ConfigMap(namespace) => {
                let pool = self.settings.target.pool.clone();
                store(self.kube().await?.0, &namespace, &pool)
            }
        })
    }

    /// Reads the journal without its lock.
    pub async fn status(&mut self) -> Result<JournalStatus, ApiUnavailable> {
        let store = self.store().await?;
        let began = self.process.now();
        let read = JournalStatus::read(store, began).await;
        if matches!(self.settings.journal, JournalPlace::ConfigMap(_)) {
            let ended = self.process.now();
            self.sources[0].add(began, ended, read.as_ref().err().cloned());
        }
        Ok(read?)
    }

    /// Returns the pools that have a journal in the cluster, sorted; only this pool for a journal in a file.
    pub async fn pools_with_journal(&mut self) -> Result<Vec<String>, ApiUnavailable> {
        let JournalPlace::ConfigMap(namespace) = self.settings.journal.clone() else {
            return Ok(vec![self.settings.target.pool.clone()]);
        };
        let kube = self.kube().await?;
        let began = self.process.now();
        let read = kube.journals(&namespace).await;
        let error = match &read {
            Reading::Known(_) | Reading::NotFound => None,
            other => other.missing(),
        };
        self.sources[0].add(began, self.process.now(), error.clone());
        match (read, error) {
            (_, Some(why)) => Err(format!("the journals in namespace {namespace} {why}").into()),
            (Reading::Known(mut names), None) => {
                names.sort();
                Ok(names)
            }
            (_, None) => Ok(Vec::new()),
        }
    }

    /// Returns the journal of an unfinished run of Mooring 0.1, if it can be read.
    pub async fn unfinished_0_1(&mut self) -> Option<String> {
        let (namespace, name) = config_map_of_0_1(&self.settings.target.pool);
        let kube = self.kube().await.ok()?;
        let path = format!("/api/v1/namespaces/{namespace}/configmaps/{name}");
        let answer = kube.0.get(&path).await.ok().filter(Response::is_success)?;
        let journal = answer.body.pointer("/data/journal")?.as_str()?;
        let last: Value = serde_json::from_str(journal.lines().last()?).ok()?;
        (last["entry"] != "finished").then(|| format!("ConfigMap {namespace}/{name}"))
    }

    /// Starts a run of an approved plan and drives it until it stops.
    pub async fn apply(
        &mut self,
        plan: &Plan,
        guards: &[CheckResult],
        approval: Approval,
        watcher: Watcher<'_>,
    ) -> CommandResult {
        let settings = self.settings.clone();
        // A blocked run does not touch the journal.
        if let Err(error) = may_begin(plan, guards, &settings) {
            return CommandResult::Refused(error);
        }
        let mut journal = match self.acquire(LockWait::None, &mut |_| {}).await {
            Ok(journal) => journal,
            Err(result) => return result,
        };
        let now = self.process.now();
        let run_id = self.azure.client().new_id();
        let start = Start { owner: self.process.owner.clone(), approval };
        let first = match begin(&journal.records, plan, guards, &settings, start, &run_id, now) {
            Ok(first) => first,
            Err(error) => {
                journal.release().await;
                return CommandResult::Refused(error);
            }
        };
        let kept = retained(&journal.records, now);
        if let Err(error) = journal.keep(kept).await {
            return CommandResult::failed(&error);
        }
        self.extend_window(&settings, SignedDuration::ZERO);
        self.drive(journal, first, watcher).await
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
            Err(why) => {
                journal.release().await;
                return CommandResult::Failed(why);
            }
        };
        let now = self.process.now();
        let settings = &self.settings;
        match authorize(&state, &basis, &journal.records, settings, consent, fresh, now) {
            Ok(grant) => {
                let entry = Entry::Resumed(Box::new(self.session(grant)));
                self.continue_run(journal, state, entry, watcher).await
            }
            Err(error) => {
                journal.release().await;
                CommandResult::Refused(error)
            }
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
        let grant = Grant {
            plan: Arc::clone(&state.session.plan),
            overrides: BTreeMap::new(),
            approval: Approval::Rollback,
        };
        let entry = Entry::AbortStarted(Box::new(self.session(grant)));
        self.continue_run(journal, state, entry, watcher).await
    }

    fn session(&self, grant: Grant) -> Session {
        Session {
            plan: grant.plan,
            overrides: grant.overrides,
            approval: grant.approval,
            owner: self.process.owner.clone(),
            journal: self.settings.journal.clone(),
            overall: self.settings.limits.overall,
            poll: self.settings.limits.poll,
        }
    }

    /// Returns the unfinished run of this pool, under its lock.
    async fn unfinished(
        &mut self,
        say: &mut dyn FnMut(&str),
    ) -> Result<(HeldJournal<PoolRepair>, Run), CommandResult> {
        let store = self.store_or_fail().await?;
        let wait = LockWait::Until(LOCK_TIMEOUT);
        let (journal, run) = match self.process.acquire_unfinished(store, wait, say).await {
            Ok(found) => found,
            Err((CommandResult::Nothing(text), records)) => {
                return Err(self.nothing(text, &records).await);
            }
            Err((result, _)) => return Err(result),
        };
        let own = match self.own(&run) {
            Ok(()) => self.ensure_same_cluster(&run).await,
            other => other,
        };
        if let Err(why) = own {
            journal.release().await;
            return Err(CommandResult::Failed(why));
        }
        Ok((journal, run))
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
        let first = follow(journal.records.last(), &state.id, self.process.now(), entry);
        if let Err(error) = state.take(&first) {
            journal.release().await;
            return CommandResult::Failed(error.to_string());
        }
        self.extend_window(&state.session.settings(), since);
        self.drive(journal, first, watcher).await
    }

    /// Ensures that a run of the journal is one of this pool.
    pub fn own(&self, state: &Run) -> Result<(), String> {
        let (asked, of_run) = (&self.settings.target.pool, state.pool());
        let cluster = self.azure.cluster_id().to_string();
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
        match self.kube().await.map_err(|error| error.why().to_owned())?.uid().await {
            Reading::Known(uid) if uid != *planned => Err(format!(
                "run {} is for another cluster: the uid of kube-system is {}, and was {} in the approved plan",
                printable(&state.id),
                printable(&uid),
                printable(planned)
            )),
            _ => Ok(()),
        }
    }

    /// Reports that no run exists, or where another one is.
    async fn nothing(&mut self, text: String, records: &[Record]) -> CommandResult {
        let knows = |left: &TemporaryPool| {
            records.iter().any(|record| left.run.as_deref() == Some(record.run.as_str()))
        };
        match self.temporary_pool().await {
            Some(left) if knows(&left) => CommandResult::Failed(format!(
                "{text}, but {left}: the next `apply` adopts the pool, or drain and delete it (docs/RUNBOOK.md)"
            )),
            Some(left) => {
                let lost = lost_run(records, &left, &self.pointer());
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

    async fn store_or_fail(&mut self) -> Result<Store<Entry>, CommandResult> {
        self.store().await.map_err(|error| CommandResult::Failed(error.why().to_owned()))
    }

    async fn acquire(
        &mut self,
        wait: LockWait,
        say: &mut dyn FnMut(&str),
    ) -> Result<HeldJournal<PoolRepair>, CommandResult> {
        let store = self.store_or_fail().await?;
        self.process.acquire(store, wait, say).await
    }

    async fn drive(
        &mut self,
        journal: HeldJournal<PoolRepair>,
        first: Record,
        watcher: Watcher<'_>,
    ) -> CommandResult {
        let kube = match self.kube().await {
            Ok(kube) => kube,
            Err(error) => {
                journal.release().await;
                return CommandResult::Failed(error.why().to_owned());
            }
        };
        let terms = match &first.entry {
            Entry::RunStarted(session) | Entry::Resumed(session) | Entry::AbortStarted(session) => {
                session.settings()
            }
            _ => self.settings.clone(),
        };
        let services = Services { azure: self.azure.clone(), kube };
        self.process.drive(journal, first, &terms, services, watcher).await
    }
}

//! The services of one cluster and the journals of its pools, as the commands use them.

use jiff::SignedDuration;
use mooring_arm::ResourceIdError;
use mooring_k8s::{Access, Client};
use mooring_workflow::command::{self, Process};
use mooring_workflow::lock::LockOwner;
use mooring_workflow::published::{ClusterIdentity, Source, SourceName};
use mooring_workflow::store::{IfMissing, JOURNAL, RunStore, check_namespace};
use mooring_workflow::{CheckResult, Clock, Outcome, Reading};
use tokio::sync::watch;

use super::credentials::{self, ApiUnavailable, CredentialSource};
use super::services::LiveServices;
use crate::names::PERMISSIONS;
use crate::names::config_map;
use crate::settings::Settings;
use crate::workflow::{PoolRepair, Run};

pub type JournalStatus = command::JournalStatus<PoolRepair>;

/// The wait for permissions that were just granted.
pub(super) struct Grace {
    /// Time for all waits, and what is left of it.
    pub(super) limit: SignedDuration,
    pub(super) left: SignedDuration,
    pub(super) pause: SignedDuration,
    pub(super) report: Box<dyn FnMut(&str)>,
}

/// Runs commands on one pool.
pub struct Operator {
    pub(super) settings: Settings,
    pub(super) live: LiveServices,
    pub(super) process: Process,
    pub(super) grace: Option<Grace>,
    /// Uid of the namespace `kube-system`, once it was read.
    pub(super) uid: Option<String>,
}

const fn needs(verb: &'static str, group: &'static str, resource: &'static str) -> Access<'static> {
    Access { verb, group, resource, namespace: None, name: None }
}

/// Permissions that a drain needs. Reads of the start show the others.
const CHANGES: [Access<'static>; 4] = [
    needs("patch", "", "nodes"),
    needs("create", "", "pods/eviction"),
    needs("get", "apps", "replicasets"),
    needs("get", "apps", "statefulsets"),
];

pub fn store(api: Client, namespace: &str, pool: &str) -> RunStore {
    let about = "Journal of a node pool repair; `mooring repair status` prints it.";
    RunStore::new(api, namespace, config_map(pool), about)
}

impl Operator {
    /// Makes no request. `stop` is true once a run must stop at the next safe point.
    pub fn new(
        arm: &mooring_arm::Client,
        access: CredentialSource,
        settings: Settings,
        clock: Clock,
        stop: watch::Receiver<bool>,
    ) -> Result<Self, ResourceIdError> {
        let owner = LockOwner::this_process(arm.new_id());
        let live = LiveServices::new(arm, access, &settings, Clock::clone(&clock))?;
        let process = Process { owner, clock, stop };
        Ok(Self { settings, live, process, grace: None, uid: None })
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
        self.live.kube().await.ok()?.0.server().map(str::to_owned)
    }

    /// Returns the name, id, context, server and uid of the cluster, as far as they are known.
    pub async fn identity(&mut self) -> ClusterIdentity {
        let context = match &self.live.access {
            CredentialSource::File(path) => credentials::current_context(path),
            CredentialSource::Azure | CredentialSource::Given(_) => None,
        };
        let uid = self.read_uid().await;
        ClusterIdentity {
            name: Some(self.settings.target.cluster.clone()),
            id: Some(self.live.cluster.to_string()),
            context,
            server: self.api_server().await,
            uid,
        }
    }

    /// Returns the services that were read so far.
    pub fn sources(&self) -> [Source; 2] {
        self.live.sources()
    }

    /// Selects another pool of the same cluster, with its own journal.
    pub fn select_pool(&mut self, pool: &str) {
        pool.clone_into(&mut self.settings.target.pool);
    }

    pub(super) async fn store(&mut self) -> Result<RunStore, ApiUnavailable> {
        let api = self.live.kube().await?.0;
        Ok(store(api, &self.settings.journal, &self.settings.target.pool))
    }

    /// Reads the journal without its lock.
    pub async fn status(&mut self) -> Result<JournalStatus, ApiUnavailable> {
        let store = self.store().await?;
        let began = self.process.now();
        let read = JournalStatus::read(store).await;
        self.live.add(SourceName::Cluster, began, read.as_ref().err().cloned());
        Ok(read?)
    }

    /// Returns the unfinished run of the pool; none as well if it cannot be read.
    pub async fn unfinished_run(&mut self) -> Option<Run> {
        let store = self.store().await.ok()?;
        let status: JournalStatus = JournalStatus::read(store).await.ok()?;
        let run = status.unfinished()?.clone();
        self.own(&run).is_ok().then_some(run)
    }

    /// Fails if Azure gives no token, rejects it, or does not know the subscription: settings or credentials are wrong.
    pub async fn ensure_access(&self) -> Result<(), String> {
        self.live.ensure_access().await
    }

    /// Checks that a run can be recorded.
    pub async fn check_journal(&mut self, if_missing: IfMissing) -> CheckResult {
        match self.live.kube().await {
            Ok(kube) => check_namespace(&kube.0, &self.settings.journal, if_missing).await,
            Err(error) => CheckResult::new(JOURNAL, Outcome::Unknown, error.why()),
        }
    }

    /// Checks the permissions of a run in the cluster that its first reads do not show.
    pub async fn check_changes(&mut self) -> CheckResult {
        let result = |outcome, why: String| CheckResult::new(PERMISSIONS, outcome, why);
        let kube = match self.live.kube().await {
            Ok(kube) => kube,
            Err(error) => return result(Outcome::Unknown, error.why().to_owned()),
        };
        match kube.0.lacking(CHANGES).await {
            Ok(lacking) if lacking.is_empty() => result(Outcome::Pass, String::new()),
            Ok(lacking) => {
                result(Outcome::Fail, format!("missing in the cluster: {}", lacking.join(", ")))
            }
            Err(error) => result(Outcome::Unknown, error.to_string()),
        }
    }

    /// Returns the pools that have a journal in the cluster, sorted.
    pub async fn pools_with_journal(&mut self) -> Result<Vec<String>, ApiUnavailable> {
        let namespace = self.settings.journal.clone();
        self.live.kube().await?;
        let read = self.live.of_kubernetes(async |kube| kube.journals(&namespace).await).await;
        let error = read.error();
        match (read, error) {
            (_, Some(why)) => Err(format!("the journals in namespace {namespace}: {why}").into()),
            (Reading::Known(mut names), None) => {
                names.sort();
                Ok(names)
            }
            (_, None) => Ok(Vec::new()),
        }
    }
}

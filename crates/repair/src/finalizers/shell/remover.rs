//! What a person asks for.

use std::path::Path;
use std::rc::Rc;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::{Mutex, watch};

use super::api::Cluster;
use super::begin::{self, Approval, BeginError, begin};
use crate::approval::ApprovalToken;
use crate::effects::EffectResult;
use crate::finalizers::effect::Effect;
use crate::finalizers::entry::{Entry, retained};
use crate::finalizers::machine::Action;
use crate::finalizers::plan::{self, Plan};
use crate::finalizers::run::{Rest, World, run};
use crate::finalizers::seen::{Answer, Query, Seen};
use crate::finalizers::settings::Settings;
use crate::finalizers::state::State;
use crate::finalizers::terms::Terms;
use crate::journal::{Owner, Record};
use crate::settings::JournalPlace;
use crate::shell::ending::{self, release, take, unfinished};
use crate::shell::kube_api::Answer as Response;
use crate::shell::takeover::Patience;
use crate::shell::world::{beat, pause};
use crate::shell::{Clock, ConfigMapStore, FileStore, KubeApi, Store, random_id, this_process};
use crate::world::AppendError;

/// How long a living owner is waited for: one that goes on giving signs of life is at work.
const PATIENCE: SignedDuration = SignedDuration::from_mins(5);
/// What the journal's object says of itself.
const ABOUT: &str =
    "The journal of a removal of an operator, with backups; `mooring finalizers status` reads it.";

/// Is told what comes next.
pub type Watcher<'a> = Box<dyn FnMut(&State, &Action, Timestamp) + 'a>;

/// Carries out what a person asks for, on one operator of one cluster.
pub struct Remover {
    settings: Settings,
    cluster: Cluster,
    clock: Clock,
    owner: Owner,
    stop: watch::Receiver<bool>,
}

/// The API server rejected the credentials (401), so that nothing is known of the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the API server does not accept the credentials (401 Unauthorized)")]
pub struct SignedOut;

/// How a command came to its end.
pub type Ending = ending::Ending<Rest, BeginError>;
/// What `status` tells.
pub type Standing = ending::Standing<Entry>;

impl Remover {
    /// Prepares; nothing is asked yet. `stop` turns true when a run shall stop at the next safe point.
    #[must_use]
    pub fn new(
        api: KubeApi,
        settings: Settings,
        clock: Clock,
        stop: watch::Receiver<bool>,
    ) -> Self {
        let cluster = Cluster { api, profile: settings.profile.clone() };
        Self { settings, cluster, clock, owner: this_process(random_id()), stop }
    }

    /// Looks, and plans; changes nothing. A run of the plan may begin until `expires`.
    pub async fn plan(&self, expires: Timestamp) -> Result<Plan, SignedOut> {
        let mut seen = Seen::default();
        while let Some(query) = seen.missing(&self.settings.profile) {
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
        Ok(plan::build(&seen, &self.settings, &around, expires, (self.clock)()))
    }

    /// Returns true once the API server has rejected the credentials.
    #[must_use]
    pub fn is_signed_out(&self) -> bool {
        self.cluster.api.is_signed_out()
    }

    /// Returns when a plan that is made now expires.
    #[must_use]
    pub fn expiry(&self) -> Timestamp {
        ApprovalToken::expiry((self.clock)())
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
                Store::ConfigMap(Box::new(ConfigMapStore::named(
                    self.cluster.api.clone(),
                    namespace,
                    name,
                    ABOUT,
                )))
            }
        }
    }

    /// What the journal says, without its lock.
    pub async fn status(&self) -> Result<Standing, String> {
        Standing::of(self.store()).await
    }

    /// Begins a run and drives it until it rests.
    pub async fn apply(&self, plan: &Plan, approval: &Approval, watcher: Watcher<'_>) -> Ending {
        let (mut store, records) = match self.take(Patience::None, &mut |_| {}).await {
            Ok(held) => held,
            Err(ending) => return ending,
        };
        let now = (self.clock)();
        let owner = self.owner.clone();
        let first = match begin(&records, plan, approval, owner, &random_id(), now) {
            Ok(first) => first,
            Err(error) => {
                release(&mut store).await;
                return Ending::Refused(error);
            }
        };
        let kept = retained(&records);
        if let Err(error) = store.keep(records.len(), kept).await {
            return Ending::failed(&error);
        }
        let records = records[records.len() - kept..].to_vec();
        self.drive(plan, store, records, first, watcher).await
    }

    /// Continues the journal's last run with a plan that was made for it from live state, and approved.
    pub async fn resume(
        &self,
        plan: &Plan,
        approval: &Approval,
        watcher: Watcher<'_>,
        say: &mut dyn FnMut(&str),
    ) -> Ending {
        let (mut store, records) = match self.take(Patience::Until(PATIENCE), say).await {
            Ok(held) => held,
            Err(ending) => return ending,
        };
        let state: State = match unfinished(&mut store, &records).await {
            Ok(state) => state,
            Err(ending) => return ending,
        };
        let (owner, now) = (self.owner.clone(), (self.clock)());
        match begin::resume(&records, &state, plan, approval, owner, now) {
            Ok(first) => self.drive(plan, store, records, first, watcher).await,
            Err(error) => {
                release(&mut store).await;
                Ending::Refused(error)
            }
        }
    }

    /// Rejects a run of the journal that has another profile than the command line.
    pub fn check_profile(&self, state: &State) -> Result<(), BeginError> {
        begin::compare_profile(state, &self.settings.profile)
    }

    async fn take(
        &self,
        patience: Patience,
        say: &mut dyn FnMut(&str),
    ) -> Result<(Store<Entry>, Vec<Record<Entry>>), Ending> {
        take(self.store(), &self.owner, patience, &self.clock, &self.stop, say).await
    }

    /// Writes the first record and drives the run until it rests, giving signs of life meanwhile.
    async fn drive(
        &self,
        plan: &Plan,
        mut store: Store<Entry>,
        mut records: Vec<Record<Entry>>,
        first: Record<Entry>,
        watcher: Watcher<'_>,
    ) -> Ending {
        if let Err(error) = store.append(&first, first.at).await {
            return Ending::failed(&error);
        }
        records.push(first);
        let terms = Terms::new(self.settings.clone(), plan);
        let store = Rc::new(Mutex::new(store));
        let mut real = RealWorld {
            cluster: self.cluster.clone(),
            store: Rc::clone(&store),
            clock: Rc::clone(&self.clock),
            stop: self.stop.clone(),
            watcher,
        };
        let ended = tokio::select! {
            // On the heap: it is large, and everything around it would be, too.
            ended = Box::pin(run(&mut real, &terms, records)) => ended,
            lost = beat(&store, &self.clock) => return Ending::Resumable(lost.to_string()),
        };
        drop(real);
        release(&mut *store.lock().await).await;
        Ending::driven(ended)
    }
}

/// The cluster, the journal and the clock.
struct RealWorld<'a> {
    cluster: Cluster,
    store: Rc<Mutex<Store<Entry>>>,
    clock: Clock,
    stop: watch::Receiver<bool>,
    watcher: Watcher<'a>,
}

impl World for RealWorld<'_> {
    fn now(&self) -> Timestamp {
        (self.clock)()
    }

    async fn sleep_until(&mut self, until: Timestamp) {
        pause(until.duration_since(self.now()), &self.stop).await;
    }

    async fn observe(&mut self, query: &Query) -> Answer {
        self.cluster.observe(query).await
    }

    async fn perform(&mut self, effect: &Effect) -> EffectResult {
        self.cluster.perform(effect).await
    }

    async fn append(&mut self, record: &Record<Entry>) -> Result<(), AppendError> {
        let now = self.now();
        self.store.lock().await.append(record, now).await.map_err(AppendError::from)
    }

    fn is_signed_out(&self) -> bool {
        self.cluster.api.is_signed_out()
    }

    fn interrupted(&self) -> bool {
        *self.stop.borrow()
    }

    fn progress(&mut self, state: &State, action: &Action) {
        let now = (self.clock)();
        (self.watcher)(state, action, now);
    }
}

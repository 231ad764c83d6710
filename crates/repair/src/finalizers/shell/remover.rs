//! What a person asks for.

use std::path::Path;
use std::rc::Rc;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::{Mutex, watch};

use super::api::Cluster;
use super::begin::{BeginError, begin};
use crate::effects::EffectResult;
use crate::finalizers::effect::Effect;
use crate::finalizers::entry::{Entry, retained};
use crate::finalizers::machine::Action;
use crate::finalizers::plan::{self, Plan};
use crate::finalizers::run::{Rest, World, run};
use crate::finalizers::seen::{Answer, Query, Seen};
use crate::finalizers::settings::Settings;
use crate::finalizers::state::State;
use crate::journal::{Owner, Record, follow};
use crate::settings::JournalPlace;
use crate::shell::ending::{self, release, take, unfinished};
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

    /// Looks, and plans; changes nothing.
    pub async fn plan(&self) -> Plan {
        let mut seen = Seen::default();
        while let Some(query) = seen.missing(&self.settings.profile) {
            seen.take(self.cluster.observe(&query).await);
        }
        let any =
            seen.objects.values().any(|objects| objects.known().is_some_and(|all| !all.is_empty()));
        let around = self.cluster.look_around(any).await;
        plan::build(&seen, &self.settings, &around)
    }

    fn store(&self) -> Store<Entry> {
        match &self.settings.journal {
            JournalPlace::File(path) => Store::File(FileStore::new(Path::new(path))),
            JournalPlace::ConfigMap => {
                let name = self.settings.profile.config_map();
                Store::ConfigMap(Box::new(ConfigMapStore::named(
                    self.cluster.api.clone(),
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
    pub async fn apply(&self, plan: &Plan, approved: Option<&str>, watcher: Watcher<'_>) -> Ending {
        let (mut store, records) = match self.take(Patience::None, &mut |_| {}).await {
            Ok(held) => held,
            Err(ending) => return ending,
        };
        let now = (self.clock)();
        let owner = self.owner.clone();
        let first = match begin(&records, plan, approved, &self.settings, owner, &random_id(), now)
        {
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
        self.drive(store, records, first, watcher).await
    }

    /// Continues the last run, as it was begun.
    pub async fn resume(&self, watcher: Watcher<'_>, say: &mut dyn FnMut(&str)) -> Ending {
        let (mut store, records) = match self.take(Patience::Until(PATIENCE), say).await {
            Ok(held) => held,
            Err(ending) => return ending,
        };
        let state: State = match unfinished(&mut store, &records).await {
            Ok(state) => state,
            Err(ending) => return ending,
        };
        let entry = Entry::Resumed { owner: self.owner.clone() };
        let first = follow(records.last(), &state.run, (self.clock)(), entry);
        self.drive(store, records, first, watcher).await
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
        mut store: Store<Entry>,
        mut records: Vec<Record<Entry>>,
        first: Record<Entry>,
        watcher: Watcher<'_>,
    ) -> Ending {
        if let Err(error) = store.append(&first, first.at).await {
            return Ending::failed(&error);
        }
        records.push(first);
        // A resumed run does what was approved, whatever is asked for now.
        let profile = match State::replay(&records) {
            Ok(Some(state)) => state.settings.profile,
            _ => self.settings.profile.clone(),
        };
        let store = Rc::new(Mutex::new(store));
        let mut real = RealWorld {
            cluster: Cluster { profile, ..self.cluster.clone() },
            store: Rc::clone(&store),
            clock: Rc::clone(&self.clock),
            stop: self.stop.clone(),
            watcher,
        };
        let ended = tokio::select! {
            // On the heap: it is large, and everything around it would be, too.
            ended = Box::pin(run(&mut real, records)) => ended,
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

    fn interrupted(&self) -> bool {
        *self.stop.borrow()
    }

    fn progress(&mut self, state: &State, action: &Action) {
        let now = (self.clock)();
        (self.watcher)(state, action, now);
    }
}

//! What a person asks for.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use mooring_arm::ResourceIdError;
use mooring_contract::printable;
use serde_json::Value;
use tokio::sync::{Mutex, watch};

use super::access::{self, Access, Unreached};
use super::azure::Azure;
use super::capacity;
use super::ending::{self, release, take, unfinished};
use super::kube_api::{Answer, KubeApi};
use super::process::this_process;
use super::rights::rights;
use super::store::{ConfigMapStore, FileStore, Store};
use super::takeover::Patience;
use super::world::{self, Clock, RealWorld, Watcher};
use crate::approval::{Approval, ApprovalToken};
use crate::begin::{BeginError, Start, begin, lost_run, may_begin};
use crate::guards::{self, Guard, deletions};
use crate::journal::{Entry, Owner, Record, Session, follow, retained};
use crate::machine::State;
use crate::names::config_map_of_0_1;
use crate::observation::{Query, Reading, Seen};
use crate::plan::{self, Plan, PlanError, Surroundings};
use crate::report::{DetectionReport, detect};
use crate::resume::{Consent, Footing, Fresh, Grant, authorize, footing};
use crate::run::{Rest, run};
use crate::settings::{JournalPlace, Settings};
use crate::stand_in::StandIn;

/// How long a living owner is waited for: one that goes on giving signs of life is at work.
pub const PATIENCE: SignedDuration = SignedDuration::from_mins(5);

/// Between two looks at what may not be read yet.
const FIRST_PAUSE: SignedDuration = SignedDuration::from_secs(10);
const LONGEST_PAUSE: SignedDuration = SignedDuration::from_secs(60);

/// Carries out what a person asks for, on one pool of one cluster.
pub struct Operator {
    settings: Settings,
    azure: Azure,
    access: Access,
    kube: Option<Result<KubeApi, Unreached>>,
    clock: Clock,
    owner: Owner,
    stop: watch::Receiver<bool>,
    grace: Option<Grace>,
}

/// How long a right is waited for, and who is told.
struct Grace {
    most: SignedDuration,
    say: Box<dyn FnMut(&str)>,
}

/// What was found before anything is changed.
pub struct Examined {
    /// The guards and the verdict.
    pub report: DetectionReport,
    /// The plan, or why there is none.
    pub plan: Result<Plan, PlanError>,
}

/// How a command came to its end.
pub type Ending = ending::Ending<Rest, BeginError>;
/// What `status` tells.
pub type Standing = ending::Standing<Entry>;

impl Operator {
    /// Prepares; nothing is asked yet. `stop` turns true when a run shall stop at the next safe point.
    pub fn new(
        arm: &mooring_arm::Client,
        access: Access,
        settings: Settings,
        clock: Clock,
        stop: watch::Receiver<bool>,
    ) -> Result<Self, ResourceIdError> {
        let azure = Azure::new(arm, &settings)?;
        let owner = this_process(arm.new_id());
        Ok(Self { settings, azure, access, kube: None, clock, owner, stop, grace: None })
    }

    /// Waits this long for the right to read the activity log: one that was given a moment ago is not everywhere yet.
    pub fn await_rights(&mut self, most: SignedDuration, say: Box<dyn FnMut(&str)>) {
        self.grace = Some(Grace { most, say });
    }

    /// How long a run may take that begins now.
    pub fn allow(&mut self, overall: SignedDuration) {
        self.settings.limits.overall = overall;
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the address of the cluster's API server, where it can be told.
    pub async fn api_server(&mut self) -> Option<String> {
        self.kube().await.ok()?.server().map(str::to_owned)
    }

    async fn kube(&mut self) -> Result<KubeApi, Unreached> {
        if self.kube.is_none() {
            let connected =
                access::connect(&self.access, self.azure.client(), self.azure.cluster_id()).await;
            self.kube = Some(connected);
        }
        self.kube.clone().unwrap_or_else(|| Err("no Kubernetes API".to_owned().into()))
    }

    async fn look(&mut self, seen: &mut Seen, query: &Query) {
        let kube = match query {
            Query::Nodes | Query::Pods | Query::Pdbs | Query::Replicas(_) => self.kube().await,
            _ => Err(String::new().into()),
        };
        let kube = kube.map_err(|unreached| unreached.why().to_owned());
        let began = (self.clock)();
        let mut pause = FIRST_PAUSE;
        loop {
            let now = (self.clock)();
            seen.take(world::observe(&mut self.azure, kube.as_ref(), query, now).await);
            let (Some(Reading::Denied(why)), Query::Events) = (&seen.events, query) else { return };
            let Some(grace) = &mut self.grace else { return };
            let left = grace.most - now.duration_since(began);
            if !left.is_positive() || *self.stop.borrow() {
                return;
            }
            let minutes = grace.most.as_mins();
            (grace.say)(&format!(
                "the activity log may not be read ({why}); a right that was just given is waited for, {minutes} minutes"
            ));
            world::pause(pause.min(left), &self.stop).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Judges the pool, strictly reading.
    pub async fn detect(&mut self) -> DetectionReport {
        self.detect_into(&mut Seen::default()).await
    }

    async fn detect_into(&mut self, seen: &mut Seen) -> DetectionReport {
        loop {
            match detect(seen, &self.settings, (self.clock)()) {
                Ok(report) => return report,
                Err(query) => self.look(seen, &query).await,
            }
        }
    }

    /// Judges the pool and plans its rebuilding, strictly reading. The plan can be begun until `expires`, or within the
    /// hour. `unfinished` is a run that the plan would continue: what it aborted counts, if Azure's own log shows it.
    pub async fn examine(
        &mut self,
        expires: Option<Timestamp>,
        unfinished: Option<&State>,
    ) -> Examined {
        let mut seen = Seen::default();
        let aborted = unfinished.and_then(State::first_abort);
        if let Some(at) = aborted {
            self.look_back(&self.settings.clone(), (self.clock)().duration_since(at));
        }
        let mut report = self.detect_into(&mut seen).await;
        let pool = &self.settings.target.pool;
        if let Some(at) = aborted.and_then(|since| guards::aborted(&seen, pool, since)) {
            let now = (self.clock)();
            let settings = self.settings.clone().after_abort(at, now);
            report = detect(&seen, &settings, now).unwrap_or(report);
        }
        for query in [Query::Pods, Query::Pdbs] {
            if !report.greenfield {
                self.look(&mut seen, &query).await;
            }
        }
        let around = self.surroundings(&seen).await;
        let expires = expires.unwrap_or_else(|| ApprovalToken::expiry((self.clock)()));
        let guards = &report.detection.guards;
        Examined { plan: plan::build(&seen, &self.settings, &around, guards, expires), report }
    }

    async fn surroundings(&self, seen: &Seen) -> Surroundings {
        let target = &self.settings.target;
        let cluster = seen.cluster.as_ref().and_then(Reading::known);
        let pools = seen.pools.as_ref().and_then(Reading::known);
        let pool = pools.and_then(|pools| pools.iter().find(|pool| pool.name == target.pool));
        match (cluster, pool) {
            (Some(cluster), Some(pool)) => {
                let client = self.azure.client();
                let around = capacity::surroundings(client, &target.subscription, cluster, pool);
                let needs = plan::needs(seen, &self.settings, cluster, pool);
                Surroundings {
                    deletions: deletions(seen, &target.pool, (self.clock)()),
                    rights: rights(client, &needs).await,
                    ..around.await
                }
            }
            _ => Surroundings::unread(),
        }
    }

    async fn store(&mut self) -> Result<Store, Unreached> {
        Ok(match self.settings.journal.clone() {
            JournalPlace::File(path) => Store::File(FileStore::new(Path::new(&path))),
            JournalPlace::ConfigMap(namespace) => {
                let pool = self.settings.target.pool.clone();
                let api = self.kube().await?;
                Store::ConfigMap(Box::new(ConfigMapStore::new(api, &namespace, &pool)))
            }
        })
    }

    /// What the journal says, without its lock.
    pub async fn status(&mut self) -> Result<Standing, Unreached> {
        Ok(Standing::of(self.store().await?).await?)
    }

    /// Returns where Mooring 0.1 left an unfinished run of this pool, if that can be read.
    pub async fn unfinished_0_1(&mut self) -> Option<String> {
        let (namespace, name) = config_map_of_0_1(&self.settings.target.pool);
        let kube = self.kube().await.ok()?;
        let path = format!("/api/v1/namespaces/{namespace}/configmaps/{name}");
        let answer = kube.get(&path).await.ok().filter(Answer::is_success)?;
        let journal = answer.body.pointer("/data/journal")?.as_str()?;
        let last: Value = serde_json::from_str(journal.lines().last()?).ok()?;
        (last["entry"] != "finished").then(|| format!("ConfigMap {namespace}/{name}"))
    }

    /// Begins a run of an approved plan and drives it until it rests.
    pub async fn apply(
        &mut self,
        plan: &Plan,
        guards: &[Guard],
        approval: Approval,
        watcher: Watcher<'_>,
    ) -> Ending {
        let settings = self.settings.clone();
        // Not even the journal is touched for what is refused anyway.
        if let Err(error) = may_begin(plan, guards, &settings) {
            return Ending::Refused(error);
        }
        let held = self.take(Patience::None, &mut |_| {}).await;
        let (mut store, records) = match held {
            Ok(held) => held,
            Err(ending) => return ending,
        };
        let now = (self.clock)();
        let run_id = self.azure.client().new_id();
        let start = Start { owner: self.owner.clone(), approval };
        let first = match begin(&records, plan, guards, &settings, start, &run_id, now) {
            Ok(first) => first,
            Err(error) => {
                release(&mut store).await;
                return Ending::Refused(error);
            }
        };
        let kept = retained(&records, now).len();
        if let Err(error) = store.keep(records.len(), kept).await {
            return Ending::failed(&error);
        }
        let records = records[records.len() - kept..].to_vec();
        self.look_back(&settings, SignedDuration::ZERO);
        self.drive(store, records, first, watcher).await
    }

    /// Returns what an unfinished run can rely on besides its journal.
    pub async fn footing(&mut self, state: &State) -> Result<Footing, String> {
        let mut seen = Seen::default();
        self.look(&mut seen, &Query::Pools).await;
        match &seen.pools {
            Some(Reading::Known(pools)) => Ok(footing(state, pools)),
            other => {
                let why = other.as_ref().and_then(Reading::missing).unwrap_or_default();
                Err(format!("the pools {why}"))
            }
        }
    }

    /// Continues the last run as far as `consent` and live state allow; `fresh` is a plan of now where one is needed.
    pub async fn resume(
        &mut self,
        consent: &Consent,
        fresh: Option<Fresh<'_>>,
        watcher: Watcher<'_>,
        say: &mut dyn FnMut(&str),
    ) -> Ending {
        let (mut store, records, state) = match self.unfinished(say).await {
            Ok(held) => held,
            Err(ending) => return ending,
        };
        let footing = match self.footing(&state).await {
            Ok(footing) => footing,
            Err(why) => {
                release(&mut store).await;
                return Ending::Failed(why);
            }
        };
        let now = (self.clock)();
        let settings = &self.settings;
        match authorize(&state, &footing, &records, settings, consent, fresh, now) {
            Ok(grant) => {
                let entry = Entry::Resumed(Box::new(self.session(grant)));
                self.again(store, records, state, entry, watcher).await
            }
            Err(error) => {
                release(&mut store).await;
                Ending::Refused(error)
            }
        }
    }

    /// Undoes what can be undone of the last run.
    pub async fn abort(&mut self, watcher: Watcher<'_>, say: &mut dyn FnMut(&str)) -> Ending {
        let (store, records, state) = match self.unfinished(say).await {
            Ok(held) => held,
            Err(ending) => return ending,
        };
        let grant = Grant {
            plan: Arc::clone(&state.plan),
            overrides: BTreeMap::new(),
            approval: Approval::Rollback,
        };
        let entry = Entry::AbortStarted(Box::new(self.session(grant)));
        self.again(store, records, state, entry, watcher).await
    }

    fn session(&self, grant: Grant) -> Session {
        Session {
            plan: grant.plan,
            overrides: grant.overrides,
            approval: grant.approval,
            owner: self.owner.clone(),
            journal: self.settings.journal.clone(),
            overall: self.settings.limits.overall,
            poll: self.settings.limits.poll,
        }
    }

    /// The unfinished run of this pool, under its lock.
    async fn unfinished(
        &mut self,
        say: &mut dyn FnMut(&str),
    ) -> Result<(Store, Vec<Record>, State), Ending> {
        let (mut store, records) = self.take(Patience::Until(PATIENCE), say).await?;
        let state: State = match unfinished(&mut store, &records).await {
            Ok(state) => state,
            Err(Ending::Nothing(text)) => return Err(self.nothing(text, &records).await),
            Err(ending) => return Err(ending),
        };
        if let Err(why) = self.own(&state) {
            release(&mut store).await;
            return Err(Ending::Failed(why));
        }
        Ok((store, records, state))
    }

    async fn again(
        &mut self,
        mut store: Store,
        records: Vec<Record>,
        mut state: State,
        entry: Entry,
        watcher: Watcher<'_>,
    ) -> Ending {
        // It is judged as it was begun, and by everything since then.
        let began = records.iter().find(|record| record.run == state.run).map(|record| record.at);
        let since = began.map_or(SignedDuration::ZERO, |at| (self.clock)().duration_since(at));
        let first = follow(records.last(), &state.run, (self.clock)(), entry);
        if let Err(error) = state.take(&first) {
            release(&mut store).await;
            return Ending::Failed(error.to_string());
        }
        self.look_back(&state.settings, since);
        self.drive(store, records, first, watcher).await
    }

    /// Reads the activity log as far back as the guards look, and as a run takes that began so long ago.
    fn look_back(&mut self, settings: &Settings, since: SignedDuration) {
        let back = settings.fail_window.saturating_add(settings.limits.overall);
        let back = back.saturating_add(since.max(SignedDuration::ZERO));
        self.azure.look_back(back);
    }

    /// Whether a run of the journal is one of this very pool; if not, why.
    pub fn own(&self, state: &State) -> Result<(), String> {
        let (asked, of_run) = (&self.settings.target.pool, state.pool());
        let cluster = self.azure.cluster_id().to_string();
        if cluster.eq_ignore_ascii_case(&state.plan.cluster) && asked == of_run {
            return Ok(());
        }
        Err(format!(
            "the journal's run {} is of pool {} of {}, not of pool {asked} of {cluster}",
            printable(&state.run),
            printable(of_run),
            printable(&state.plan.cluster)
        ))
    }

    /// There is no run to continue here; if there is one elsewhere, that is said instead.
    async fn nothing(&mut self, text: String, records: &[Record]) -> Ending {
        let knows = |left: &StandIn| {
            records.iter().any(|record| left.run.as_deref() == Some(record.run.as_str()))
        };
        match self.stand_in().await {
            Some(left) if knows(&left) => Ending::Failed(format!(
                "{text}, but {left}: the next `apply` takes the pool over, or drain and delete it (docs/RUNBOOK.md)"
            )),
            Some(left) => {
                let lost = lost_run(records, &left, &self.pointer());
                Ending::Failed(format!("{text}, but {}", lost.unwrap_or_else(|| left.and_now())))
            }
            None => Ending::Nothing(text),
        }
    }

    /// Where the journal is, as the tag of a temporary pool says it.
    fn pointer(&self) -> String {
        self.settings.journal.pointer(&self.settings.target.pool)
    }

    /// Returns true if Azure answers that there is no such cluster.
    pub async fn is_absent(&mut self) -> bool {
        let mut seen = Seen::default();
        self.look(&mut seen, &Query::Cluster).await;
        matches!(seen.cluster, Some(Reading::NotFound))
    }

    /// The temporary pool of a run that is not over, wherever its journal is.
    pub async fn stand_in(&mut self) -> Option<StandIn> {
        let mut seen = Seen::default();
        self.look(&mut seen, &Query::Pools).await;
        StandIn::of(seen.pools.as_ref()?.known()?, &self.settings.target.pool)
    }

    async fn take(
        &mut self,
        patience: Patience,
        say: &mut dyn FnMut(&str),
    ) -> Result<(Store, Vec<Record>), Ending> {
        let store = self.store().await.map_err(|why| Ending::Failed(why.why().to_owned()))?;
        take(store, &self.owner, patience, &self.clock, &self.stop, say).await
    }

    /// Writes the first record and drives the run until it rests, giving signs of life meanwhile.
    async fn drive(
        &mut self,
        mut store: Store,
        mut records: Vec<Record>,
        first: Record,
        watcher: Watcher<'_>,
    ) -> Ending {
        let kube = match self.kube().await {
            Ok(kube) => kube,
            Err(why) => {
                release(&mut store).await;
                return Ending::Failed(why.why().to_owned());
            }
        };
        if let Err(error) = store.append(&first, first.at).await {
            return Ending::failed(&error);
        }
        records.push(first);
        let store = Rc::new(Mutex::new(store));
        let mut real = RealWorld {
            azure: self.azure.clone(),
            kube,
            store: Rc::clone(&store),
            clock: Rc::clone(&self.clock),
            stop: self.stop.clone(),
            watcher,
        };
        let ended = tokio::select! {
            // On the heap: it is large, and everything around it would be, too.
            ended = Box::pin(run(&mut real, records)) => ended,
            lost = world::beat(&store, &self.clock) => return Ending::Resumable(lost.to_string()),
        };
        drop(real);
        release(&mut *store.lock().await).await;
        Ending::driven(ended)
    }
}

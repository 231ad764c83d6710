//! A process that is killed and resumed.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use jiff::{SignedDuration, Timestamp};
use mooring_repair::effects::Effect;
use mooring_repair::observation::{
    ActivityEvent, AksOperation, ClusterView, Instance, ManagedCluster, Nic, Node, Pdb, Pod, Pool,
    Replicas, ScaleSet,
};
use mooring_repair::plan::Step;
use mooring_repair::settings::Settings;
use mooring_repair::workflow::{Decision, Entry, PoolCluster, PoolRepair, Run, Services};
use mooring_simulator::random::Random;
use mooring_workflow::approval::Approval;
use mooring_workflow::journal::{decode, encode};
use mooring_workflow::store::StoreError;
use mooring_workflow::{Cluster as _, EffectResult, Host, Phase, Reading, RunOutcome, run};

use super::cloud::Cloud;
use super::effects::Fault;
use super::records::{begun, capacity, session};

/// Time between a kill and its resumption.
const PAUSE: SignedDuration = SignedDuration::from_secs(20);

/// Kills a process at its n-th point. Points are before and after every effect and every record.
#[derive(Clone, Default)]
pub(crate) struct Kill {
    pub(crate) at: Option<u64>,
    points: Rc<Cell<u64>>,
}

impl Kill {
    pub(crate) fn at(point: u64) -> Self {
        Self { at: Some(point), points: Rc::default() }
    }

    async fn point(&self) {
        let point = self.points.get();
        self.points.set(point + 1);
        if self.at == Some(point) {
            std::future::pending::<()>().await;
        }
    }
}

/// A process, and the services that it uses.
#[derive(Clone)]
struct Session<'a> {
    cloud: Rc<RefCell<Cloud>>,
    kill: Kill,
    chaos: Option<&'a RefCell<Chaos>>,
    /// Collects the states after a kill at each point.
    forks: Option<&'a RefCell<Vec<Cloud>>>,
}

impl Session<'_> {
    /// Another process takes over during a request of this one, and is killed as well. The request is applied, and its result is
    /// not recorded.
    fn lose_lease(&self) {
        let Some(chaos) = self.chaos else { return };
        if !chaos.borrow_mut().strikes(0.01) {
            return;
        }
        let kill = Kill::at(chaos.borrow_mut().random.below(12));
        let settings = self.cloud.borrow().state.as_ref().unwrap().session.settings();
        resume(&self.cloud, &settings, &kill, None);
    }

    async fn point(&self) {
        if let Some(forks) = self.forks {
            forks.borrow_mut().push(self.cloud.borrow().clone());
        }
        self.kill.point().await;
    }
}

/// Faults from a seed, until they are used up.
pub(crate) struct Chaos {
    pub(crate) random: Random,
    pub(crate) left: u32,
    /// Last result of each read.
    last: BTreeMap<String, Box<dyn Any>>,
    /// End of an outage of the Kubernetes API.
    away: Option<Timestamp>,
    /// Clock skew of the process.
    skew: SignedDuration,
}

impl Chaos {
    pub(crate) fn new(seed: u64, faults: u32) -> Self {
        Self {
            random: Random::new(seed),
            left: faults,
            last: BTreeMap::new(),
            away: None,
            skew: SignedDuration::ZERO,
        }
    }

    /// Moves the clock by some minutes.
    fn set_clock(&mut self) {
        let seconds = i64::try_from(self.random.below(8 * 60)).unwrap() - 4 * 60;
        self.skew = SignedDuration::from_secs(seconds);
    }

    /// Returns true during an outage, which may start now.
    fn is_away(&mut self, now: Timestamp) -> bool {
        if self.away.is_none() && self.strikes(0.002) {
            let seconds = 10 + self.random.below(600);
            let seconds = SignedDuration::from_secs(i64::try_from(seconds).unwrap());
            self.away = Some(now.checked_add(seconds).unwrap());
        }
        let away = self.away.is_some_and(|until| now < until);
        if !away {
            self.away = None;
        }
        away
    }

    fn strikes(&mut self, probability: f64) -> bool {
        let strikes = self.left > 0 && self.random.random_bool(probability);
        self.left -= u32::from(strikes);
        strikes
    }
}

impl Host<PoolRepair> for Session<'_> {
    fn interrupted(&self) -> bool {
        false
    }

    fn now(&self) -> Timestamp {
        self.time()
    }

    async fn sleep_until(&mut self, until: Timestamp) {
        let mut pause = until.duration_since(self.time());
        if let Some(chaos) = self.chaos {
            let mut chaos = chaos.borrow_mut();
            if chaos.strikes(0.01) {
                // The host was suspended.
                pause = pause.checked_add(SignedDuration::from_mins(7)).unwrap();
            }
            if chaos.strikes(0.005) {
                chaos.set_clock();
            }
        }
        let until = self.cloud.borrow().now.checked_add(pause.max(SignedDuration::ZERO)).unwrap();
        self.cloud.borrow_mut().advance(until);
    }

    async fn append(&mut self, entry: &Entry, run: &Run) -> Result<(), StoreError> {
        self.point().await;
        if self.chaos.is_some_and(|chaos| chaos.borrow_mut().strikes(0.03)) {
            return Err(StoreError::Unavailable("etcd".into()));
        }
        {
            let mut cloud = self.cloud.borrow_mut();
            if cloud.state.as_ref().is_none_or(|stored| run.seq != stored.seq + 1) {
                return Err(StoreError::LostLock);
            }
            cloud.append(entry, run);
        }
        self.point().await;
        Ok(())
    }

    fn progress(&mut self, _: &Run, _: &Decision) {}
}

impl Session<'_> {
    fn time(&self) -> Timestamp {
        let skew = self.chaos.map_or(SignedDuration::ZERO, |chaos| chaos.borrow().skew);
        self.cloud.borrow().now.checked_add(skew).unwrap()
    }

    /// Returns a reading, that of an earlier read, or a failed one.
    fn answer<T: Clone + 'static>(
        &self,
        name: &str,
        is_kubernetes: bool,
        read: impl FnOnce(&Cloud) -> Reading<T>,
    ) -> Reading<T> {
        let answer = read(&self.cloud.borrow());
        let Some(chaos) = self.chaos else { return answer };
        let mut chaos = chaos.borrow_mut();
        if is_kubernetes && chaos.is_away(self.cloud.borrow().now) {
            return missing(chaos.random.below(20));
        }
        if chaos.strikes(0.03) {
            let is_stale = chaos.random.random_bool(0.5);
            let last = chaos.last.get(name).filter(|_| is_stale);
            return match last.and_then(|last| last.downcast_ref::<Reading<T>>()) {
                Some(last) => last.clone(),
                None => missing(chaos.random.below(20)),
            };
        }
        chaos.last.insert(name.to_owned(), Box::new(answer.clone()));
        answer
    }
}

impl Services for Session<'_> {
    fn now(&self) -> Timestamp {
        self.time()
    }

    async fn cluster(&self) -> Reading<ManagedCluster> {
        self.answer("cluster", false, Cloud::read_cluster)
    }

    async fn pools(&self) -> Reading<Vec<Pool>> {
        self.answer("pools", false, Cloud::read_pools)
    }

    async fn scale_sets(&self) -> Reading<Vec<ScaleSet>> {
        self.answer("scale sets", false, Cloud::read_scale_sets)
    }

    async fn instances(&self, set: &str) -> Reading<Vec<Instance>> {
        self.answer(&format!("instances {set}"), false, |cloud| cloud.read_instances(set))
    }

    async fn nics(&self, set: &str) -> Reading<Vec<Nic>> {
        self.answer(&format!("nics {set}"), false, |cloud| cloud.read_nics(set))
    }

    async fn events(&self) -> Reading<Vec<ActivityEvent>> {
        self.answer("events", false, Cloud::read_events)
    }

    async fn latest_operation(&self) -> Reading<Option<AksOperation>> {
        self.answer("latest", false, |cloud| Reading::Known(cloud.operation.clone()))
    }

    async fn operation(&self, token: &str) -> Reading<Vec<String>> {
        self.answer(token, false, |cloud| cloud.read_operation(token))
    }

    async fn uid(&self) -> Reading<String> {
        self.answer("uid", true, |_| Reading::Known("kube-system-uid".to_owned()))
    }

    async fn nodes(&self) -> Reading<Vec<Node>> {
        self.answer("nodes", true, Cloud::read_nodes)
    }

    async fn pods(&self) -> Reading<Vec<Pod>> {
        self.answer("pods", true, Cloud::read_pods)
    }

    async fn pdbs(&self) -> Reading<Vec<Pdb>> {
        self.answer("pdbs", true, Cloud::read_pdbs)
    }

    async fn replicas(&self, workload: &str) -> Reading<Replicas> {
        self.answer(workload, true, |cloud| cloud.read_replicas(workload))
    }

    async fn perform(&self, effect: &Effect) -> EffectResult {
        self.point().await;
        let fault = self.chaos.and_then(|chaos| {
            let mut chaos = chaos.borrow_mut();
            let azure = matches!(
                effect,
                Effect::PutPool { .. }
                    | Effect::DeletePool { .. }
                    | Effect::AbortOperation { .. }
                    | Effect::TagCluster { .. }
            );
            if !azure && chaos.is_away(self.cloud.borrow().now) {
                return Some(Fault::LostBefore);
            }
            chaos.strikes(0.15).then(|| {
                let faults = [
                    Fault::Refused(429),
                    Fault::Refused(409),
                    Fault::Refused(412),
                    Fault::Refused(500),
                    Fault::LostBefore,
                    Fault::LostAfter,
                    Fault::Doomed,
                    Fault::Cancelled,
                    Fault::Replaced,
                    Fault::Slow,
                    Fault::Barren,
                ];
                faults[usize::try_from(chaos.random.below(faults.len() as u64)).unwrap()]
            })
        });
        self.lose_lease();
        let result = self.cloud.borrow_mut().perform(effect, fault);
        self.point().await;
        result
    }
}

fn missing<T>(how: u64) -> Reading<T> {
    match how {
        0 => Reading::Denied("AuthorizationFailed".to_owned()),
        1..=6 => Reading::Throttled("HTTP 429".to_owned()),
        _ => Reading::Failed("HTTP 503".to_owned()),
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ended {
    Killed,
    Stopped(RunOutcome),
    Broke(StoreError),
}

/// Starts or resumes a run until it stops or is killed.
pub(crate) fn resume(
    cloud: &Rc<RefCell<Cloud>>,
    settings: &Settings,
    kill: &Kill,
    chaos: Option<&RefCell<Chaos>>,
) -> Ended {
    begin(&mut cloud.borrow_mut(), settings);
    process(Session { cloud: cloud.clone(), kill: kill.clone(), chaos, forks: None })
}

/// Runs a process without a kill. `forks` collects the states after a kill at each point, so that the common part runs once.
pub(crate) fn whole(cloud: Cloud, settings: &Settings, forks: Option<&RefCell<Vec<Cloud>>>) -> End {
    let cloud = Rc::new(RefCell::new(cloud));
    begin(&mut cloud.borrow_mut(), settings);
    let session = Session { cloud: cloud.clone(), kill: Kill::default(), chaos: None, forks };
    End { ended: process(session), cloud, processes: 1 }
}

/// Rolls back a killed run a while later; see [`whole`].
pub(crate) fn undo(left: &Cloud, forks: Option<&RefCell<Vec<Cloud>>>) -> End {
    let mut cloud = left.clone();
    cloud.advance(cloud.now.checked_add(PAUSE).unwrap());
    abort(&mut cloud);
    let cloud = Rc::new(RefCell::new(cloud));
    let session = Session { cloud: cloud.clone(), kill: Kill::default(), chaos: None, forks };
    End { ended: process(session), cloud, processes: 1 }
}

pub(crate) fn abort(cloud: &mut Cloud) {
    let state = cloud.state.clone().unwrap();
    let mut session = session(&state.session.plan, &state.session.settings());
    session.approval = Approval::Rollback;
    cloud.change(&Entry::AbortStarted(Box::new(session)));
}

/// Continues the run with this session, without a kill.
pub(crate) fn continue_run(cloud: Cloud, session: mooring_repair::workflow::Session) -> End {
    let mut cloud = cloud;
    cloud.change(&Entry::Resumed(Box::new(session)));
    let cloud = Rc::new(RefCell::new(cloud));
    let session = Session { cloud: cloud.clone(), kill: Kill::default(), chaos: None, forks: None };
    End { ended: process(session), cloud, processes: 1 }
}

fn process(mut session: Session<'_>) -> Ended {
    // What a process knows of a run is what is stored.
    let text = encode(session.cloud.borrow().state.as_ref().unwrap(), &[]);
    let stored: Run = decode(&text).unwrap().last.unwrap();
    let mut cluster = PoolCluster::new(session.clone(), stored.session.settings());
    let mut future = pin!(run(&mut session, &mut cluster, stored));
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Pending => Ended::Killed,
        Poll::Ready(Ok(rest)) => Ended::Stopped(rest),
        Poll::Ready(Err(error)) => Ended::Broke(error),
    }
}

fn begin(cloud: &mut Cloud, settings: &Settings) {
    match &cloud.state {
        Some(state) if !matches!(state.phase, Phase::Finished(_)) => {
            let mut session = session(&state.session.plan, settings);
            if state.phase == Phase::Aborting {
                session.approval = Approval::Rollback;
            }
            cloud.change(&Entry::Resumed(Box::new(session)));
        }
        _ => {
            let run = begun(&cloud.runs(), cloud, settings, &capacity()).unwrap();
            cloud.begin(run);
        }
    }
}

/// Result of a run that may have been killed.
pub(crate) struct End {
    pub(crate) cloud: Rc<RefCell<Cloud>>,
    pub(crate) ended: Ended,
    pub(crate) processes: u32,
}

/// Resumes a killed run a while later; see [`whole`].
pub(crate) fn recover(
    left: &Cloud,
    settings: &Settings,
    forks: Option<&RefCell<Vec<Cloud>>>,
) -> End {
    let mut cloud = left.clone();
    // It may have been killed after its last record.
    if let Some(finish) = cloud.finish() {
        let ended = Ended::Stopped(RunOutcome::Finished(finish));
        return End { cloud: Rc::new(RefCell::new(cloud)), ended, processes: 0 };
    }
    cloud.advance(cloud.now.checked_add(PAUSE).unwrap());
    whole(cloud, settings, forks)
}

/// A run that was killed right after `step` was recorded as done.
pub(crate) fn until(
    step: Step,
    settings: &Settings,
    make: impl Fn() -> Cloud,
) -> Rc<RefCell<Cloud>> {
    for point in 0..500 {
        let cloud = Rc::new(RefCell::new(make()));
        assert_eq!(resume(&cloud, settings, &Kill::at(point), None), Ended::Killed);
        let last = cloud.borrow().journal.last().unwrap().clone();
        if matches!(last, Entry::StepDone { step: done, .. } if done == step) {
            return cloud;
        }
    }
    panic!("{step:?} was never done");
}

/// Runs until it stops, with one kill per process from the list, and resumes at most `most` times.
pub(crate) fn run_to_rest(
    cloud: Cloud,
    settings: &Settings,
    kills: &[u64],
    chaos: Option<&RefCell<Chaos>>,
    most: u32,
) -> End {
    let cloud = Rc::new(RefCell::new(cloud));
    let mut processes = 0;
    loop {
        let kill =
            kills.get(processes as usize).map_or_else(Kill::default, |point| Kill::at(*point));
        let mut ended = resume(&cloud, settings, &kill, chaos);
        processes += 1;
        // It may have been killed after its last record.
        if let Some(finish) = cloud.borrow().finish() {
            ended = Ended::Stopped(RunOutcome::Finished(finish));
        }
        if matches!(ended, Ended::Stopped(RunOutcome::Finished(_))) || processes > most {
            return End { cloud, ended, processes };
        }
        let later = cloud.borrow().now.checked_add(PAUSE).unwrap();
        cloud.borrow_mut().advance(later);
    }
}

/// Next decision of a run, with missing reads from the cloud.
pub(crate) fn action_of(run: &Run, seen: ClusterView, cloud: &Cloud) -> Decision {
    let cloud = Rc::new(RefCell::new(cloud.clone()));
    let session = Session { cloud, kill: Kill::default(), chaos: None, forks: None };
    let mut cluster = PoolCluster::new(session, run.session.settings());
    cluster.view = seen;
    let mut future = pin!(cluster.next(run));
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(decision) => decision.unwrap(),
        Poll::Pending => panic!("nothing waits"),
    }
}

/// The reads of `detect`.
pub(crate) fn detected(cloud: &Cloud, settings: &Settings) -> ClusterView {
    let cloud = Rc::new(RefCell::new(cloud.clone()));
    let session = Session { cloud, kill: Kill::default(), chaos: None, forks: None };
    let view = ClusterView::default();
    {
        let mut future = pin!(mooring_repair::report::read(&session, &view, settings));
        assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
    }
    view
}

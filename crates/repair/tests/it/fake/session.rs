//! A process that is killed and resumed.

use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use jiff::{SignedDuration, Timestamp};
use mooring_repair::effects::Effect;
use mooring_repair::workflow::{Entry, Record};
use mooring_workflow::EffectResult;
use mooring_workflow::approval::Approval;
use mooring_workflow::journal::{decode, encode};

use mooring_repair::observation::{Answer, ClusterView, Query};
use mooring_repair::plan::Step;
use mooring_repair::settings::Settings;
use mooring_repair::workflow::RunOutcome;
use mooring_repair::workflow::{Decision, Run};
use mooring_simulator::random::Random;
use mooring_workflow::Phase;
use mooring_workflow::Reading;
use mooring_workflow::world::{AppendError, World};
use mooring_workflow::{RunError, run};

use mooring_repair::workflow::PoolRepair;
use mooring_workflow::workflow::{View as _, Workflow as _};

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
    /// Last result of each query.
    last: Vec<(Query, Answer)>,
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
            last: Vec::new(),
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

impl World<PoolRepair> for Session<'_> {
    fn interrupted(&self) -> bool {
        false
    }

    fn now(&self) -> Timestamp {
        let skew = self.chaos.map_or(SignedDuration::ZERO, |chaos| chaos.borrow().skew);
        self.cloud.borrow().now.checked_add(skew).unwrap()
    }

    async fn sleep_until(&mut self, until: Timestamp) {
        let mut pause = until.duration_since(self.now());
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

    async fn read(&mut self, query: &Query) -> Answer {
        let answer = self.cloud.borrow().observe(query);
        let Some(chaos) = self.chaos else { return answer };
        let mut chaos = chaos.borrow_mut();
        let kubernetes = matches!(
            query,
            Query::Uid | Query::Nodes | Query::Pods | Query::Pdbs | Query::Replicas(_)
        );
        if kubernetes && chaos.is_away(self.cloud.borrow().now) {
            return unanswered(answer, &mut chaos.random);
        }
        let last = chaos.last.iter().position(|(asked, _)| asked == query);
        if chaos.strikes(0.03) {
            if chaos.random.random_bool(0.5)
                && let Some(last) = last
            {
                return chaos.last[last].1.clone();
            }
            return unanswered(answer, &mut chaos.random);
        }
        match last {
            Some(last) => chaos.last[last].1 = answer.clone(),
            None => chaos.last.push((query.clone(), answer.clone())),
        }
        answer
    }

    async fn perform(&mut self, effect: &Effect) -> EffectResult {
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

    async fn append(&mut self, record: &Record, run: &Run) -> Result<(), AppendError> {
        self.point().await;
        if self.chaos.is_some_and(|chaos| chaos.borrow_mut().strikes(0.03)) {
            return Err(AppendError::Unavailable("etcd".into()));
        }
        {
            let mut cloud = self.cloud.borrow_mut();
            if cloud.state.as_ref().is_none_or(|stored| record.seq != stored.seq + 1) {
                return Err(AppendError::LostLock);
            }
            cloud.append(record, run);
        }
        self.point().await;
        Ok(())
    }

    fn progress(&mut self, _: &Run, _: &Decision) {}
}

/// The same query, failed.
fn unanswered(answer: Answer, random: &mut Random) -> Answer {
    let how = random.below(20);
    match answer {
        Answer::Cluster(_) => Answer::Cluster(missing(how)),
        Answer::Pools(_) => Answer::Pools(missing(how)),
        Answer::ScaleSets(_) => Answer::ScaleSets(missing(how)),
        Answer::Instances(set, _) => Answer::Instances(set, missing(how)),
        Answer::Nics(set, _) => Answer::Nics(set, missing(how)),
        Answer::Events(_) => Answer::Events(missing(how)),
        Answer::LatestOperation(_) => Answer::LatestOperation(missing(how)),
        Answer::Operation(token, _) => Answer::Operation(token, missing(how)),
        Answer::Uid(_) => Answer::Uid(missing(how)),
        Answer::Nodes(_) => Answer::Nodes(missing(how)),
        Answer::Pods(_) => Answer::Pods(missing(how)),
        Answer::Pdbs(_) => Answer::Pdbs(missing(how)),
        Answer::Replicas(name, _) => Answer::Replicas(name, missing(how)),
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
    Broke(RunError),
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
    cloud.change(Entry::AbortStarted(session));
}

/// Continues the run with this session, without a kill.
pub(crate) fn continue_run(cloud: Cloud, session: Box<mooring_repair::workflow::Session>) -> End {
    let mut cloud = cloud;
    cloud.change(Entry::Resumed(session));
    let cloud = Rc::new(RefCell::new(cloud));
    let session = Session { cloud: cloud.clone(), kill: Kill::default(), chaos: None, forks: None };
    End { ended: process(session), cloud, processes: 1 }
}

fn process(mut session: Session<'_>) -> Ended {
    // What a process knows of a run is what is stored.
    let text = encode(session.cloud.borrow().state.as_ref().unwrap(), &[]);
    let stored: Run = decode(&text).unwrap().last.unwrap();
    let terms = stored.session.settings();
    let mut future = pin!(run(&mut session, &terms, stored));
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
            cloud.change(Entry::Resumed(session));
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
        let last = cloud.borrow().journal.last().unwrap().entry.clone();
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
    decided(run, seen, cloud.now, |query| cloud.observe(query))
}

/// Next decision of a run at this time, with reads from `observe`.
pub(crate) fn decided(
    run: &Run,
    mut seen: ClusterView,
    now: Timestamp,
    observe: impl Fn(&Query) -> Answer,
) -> Decision {
    let terms = run.session.settings();
    loop {
        let (view, view_seq) = (&seen, run.seq);
        let cx = mooring_workflow::Context { terms: &terms, run, view, view_seq, now };
        let queries = PoolRepair::queries(&cx);
        let Some(query) = queries.iter().find(|query| !seen.has(query)) else {
            return PoolRepair::decide(&cx).unwrap();
        };
        seen.take(observe(query));
    }
}

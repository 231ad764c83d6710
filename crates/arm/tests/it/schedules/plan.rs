//! Schedules by seed.

use std::time::Duration;

use mooring_arm::Priority;
use mooring_simulator::faults::{CallSelector, Fault, FaultRule, OperationFault};
use mooring_simulator::random::Random;

use crate::schedules::world::Network;

pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) scenario: &'static str,
    pub(crate) rules: Vec<FaultRule>,
    pub(crate) network: Network,
    /// Used share of Azure's limits, in percent.
    pub(crate) share: u32,
    /// Page size: small, so that there are many pages.
    pub(crate) page_size: usize,
    /// Concurrent clients with sequential steps.
    pub(crate) actors: Vec<Vec<Step>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) what: Action,
    pub(crate) priority: Priority,
    pub(crate) within: Duration,
    /// The call is dropped after this time.
    pub(crate) dropped_after: Option<Duration>,
    pub(crate) follow: Follow,
    pub(crate) pause: Duration,
}

#[derive(Debug, Clone)]
pub(crate) enum Action {
    Cluster,
    Pools,
    Pool(&'static str),
    Machines(&'static str),
    ScaleSets,
    Instances,
    Nics,
    Vm(&'static str),
    ActivityLog,
    Credentials,
    LatestOperation,
    PutPool { name: &'static str, conditional: bool },
    DeletePool(&'static str),
    AbortCluster,
    AbortPool(&'static str),
    Tags,
    RunScript(&'static str),
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Follow {
    No,
    /// To the end, or for this time.
    For(Duration),
    /// The same, but another process continues halfway from the record.
    Resumed(Duration),
}

impl Plan {
    pub(crate) fn of(seed: u64) -> Self {
        let mut random = Random::new(seed).fork("schedule");
        let scenario = *pick(
            &mut random,
            &[
                "healthy",
                "healthy",
                "wedged-system-pool",
                "throttled",
                "oras-missing",
                "young-operation",
            ],
        );
        let rules = (0..random.below(5)).map(|_| rule(&mut random)).collect();
        let network = Network {
            unsent: *pick(&mut random, &[0, 0, 10, 40]),
            no_token: *pick(&mut random, &[0, 0, 0, 20]),
            foreign: *pick(&mut random, &[0, 0, 0, 0, 15]),
        };
        let share = *pick(&mut random, &[100, 100, 50, 5, 2]);
        let page_size = *pick(&mut random, &[100, 3]);
        let actors = 1 + random.below(3);
        let actors = (0..actors)
            .map(|_| (0..=random.below(4)).map(|_| step(&mut random)).collect())
            .collect();
        Self { seed, scenario, rules, network, share, page_size, actors }
    }
}

fn pick<'a, T>(random: &mut Random, among: &'a [T]) -> &'a T {
    &among[usize::try_from(random.below(among.len() as u64)).unwrap()]
}

fn seconds(random: &mut Random, min: u64, max: u64) -> Duration {
    Duration::from_secs(min + random.below(max - min + 1))
}

fn step(random: &mut Random) -> Step {
    let pool = *pick(random, &["system", "user", "extra"]);
    let vm = *pick(random, &["aks-default-good1", "aks-default-bad1", "aks-default-none"]);
    let what = match random.below(23) {
        0 => Action::Cluster,
        1 => Action::Pools,
        2 => Action::Pool(pool),
        3 => Action::Machines(pool),
        4 => Action::ScaleSets,
        5 => Action::Instances,
        6 => Action::Nics,
        7 | 8 => Action::Vm(vm),
        9 => Action::ActivityLog,
        10 => Action::Credentials,
        11 => Action::LatestOperation,
        12..=15 => Action::PutPool { name: pool, conditional: random.random_bool(0.5) },
        16 | 17 => Action::DeletePool(pool),
        18 => Action::AbortCluster,
        19 => Action::AbortPool(pool),
        20 | 21 => Action::Tags,
        _ => Action::RunScript(vm),
    };
    let follow = match random.below(4) {
        0 => Follow::No,
        1 => Follow::For(seconds(random, 5, 60)),
        2 => Follow::For(seconds(random, 300, 900)),
        _ => Follow::Resumed(seconds(random, 300, 900)),
    };
    Step {
        what,
        priority: *pick(
            random,
            &[Priority::Trigger, Priority::Interactive, Priority::Routine, Priority::Sweep],
        ),
        within: *pick(random, &[3, 30, 120, 300].map(Duration::from_secs)),
        dropped_after: random.random_bool(0.1).then(|| seconds(random, 0, 20)),
        follow,
        pause: if random.random_bool(0.5) { Duration::ZERO } else { seconds(random, 1, 200) },
    }
}

fn rule(random: &mut Random) -> FaultRule {
    let then = match random.below(14) {
        0 | 1 => Fault::Status {
            status: *pick(random, &[429, 429, 500, 502, 503, 504, 408]),
            code: None,
            retry_after: *pick(random, &[None, None, Some(0), Some(3), Some(20), Some(700)]),
        },
        2 => Fault::Status {
            status: *pick(random, &[400, 401, 403, 409, 412, 501]),
            code: None,
            retry_after: None,
        },
        3 => Fault::TimeoutBefore,
        4 => Fault::TimeoutAfter,
        5 => Fault::DropBefore,
        6 => Fault::DropAfter,
        7 => Fault::Truncate,
        8 => Fault::Stale { seconds: 1 + random.below(20) },
        9 | 10 => Fault::Operation(*pick(
            random,
            &[OperationFault::Failed, OperationFault::Canceled, OperationFault::Replaced],
        )),
        11 => Fault::NotFoundAfterAccept,
        12 => Fault::ClockJump { seconds: *pick(random, &[-400, -20, 5, 90, 4000]) },
        // The operation's status is not found, regardless of the operation.
        _ => {
            let when =
                CallSelector { path: Some("*/operations/*".to_owned()), ..CallSelector::default() };
            let then = Fault::Status { status: 404, code: None, retry_after: None };
            return FaultRule { probability: 0.5, ..FaultRule::new(when, then) };
        }
    };
    let when = CallSelector {
        service: None,
        method: pick(random, &[None, None, Some("GET"), Some("PUT"), Some("DELETE"), Some("POST")])
            .map(str::to_owned),
        path: pick(
            random,
            &[None, None, Some("*agentPools*"), Some("*/operations/*"), Some("*Compute*")],
        )
        .map(str::to_owned),
        writes: *pick(random, &[None, Some(true)]),
    };
    FaultRule {
        probability: *pick(random, &[1.0, 0.5, 0.2]),
        from_seconds: *pick(random, &[0, 0, 60]),
        until_seconds: *pick(random, &[None, Some(120), Some(600)]),
        skip: u32::try_from(random.below(3)).unwrap(),
        times: *pick(random, &[None, Some(1), Some(3)]),
        ..FaultRule::new(when, then)
    }
}

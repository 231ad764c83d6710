//! Runs the steps of a schedule, and records the results that the client reports.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use futures::future::join_all;
use jiff::Timestamp;
use mooring_arm::calls::{ActivityQuery, DeletePool, Script, Vm};
use mooring_arm::{
    Budget, BudgetLimits, Client, Cloud, CloudSettings, Error, ErrorKind, Operation,
    OperationOutcome, ResourceId, Started, WriteStatus,
};
use mooring_simulator::azure::{Azure, AzureOptions};
use mooring_simulator::faults::Fault;
use mooring_simulator::random::Random;
use mooring_simulator::scenario::Scenario;
use serde_json::{Value, json};

use crate::schedules::plan::{Action, Follow, Plan, Step};
use crate::schedules::world::{Record, TestWorld};

const SUBSCRIPTION: &str = "00000000-0000-0000-0000-000000000001";
const NODE_GROUP: &str = "MC_rg-demo_demo_westeurope";

/// Scenarios by page size, built once: every schedule uses a copy with its own seed.
type Worlds = BTreeMap<(&'static str, usize), Arc<Azure>>;
static WORLDS: LazyLock<Mutex<Worlds>> = LazyLock::new(Mutex::default);

fn world_of(plan: &Plan, start: Timestamp) -> Azure {
    let mut worlds = WORLDS.lock().unwrap();
    let built = worlds.entry((plan.scenario, plan.page_size)).or_insert_with(|| {
        let page_size = plan.page_size;
        let options = AzureOptions { trace_lines: 2_000, page_size, ..AzureOptions::default() };
        Arc::new(Scenario::named(plan.scenario).unwrap().build(0, start, options))
    });
    let built = Arc::clone(built);
    drop(worlds);
    built.with_seed(plan.seed, start)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StepOutcome {
    Read,
    /// The write was not applied.
    NotApplied,
    Unknown,
    /// The write was accepted, and its end was not awaited.
    Accepted,
    Succeeded,
    Failed,
    Canceled,
    Replaced,
    Lost,
    /// The call was dropped.
    Dropped,
}

#[derive(Debug, Clone)]
pub(crate) struct StepReport {
    pub(crate) correlation: String,
    pub(crate) what: Action,
    pub(crate) outcome: StepOutcome,
    /// Error message, also checked for secrets.
    pub(crate) error: String,
    pub(crate) began: u64,
    pub(crate) ended: u64,
    pub(crate) bound: u64,
}

pub(crate) async fn run(plan: Plan) -> Record {
    let start: Timestamp = "2026-11-15T05:00:00Z".parse().unwrap();
    let mut azure = world_of(&plan, start);
    for rule in &plan.rules {
        azure.add_fault(rule.clone(), start);
    }
    let stale = plan.rules.iter().any(|rule| matches!(rule.then, Fault::Stale { .. }));
    let world = TestWorld::new(azure, start, Random::new(plan.seed).fork("network"), plan.network);
    let limits = BudgetLimits::default().share(plan.share);
    let cloud = Cloud::new(CloudSettings::default()).unwrap();
    let client = Client::new(cloud, world.clone(), Budget::new(limits.clone()));
    let actors = plan.actors.len();
    let mut work = Vec::new();
    for (actor, steps) in plan.actors.into_iter().enumerate() {
        let actor = Actor { client: client.clone(), world: &world, name: actor };
        work.push(actor.all(steps));
    }
    let reports = join_all(work).await.into_iter().flatten().collect();
    drop(client);
    let ended = world.millis();
    let Some(TestWorld { azure, seen, .. }) = Arc::into_inner(world) else {
        panic!("a call is still running")
    };
    let (azure, seen) = (azure.into_inner().unwrap(), seen.into_inner().unwrap());
    Record { azure, seen, reports, limits, ended, stale, actors }
}

struct Actor<'a> {
    client: Client,
    world: &'a TestWorld,
    name: usize,
}

impl Actor<'_> {
    async fn all(self, steps: Vec<Step>) -> Vec<StepReport> {
        let mut reports = Vec::new();
        for (number, step) in steps.into_iter().enumerate() {
            tokio::time::sleep(step.pause).await;
            let correlation = format!("c{}-{number}", self.name);
            reports.push(self.one(step, correlation).await);
        }
        reports
    }

    async fn one(&self, step: Step, correlation: String) -> StepReport {
        let client = self.client.at(step.priority).within(step.within).correlated(&correlation);
        let following = match step.follow {
            Follow::No => Duration::ZERO,
            Follow::For(time) | Follow::Resumed(time) => time,
        };
        // The pool is read, then written; then the operation is polled, and the last poll may start just before the
        // deadline and read twice.
        let bound = step.within * 4 + following + Duration::from_secs(1);
        let began = self.world.millis();
        let done = self.perform(&client, &step, &correlation);
        let limit = step.dropped_after.unwrap_or(bound * 2);
        let (outcome, error) = match tokio::time::timeout(limit, done).await {
            Ok(Ok(outcome)) => (outcome, String::new()),
            Ok(Err(error)) => {
                let outcome = match error.write_status {
                    WriteStatus::NotApplied => StepOutcome::NotApplied,
                    WriteStatus::Unknown => StepOutcome::Unknown,
                };
                (outcome, format!("{error} {error:?}"))
            }
            Err(_) => (StepOutcome::Dropped, String::new()),
        };
        let ended = self.world.millis();
        let bound = u64::try_from(bound.as_millis()).unwrap();
        StepReport { correlation, what: step.what, outcome, error, began, ended, bound }
    }

    async fn perform(
        &self,
        client: &Client,
        step: &Step,
        mark: &str,
    ) -> Result<StepOutcome, Error> {
        let cluster = ResourceId::cluster(SUBSCRIPTION, "rg-demo", "demo").unwrap();
        let pool = |name: &str| cluster.child("agentPools", name).unwrap();
        let machine = |name: &str| {
            let kind = format!("virtualMachines/{name}");
            ResourceId::of(SUBSCRIPTION, NODE_GROUP, "Microsoft.Compute", &kind).unwrap()
        };
        let started = match &step.what {
            Action::Cluster => {
                return client.cluster::<Value>(&cluster).await.map(|_| StepOutcome::Read);
            }
            Action::Pools => return client.agent_pools(&cluster).await.map(|_| StepOutcome::Read),
            Action::Pool(name) => {
                return client.agent_pool(&pool(name)).await.map(|_| StepOutcome::Read);
            }
            Action::Machines(name) => {
                return client.machines(&pool(name)).await.map(|_| StepOutcome::Read);
            }
            Action::ScaleSets => {
                return client
                    .scale_sets::<Value>(SUBSCRIPTION, NODE_GROUP)
                    .await
                    .map(|_| StepOutcome::Read);
            }
            Action::Instances => {
                let set = self.scale_set();
                return client.scale_set_vms::<Value>(&set).await.map(|_| StepOutcome::Read);
            }
            Action::Nics => {
                let set = self.scale_set();
                return client.scale_set_nics(&set).await.map(|_| StepOutcome::Read);
            }
            Action::Vm(name) => {
                return client.vm::<Vm>(&machine(name)).await.map(|_| StepOutcome::Read);
            }
            Action::ActivityLog => {
                let now: Timestamp = "2026-11-15T05:00:00Z".parse().unwrap();
                let from = now.checked_sub(Duration::from_hours(3)).unwrap();
                let query = ActivityQuery::of_group(NODE_GROUP, from, now);
                return client.activity_log(SUBSCRIPTION, &query).await.map(|_| StepOutcome::Read);
            }
            Action::Credentials => {
                return client.user_credentials(&cluster, None).await.map(|_| StepOutcome::Read);
            }
            Action::LatestOperation => {
                return client.latest_operation(&cluster).await.map(|_| StepOutcome::Read);
            }
            Action::Tags => {
                let tags = BTreeMap::from([(mark.to_owned(), "x".to_owned())]);
                let merged = client.merge_tags(&cluster, &tags).await?;
                assert!(merged.contains_key(mark), "the response does not contain the written tag");
                return Ok(StepOutcome::Accepted);
            }
            Action::PutPool { name, conditional } => {
                let (body, etag) = match client.agent_pool(&pool(name)).await {
                    Ok(read) => {
                        let mut body = read;
                        body["properties"]["nodeLabels"] = json!({"write": mark});
                        let etag = body["properties"]["eTag"].as_str().map(str::to_owned);
                        (body, etag)
                    }
                    Err(error) if error.is_not_found() => {
                        let new = json!({"properties": {
                            "count": 1, "vmSize": "Standard_D4s_v5", "mode": "User", "nodeLabels": {"write": mark},
                        }});
                        (new, None)
                    }
                    Err(error) => return Err(error),
                };
                let etag = etag.filter(|_| *conditional);
                client.put_agent_pool(&pool(name), &body, etag.as_deref()).await?
            }
            Action::DeletePool(name) => {
                client.delete_agent_pool(&pool(name), &DeletePool::default()).await?
            }
            Action::AbortCluster => client.abort_cluster(&cluster).await?,
            Action::AbortPool(name) => client.abort_agent_pool(&pool(name)).await?,
            Action::RunScript(name) => {
                let script = Script { lines: &["true"] };
                client.run_script(&machine(name), &script).await?
            }
        };
        self.follow(client, started, step.follow).await
    }

    async fn follow(
        &self,
        client: &Client,
        started: Started,
        follow: Follow,
    ) -> Result<StepOutcome, Error> {
        let mut operation = match started {
            Started::Done(outcome) => return Ok(step_outcome(&outcome)),
            Started::Running(operation) => operation,
        };
        let now = mooring_arm::World::now(self.world);
        let at = |time: Duration| now.checked_add(time).unwrap();
        let until = match follow {
            Follow::No => return Ok(StepOutcome::Accepted),
            Follow::For(time) => at(time),
            Follow::Resumed(time) => {
                let half = client.wait(&mut operation, at(time / 2), |_, _| {});
                // Dropped at any point: only the record remains.
                if let Ok(ended) = tokio::time::timeout(time / 3, half).await {
                    match ended {
                        Ok(outcome) => return Ok(step_outcome(&outcome)),
                        Err(error) if !matches!(error.kind, ErrorKind::Deadline(_)) => {
                            return Ok(gave_up(&error));
                        }
                        Err(_) => {}
                    }
                }
                let record = serde_json::to_string(&operation).unwrap();
                operation = serde_json::from_str::<Operation>(&record).unwrap();
                at(time)
            }
        };
        match client.wait(&mut operation, until, |_, _| {}).await {
            Ok(outcome) => Ok(step_outcome(&outcome)),
            Err(error) => Ok(gave_up(&error)),
        }
    }

    /// Returns the scale set of the pool `system`, whose name is random.
    fn scale_set(&self) -> ResourceId {
        let azure = self.world.azure.lock().unwrap();
        let nodes = azure.nodes();
        let (set, _) = nodes.iter().find_map(|node| node.instance.clone()).unwrap();
        let kind = format!("virtualMachineScaleSets/{set}");
        ResourceId::of(SUBSCRIPTION, NODE_GROUP, "Microsoft.Compute", &kind).unwrap()
    }
}

/// The write was accepted; only its end is unknown.
fn gave_up(_: &Error) -> StepOutcome {
    StepOutcome::Accepted
}

fn step_outcome(outcome: &OperationOutcome) -> StepOutcome {
    match outcome {
        OperationOutcome::Succeeded(_) => StepOutcome::Succeeded,
        OperationOutcome::Failed(_) => StepOutcome::Failed,
        OperationOutcome::Canceled(_) => StepOutcome::Canceled,
        OperationOutcome::Replaced { .. } => StepOutcome::Replaced,
        OperationOutcome::Lost { .. } => StepOutcome::Lost,
    }
}

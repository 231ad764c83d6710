//! A changed journal never has an effect that no approval covers.
//!
//! Documents of killed runs are changed one value at a time, as any client with access to `ConfigMap`s could, and the run is
//! resumed as with `--yes` and `--pipeline`.
//!
//! | variable | meaning |
//! |---|---|
//! | `MOORING_FORGERIES` | one of how many changes of single values is tried at each kill, 24 unless set; 1 tries all |

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::fake::records::capacity;
use crate::fake::scenarios::{Scenario, old_operation, settings};
use crate::fake::{CLUSTER, Cloud, Ended, continue_run, detected, node, whole};
use jiff::SignedDuration;
use mooring_repair::effects::Effect;
use mooring_repair::names::{APPROVAL_TAG, JOURNAL_TAG, RUN_TAG};
use mooring_repair::plan;
use mooring_repair::plan::{Plan, PlanDocument};
use mooring_repair::report::detect;
use mooring_repair::resume::{Consent, Fresh, ResumeBasis, authorize, resume_basis};
use mooring_repair::verdict::WedgeVerdict;
use mooring_repair::workflow::{Entry, PoolRepair, Run, Session};
use mooring_testbed::on_all_cores;
use mooring_workflow::EffectResult;
use mooring_workflow::Outcome;
use mooring_workflow::Phase;
use mooring_workflow::Reading;
use mooring_workflow::approval::{Approval, ApprovalToken};
use mooring_workflow::journal::{decode, encode};
use serde_json::{Value, json};

/// The document of a killed run.
fn document(cloud: &Cloud) -> Value {
    serde_json::from_str(&encode(cloud.state.as_ref().unwrap(), &cloud.past)).unwrap()
}

fn others(value: &Value) -> Vec<Value> {
    match value {
        Value::Null => vec![json!("x")],
        Value::Bool(value) => vec![json!(!value)],
        Value::Number(_) => vec![json!(0), json!(1), json!(1_000_000)],
        Value::String(text) => vec![
            json!(""),
            json!("user"),
            json!(format!("{text}x")),
            json!("PT10000H"),
            json!("2099-01-01T00:00:00Z"),
            json!("@localhost:9443/steal"),
        ],
        Value::Array(_) => vec![json!([])],
        Value::Object(_) => vec![json!({}), Value::Null],
    }
}

/// Pointers to every value below.
fn pointers(value: &Value, at: String, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                pointers(value, format!("{at}/{name}"), found);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                pointers(value, format!("{at}/{index}"), found);
            }
        }
        _ => {}
    }
    if !at.is_empty() && at != "/schema" {
        found.push(at);
    }
}

/// Changes that an attacker would make to the plan.
fn wishes() -> Vec<(&'static str, Value)> {
    let overrides = json!({"missing-nodes": "x", "failing-writes": "x", "pool-state": "x",
        "cluster-state": "x", "other-pools": "x", "workloads": "x", "addresses": "x",
        "pdb": "x", "other-operation": "x"});
    vec![
        ("/plan/settings/overrides", overrides.clone()),
        ("/overrides", overrides),
        ("/plan/settings/fail_threshold", json!(1)),
        ("/plan/settings/wedge_states", json!(["Failed", "Succeeded", "Updating"])),
        ("/plan/settings/budgets", json!({"override": "x"})),
        ("/plan/temporaryBody/properties/enableNodePublicIP", json!(true)),
        ("/plan/poolBody/properties/enableNodePublicIP", json!(true)),
        ("/plan/poolBody/properties/vnetSubnetID", json!("/subscriptions/evil/subnets/x")),
        ("/plan/poolBody/properties/nodeTaints", json!([])),
        ("/plan/pool", json!("user")),
        ("/plan/settings/target/pool", json!("user")),
        ("/plan/adopts", json!("run0")),
        ("/approval", json!({"by": "none"})),
        ("/approval", json!({"by": "rollback"})),
        ("/approval", json!({"by": "pipeline", "plan": "0".repeat(64)})),
    ]
}

/// Forged documents. One of `every` changes of single values is tried at each kill, others at the next. `older` are from
/// earlier kills of the same run.
fn forgeries(cloud: &Cloud, point: u64, older: &[Cloud]) -> Vec<(String, Value)> {
    let every = std::env::var("MOORING_FORGERIES").map_or(24, |every| every.parse().unwrap());
    let mut turn = point;
    let real = document(cloud);
    let mut all = vec![("nothing".to_owned(), real.clone())];
    let mut places = Vec::new();
    pointers(&real, String::new(), &mut places);
    for place in places {
        for other in others(real.pointer(&place).unwrap()) {
            turn += 1;
            if !turn.is_multiple_of(every) {
                continue;
            }
            let mut forged = real.clone();
            *forged.pointer_mut(&place).unwrap() = other.clone();
            all.push((format!("{place} = {other}"), forged));
        }
    }
    for (place, value) in wishes() {
        let mut forged = real.clone();
        let (parent, name) = place.rsplit_once('/').unwrap();
        let parent = format!("/run/session{parent}");
        forged.pointer_mut(&parent).unwrap()[name] = value.clone();
        all.push((format!("{place} = {value}"), forged));
    }
    // Another run.
    let mut renamed = real.clone();
    renamed["run"]["id"] = "another".into();
    all.push(("another run".to_owned(), renamed));
    for (at, older) in
        older.iter().enumerate().filter(|(at, _)| (turn + *at as u64).is_multiple_of(4))
    {
        all.push((format!("the document of kill {at}"), document(older)));
    }
    let run = cloud.state.clone().unwrap();
    let mut forge = |what: String, run: &Run| {
        let text = encode(run, &cloud.past);
        all.push((what, serde_json::from_str(&text).unwrap()));
    };
    // Steps that were never done.
    let mut further = run.clone();
    while let (Some(step), Phase::Running) = (further.step(), further.phase) {
        further
            .change(cloud.now, &Entry::StepDone { step, evidence: vec!["forged".into()] })
            .unwrap();
        forge(format!("{} is done", step.name()), &further);
    }
    // Effects that never happened, and an abort that was not requested.
    let mut deleted = run.clone();
    let effect = Effect::DeletePool { pool: "system".into(), if_match: None };
    let key = effect.key();
    deleted.change(cloud.now, &Entry::Intent(Box::new(effect))).unwrap();
    deleted.change(cloud.now, &Entry::Outcome { key, result: EffectResult::Done }).unwrap();
    forge("the pool was deleted".to_owned(), &deleted);
    let mut aborted = run;
    let session = Box::new(aborted.session.clone());
    aborted.change(cloud.now, &Entry::AbortStarted(session)).unwrap();
    forge("an abort".to_owned(), &aborted);
    all
}

/// A new plan with its checks, as with `--pipeline`.
fn fresh(cloud: &Cloud) -> Option<(Plan, Vec<mooring_workflow::CheckResult>)> {
    let settings = settings();
    let seen = detected(cloud, &settings);
    let report = detect(&seen, &settings, cloud.now);
    let checks = report.detection.checks;
    if report.detection.verdict == WedgeVerdict::Healthy
        || checks.iter().any(|check| check.outcome == Outcome::Fail)
    {
        return None;
    }
    let expires = ApprovalToken::expiry(cloud.now);
    plan::build(&seen, &settings, &capacity(), &checks, expires).ok().map(|plan| (plan, checks))
}

/// Runs one process on a journal; returns its grant and its effects.
fn resumed(cloud: &Cloud, consent: &Consent) -> Option<(Session, Vec<Effect>, Cloud)> {
    let state = cloud.state.clone()?;
    if state.is_finished() || !state.session.plan.cluster.eq_ignore_ascii_case(CLUSTER) {
        return None;
    }
    if state.session.plan.pool != "system" {
        return None;
    }
    let Reading::Known(pools) = cloud.read_pools() else { panic!() };
    let basis = resume_basis(&state, &pools);
    let plan = match (consent, &basis) {
        (Consent::Pipeline, ResumeBasis::Replannable) => Some(fresh(cloud)?),
        _ => None,
    };
    let fresh = plan.as_ref().map(|(plan, checks)| Fresh { plan, checks });
    let settings = settings();
    let grant =
        authorize(&state, &basis, &cloud.runs(), &settings, consent, fresh, cloud.now).ok()?;
    let before = cloud.journal.len();
    let end = continue_run(cloud.clone(), grant.clone());
    assert!(!matches!(end.ended, Ended::Killed));
    let end = end.cloud.borrow().clone();
    let effects = end.journal[before..].iter().filter_map(|record| match record {
        Entry::Intent(effect) => Some((**effect).clone()),
        _ => None,
    });
    Some((grant, effects.collect(), end))
}

/// Fails unless the effect is part of the plan.
fn assert_covered(effect: &Effect, plan: &PlanDocument, cloud: &Cloud, what: &str) {
    match effect {
        Effect::PutPool { pool, body, .. } if pool == "systmp" => {
            let mut body = body.clone();
            let tags = body["properties"]["tags"].as_object_mut().unwrap();
            for tag in [RUN_TAG, JOURNAL_TAG, APPROVAL_TAG] {
                tags.remove(tag).unwrap();
            }
            assert_eq!(body, plan.temporary_body, "{what}");
        }
        Effect::PutPool { pool, body, .. } => {
            assert_eq!((pool.as_str(), body), ("system", &plan.pool_body), "{what}");
        }
        Effect::DeletePool { pool, .. } => {
            assert!(["system", "systmp"].contains(&pool.as_str()), "{what}: {pool}");
        }
        Effect::Cordon { node, .. } | Effect::Uncordon { node, .. } => {
            assert!(!node.starts_with("aks-user"), "{what}: {node}");
        }
        Effect::Evict { pod, .. } => {
            let on_user = |found: &Cloud| {
                found.pods.iter().any(|found| {
                    found.name == *pod
                        && found.node.as_ref().is_some_and(|node| node.starts_with("aks-user"))
                })
            };
            assert!(!on_user(cloud), "{what}: {pod}");
        }
        Effect::TagCluster { name, .. } => assert_eq!(name, RUN_TAG, "{what}"),
        Effect::AbortOperation { operation, .. } => {
            let running = cloud.operation.as_ref().expect("an operation runs");
            let age = cloud.now.duration_since(running.started.unwrap());
            assert_eq!(*operation, running.name, "{what}");
            assert!(age >= SignedDuration::from_mins(30), "{what}");
        }
        Effect::DeletePod { pod, .. } => panic!("{what}: no override allows to delete {pod}"),
    }
}

/// Number of resumed journals, and of processes with an effect.
#[derive(Default)]
struct Count {
    tried: AtomicU64,
    acted: AtomicU64,
}

/// Result of one process with a forged journal.
struct Resumed<'a> {
    what: &'a str,
    cloud: &'a Cloud,
    grant: Session,
    effects: Vec<Effect>,
    end: Cloud,
}

/// Resumes every forged document of one of these killed runs.
fn forge(name: &str, killed: &[Cloud], point: u64, count: &Count, check: impl Fn(&Resumed<'_>)) {
    let at = usize::try_from(point).unwrap();
    let cloud = &killed[at];
    for (forgery, document) in forgeries(cloud, point, &killed[..at]) {
        let Ok(runs) = decode::<PoolRepair>(&document.to_string()) else { continue };
        let mut cloud = cloud.clone();
        (cloud.state, cloud.past) = (runs.last, runs.past);
        for consent in [Consent::Unattended, Consent::Pipeline] {
            count.tried.fetch_add(1, Ordering::Relaxed);
            let what = format!("{name}, killed at {point}, {forgery}, {consent:?}");
            let Some((grant, effects, end)) = resumed(&cloud, &consent) else { continue };
            count.acted.fetch_add(u64::from(!effects.is_empty()), Ordering::Relaxed);
            check(&Resumed { what: &what, cloud: &cloud, grant, effects, end });
        }
    }
}

/// Fails unless an approval of this process or the unchanged plan covers the effects.
fn assert_approved(original: &PlanDocument, resumed: &Resumed<'_>) {
    let Resumed { what, cloud, grant, effects, .. } = resumed;
    match &grant.approval {
        Approval::Anchored(_) => assert_eq!(*grant.plan, *original, "{what}"),
        Approval::Pipeline(hash) => {
            assert_eq!(*hash, fresh(cloud).unwrap().0.document.hash(), "{what}");
        }
        Approval::Rollback | Approval::None => {
            for effect in effects {
                assert!(
                    effect.authority().is_given_by(&grant.approval),
                    "{what}: {}",
                    effect.key()
                );
            }
        }
        other => panic!("{what}: nobody gave {other:?}"),
    }
    assert!(grant.overrides.is_empty(), "{what}");
    let approved = !matches!(grant.approval, Approval::Rollback | Approval::None);
    assert!(!approved || grant.plan.settings.overrides.is_empty(), "{what}");
    for effect in effects {
        assert_covered(effect, &grant.plan, cloud, what);
    }
}

/// Unfinished runs that were killed, one of `every`.
fn killed(make: fn() -> Cloud, every: usize) -> Vec<Cloud> {
    let forks = RefCell::default();
    whole(make(), &settings(), Some(&forks));
    let left = forks.into_inner().into_iter().filter(|cloud| cloud.finish().is_none());
    left.step_by(every).collect()
}

const WORLDS: [Scenario; 2] = [("wedged", Cloud::wedged), ("old operation", old_operation)];

/// Forges the journals of one of `every` killed runs; returns how many were resumed, and how many of them had effects.
fn forge_wedged(every: usize) -> (u64, u64) {
    let count = Count::default();
    for (name, make) in WORLDS {
        let killed = killed(make, every);
        on_all_cores(0..killed.len() as u64, |point| {
            let original = killed[usize::try_from(point).unwrap()].state.as_ref().unwrap();
            let original = original.session.plan.clone();
            forge(name, &killed, point, &count, |resumed| assert_approved(&original, resumed));
        });
    }
    let (tried, acted) = (count.tried.into_inner(), count.acted.into_inner());
    println!("{tried} forged resumptions, {acted} of them with effects");
    (tried, acted)
}

/// The same after the pool has recovered; returns the number of killed runs.
fn forge_healthy(every: usize) -> usize {
    let count = Count::default();
    let mut killed = killed(Cloud::wedged, every);
    killed.retain(|cloud| cloud.pools.get("system").is_some_and(|pool| pool.wedged));
    for cloud in &mut killed {
        let pool = cloud.pools.get_mut("system").unwrap();
        pool.wedged = false;
        pool.operation = None;
        pool.set_state("Succeeded");
        for index in 0..3 {
            let node = node("system", "aks-system-0", index);
            if !cloud.nodes.iter().any(|found| found.name == node.name) {
                cloud.nodes.push(node);
            }
        }
    }
    on_all_cores(0..killed.len() as u64, |point| {
        forge(
            "healthy",
            &killed,
            point,
            &count,
            |Resumed { what, grant, effects, end, .. }| {
                let deletes = |effect: &Effect| matches!(effect, Effect::DeletePool { pool, .. } if pool == "system");
                assert!(!effects.iter().any(deletes), "{what}");
                assert!(end.pools.contains_key("system"), "{what}");
                assert_eq!(
                    end.pools["system"].state(),
                    "Succeeded",
                    "{what}: {:?}",
                    grant.approval
                );
            },
        );
    });
    let (tried, acted) = (count.tried.into_inner(), count.acted.into_inner());
    println!("{tried} forged resumptions, {acted} with effects");
    killed.len()
}

#[test]
fn journal_forged_after_some_kills_has_no_unapproved_effect() {
    let (tried, acted) = forge_wedged(25);
    assert!(tried > 1_000 && acted > 100, "{tried}, {acted}");
}

#[test]
fn journal_forged_after_kills_never_rebuilds_a_healthy_pool() {
    assert!(forge_healthy(7) > 2);
}

mod slow {
    use super::*;

    #[test]
    fn forged_journal_has_no_unapproved_effect() {
        let (tried, acted) = forge_wedged(1);
        assert!(tried > 10_000, "{tried}");
        assert!(acted > 1_000, "{acted}: what is not forged must go on");
    }

    #[test]
    fn forged_journal_never_rebuilds_a_healthy_pool() {
        let killed = forge_healthy(1);
        assert!(killed > 20, "{killed}");
    }
}

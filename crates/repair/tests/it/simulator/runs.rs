//! Runs that are resumed, locked out, killed and forged.

use mooring_workflow::{Finish, RunOutcome};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use jiff::SignedDuration;

use super::harness::{Harness, in_virtual_time, shown};
use mooring_repair::plan::{HashedPlan, PlanDocument};
use mooring_repair::resume::Consent;
use mooring_repair::runtime::CommandResult;
use mooring_repair::verdict::WedgeVerdict;
use mooring_repair::workflow::PoolRepair;
use mooring_repair::workflow::{Entry, Run, Runs};
use mooring_simulator::azure::{ActionDenial, Correlation};
use mooring_simulator::cluster::ClusterOptions;
use mooring_simulator::faults::{CallSelector, Fault, FaultRule};
use mooring_simulator::kubernetes::Key;
use mooring_simulator::scenario::WedgeSettings;
use mooring_testbed::on_all_cores;
use mooring_workflow::Outcome;
use mooring_workflow::journal::{decode, encode};
use serde_json::Value;

#[tokio::test(start_paused = true)]
async fn wedged_pool_is_rebuilt_and_detect_changes_nothing() {
    let (harness, _running) = Harness::new("wedged-system-pool");
    let report = harness.operator().detect().await;
    assert_eq!(report.detection.verdict, WedgeVerdict::Confirmed, "{}", shown(&report));
    assert!(harness.operator().examine(None, None).await.plan.is_ok());
    assert_eq!(*harness.sent.lock().unwrap(), Vec::<String>::new());
    harness.completes().await;
    let state = harness.end_state().await;
    assert_eq!(state["verdict"], "healthy", "{state}");
    assert_eq!(state["cordoned"], 0);
    // Scale sets are never written: a full PUT would need permissions on the image.
    let sent = harness.sent.lock().unwrap().clone();
    assert!(!sent.iter().any(|sent| sent.contains("Microsoft.Compute")), "{sent:?}");
    let again = harness.resume(&Consent::Pipeline).await;
    assert!(matches!(again, CommandResult::Nothing(_)), "{again:?}");
}

/// Reads cost request budget: a run reads no more than counted here, and the Lease once.
#[tokio::test(start_paused = true)]
async fn repair_reads_no_more_than_it_needs() {
    let (harness, _running) = Harness::new("wedged-system-pool");
    let ending = harness.apply(|_| harness.reads.lock().unwrap().clear()).await;
    assert!(matches!(ending, CommandResult::Stopped(RunOutcome::Finished(_))), "{ending:?}");
    let reads = harness.reads.lock().unwrap().clone();
    let of = |service: &str| -> u64 {
        reads.iter().filter(|(name, _)| name.starts_with(service)).map(|(_, count)| count).sum()
    };
    println!("reads: azure {}, kubernetes {}", of("azure"), of("kubernetes"));
    assert!(of("azure") <= 467 && of("kubernetes") <= 81, "{reads:#?}");
}

/// The retries of AKS share a correlation id with the operation that hangs, or each has its own.
#[tokio::test(start_paused = true)]
async fn wedge_is_confirmed_for_any_correlation_of_retries() {
    for correlation in [Correlation::Shared, Correlation::New] {
        let (harness, _running) = Harness::new("healthy");
        harness.shell.with(|world, now| {
            let wedge = WedgeSettings {
                pool: "system".into(),
                failed_writes: 12,
                unregistered_nodes: 1,
                correlation,
            };
            assert!(world.azure_mut().inject_wedge(&wedge, now));
            world.azure_mut().begin_stuck_update(now - SignedDuration::from_mins(40));
        });
        let report = harness.operator().detect().await;
        assert_eq!(report.detection.verdict, WedgeVerdict::Confirmed, "{}", shown(&report));
        let operation = report.operation.expect("the update is not ended by a write that failed");
        assert_eq!((operation.pool, operation.left_alone), (None, false));
        // A write that succeeds ends it, once the log shows it.
        harness.shell.with(|world, now| world.azure_mut().unwedge("system", now));
        tokio::time::sleep(Duration::from_mins(21)).await;
        let report = harness.operator().detect().await;
        assert_eq!(report.detection.verdict, WedgeVerdict::Suspect, "{}", shown(&report));
    }
}

#[tokio::test(start_paused = true)]
async fn plan_shows_free_addresses_of_the_subnet_or_the_reason() {
    let subnet = async |harness: &Harness| {
        let plan = harness.operator().examine(None, None).await.plan.unwrap();
        let found = plan.checks.into_iter().find(|check| check.name == "subnet").unwrap();
        (found.outcome, found.detail())
    };
    let (harness, _running) = Harness::new("wedged-system-pool");
    let (outcome, detail) = subnet(&harness).await;
    assert_eq!(outcome, Outcome::Unknown, "AKS made the network: {detail}");
    harness.shell.with(|world, _| {
        let azure = world.azure_mut();
        let options = azure.options();
        let group = format!(
            "/subscriptions/{}/resourceGroups/{}",
            options.subscription, options.node_resource_group
        );
        let id = format!(
            "{group}/providers/Microsoft.Network/virtualNetworks/aks-vnet/subnets/aks-subnet"
        );
        let pool = format!("{}/agentPools/system", options.cluster_id());
        let mut pool = azure.resource(&pool).unwrap().clone();
        pool["properties"]["vnetSubnetID"] = id.into();
        azure.put_resource(pool);
    });
    // Three nodes with 111 addresses each; Azure reserves five, and four nodes have one.
    let (outcome, detail) = subnet(&harness).await;
    assert_eq!(outcome, Outcome::Pass, "{detail}");
    assert_eq!(detail, "333 IP addresses in aks-subnet needed, 65527 available");
}

/// New role assignments take time to propagate.
#[tokio::test(start_paused = true)]
async fn new_permission_is_waited_for_if_requested() {
    let deny = |harness: &Harness| {
        let action = "Microsoft.Insights/*".to_owned();
        let denial = ActionDenial { principal: None, action, scope: None };
        harness.shell.with(|world, _| world.azure_mut().deny(denial));
    };
    let (harness, _running) = Harness::new("wedged-system-pool");
    deny(&harness);
    let verdict = harness.operator().detect().await.detection.verdict;
    assert_eq!(verdict, WedgeVerdict::Unknown, "a person is informed at once");
    for (comes_after, wanted) in [(20, WedgeVerdict::Confirmed), (1200, WedgeVerdict::Unknown)] {
        let (harness, _running) = Harness::new("wedged-system-pool");
        deny(&harness);
        let mut operator = harness.operator();
        let messages = Rc::new(Cell::new(0));
        let say = Rc::clone(&messages);
        let count = move |text: &str| {
            assert!(text.contains("Microsoft.Insights/eventtypes/values/read"), "{text}");
            say.set(say.get() + 1);
        };
        operator.wait_for_permissions(SignedDuration::from_mins(1), Box::new(count));
        let began = tokio::time::Instant::now();
        let come = async {
            tokio::time::sleep(Duration::from_secs(comes_after)).await;
            harness.shell.with(|world, _| world.azure_mut().clear_denials());
            std::future::pending::<()>().await;
        };
        let report = tokio::select! { report = operator.detect() => report, () = come => panic!() };
        assert_eq!(report.detection.verdict, wanted, "{}", shown(&report));
        // At 5, 15, 35 and 60 seconds.
        let expected = if comes_after < 60 { (35, 3) } else { (60, 4) };
        assert_eq!((began.elapsed().as_secs(), messages.get()), expected);
        // The budget is that of the whole step, and a healthy pool needs none.
        deny(&harness);
        let left = 60 - expected.0;
        let began = tokio::time::Instant::now();
        operator.examine(None, None).await;
        assert_eq!(began.elapsed().as_secs(), left, "{wanted:?}");
    }
    let (harness, _running) = Harness::new("healthy");
    deny(&harness);
    let mut operator = harness.operator();
    operator.wait_for_permissions(SignedDuration::from_mins(1), Box::new(|_| panic!()));
    let began = tokio::time::Instant::now();
    operator.examine(None, None).await;
    assert_eq!(began.elapsed(), Duration::ZERO);
}

/// The API server rejects renewals of the Lease from five minutes on, and everything else works.
fn without_renewals(seconds: Option<u64>) -> ClusterOptions {
    let mut options = ClusterOptions::default();
    options.kubernetes.faults.push(FaultRule {
        when: CallSelector {
            method: Some("PUT".to_owned()),
            path: Some("*/leases/*".to_owned()),
            ..CallSelector::default()
        },
        then: Fault::Status { status: 503, code: None, retry_after: None },
        probability: 1.0,
        from_seconds: 300,
        until_seconds: seconds.map(|seconds| 300 + seconds),
        skip: 0,
        times: None,
    });
    options
}

/// Another process may hold the Lease 30 s after its last renewal.
#[tokio::test(start_paused = true)]
async fn changes_stop_20_s_after_the_last_lock_renewal() {
    let (harness, _running) = Harness::with("wedged-system-pool", without_renewals(None));
    let began = harness.shell.now();
    let ending = harness.go().await.unwrap();
    assert!(
        matches!(&ending, CommandResult::Resumable(why) if why.contains("could not be renewed")),
        "{ending:?}"
    );
    let last = harness.changed_at.lock().unwrap().unwrap().duration_since(began);
    assert!(last < SignedDuration::from_secs(320), "{last:?}");
}

#[tokio::test(start_paused = true)]
async fn run_continues_after_renewals_of_the_lock_failed_for_40_s() {
    let (harness, _running) = Harness::with("wedged-system-pool", without_renewals(Some(40)));
    harness.completes().await;
}

/// A run that was killed after the request for its temporary pool.
async fn killed_after_put(harness: &Harness) {
    for kill in 0.. {
        assert!(harness.process(Some(kill)).go().await.is_none(), "it was never killed");
        let text = journal(harness)["data"]["run"].as_str().unwrap_or_default().to_owned();
        let stored = decode::<PoolRepair>(&text).ok().and_then(|runs| runs.last);
        let put = stored.as_ref().and_then(|run| run.attempt("put pool systmp"));
        if put.is_some_and(|put| put.result.is_some()) {
            return;
        }
    }
}

fn journal(harness: &Harness) -> Value {
    harness.shell.with(|world, _| {
        let mut maps = world.kubernetes().objects("configmaps", Some("mooring-system"));
        maps.next().cloned().unwrap_or_default()
    })
}

/// Rewrites the journal, as any client with write access can.
fn rewrite(harness: &Harness, change: impl FnOnce(&mut Run)) {
    let object = journal(harness);
    let runs: Runs = decode(object["data"]["run"].as_str().unwrap()).unwrap();
    let mut run = runs.last.unwrap();
    change(&mut run);
    let data = serde_json::json!({"data": {"run": encode(&run, &runs.past)}});
    harness.shell.with(|world, now| {
        let key = Key { namespace: "mooring-system".into(), name: "repair-system".into() };
        world.kubernetes_mut().change("configmaps", &key, &data, now).unwrap();
    });
}

/// Resumes a run with a forged operation. Requests that leave the origin fail in `harness.rs`, where they are sent.
async fn follow_forged(monitor: &str) {
    let (harness, _running) = Harness::new("wedged-system-pool");
    killed_after_put(&harness).await;
    rewrite(&harness, |run| {
        let mut forged = 0;
        for token in run.attempts.values_mut().filter_map(|attempt| attempt.token.as_mut()) {
            let mut operation: Value = serde_json::from_str(token).unwrap();
            operation["monitor"] = serde_json::json!({"status": monitor});
            *token = operation.to_string();
            forged += 1;
        }
        assert!(forged > 0, "no operation is in the journal");
    });
    // After a failed creation, the run reads the reason.
    harness.shell.with(|world, _| {
        let azure = world.azure_mut();
        let id = format!("{}/agentPools/systmp", azure.options().cluster_id());
        if let Some(mut pool) = azure.resource(&id).cloned() {
            pool["properties"]["provisioningState"] = "Failed".into();
            azure.put_resource(pool);
        }
    });
    let ending = harness.go().await.unwrap();
    assert!(matches!(ending, CommandResult::Stopped(_)), "{monitor}: {ending:?}");
}

#[tokio::test(start_paused = true)]
async fn forged_operation_with_user_info_is_never_followed() {
    follow_forged("@localhost:9443/steal").await;
}

#[tokio::test(start_paused = true)]
async fn older_journal_copy_is_reported_with_the_snapshot() {
    let (harness, _running) = Harness::new("wedged-system-pool");
    killed_after_put(&harness).await;
    // The Lease of the killed process expires.
    tokio::time::sleep(Duration::from_secs(30)).await;
    // A backup from the end of an earlier run.
    rewrite(&harness, |run| {
        *run = Run::begin("earlier", run.session.clone(), run.started);
        let finished = Entry::Finished { finish: Finish::Refused, left: Vec::new() };
        run.change(run.started, &finished).unwrap();
    });
    let applied = harness.apply(|_| {}).await;
    let CommandResult::Refused(refused) = applied else { panic!("{applied:?}") };
    let resumed = harness.resume(&Consent::Unattended).await;
    let CommandResult::Failed(failed) = resumed else { panic!("{resumed:?}") };
    for text in [refused.to_string(), failed] {
        for part in [
            "it is an older copy",
            "Restore the newer copy",
            "that of run earlier",
            "plan.poolBody",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}

/// A cluster that replaced the one of the plan may have a copy of its journal.
#[tokio::test(start_paused = true)]
async fn run_of_a_replaced_cluster_is_not_resumed() {
    let (harness, _running) = Harness::new("wedged-system-pool");
    let run = harness.apply(|plan| {
        let mut document = PlanDocument::clone(&plan.document);
        document.cluster_uid = Some("replaced".to_owned());
        plan.document = HashedPlan::new(document);
    });
    let killed = tokio::time::timeout(Duration::from_secs(90), run).await;
    assert!(killed.is_err(), "{killed:?}");
    // The Lease of the killed process expires.
    tokio::time::sleep(Duration::from_secs(30)).await;
    let sent = harness.sent.lock().unwrap().len();
    let resumed = harness.resume(&Consent::Pipeline).await;
    let CommandResult::Failed(text) = resumed else { panic!("{resumed:?}") };
    assert!(text.contains("is for another cluster: the uid of kube-system is"), "{text}");
    assert!(text.contains("and was replaced in the approved plan"), "{text}");
    assert_eq!(harness.sent.lock().unwrap().len(), sent, "nothing is changed");
}

mod slow {
    use super::*;

    #[test]
    fn kill_around_any_change_ends_like_a_clean_run() {
        let (wanted, changes) = in_virtual_time(async {
            let (clean, _running) = Harness::new("wedged-system-pool");
            clean.completes().await;
            (clean.end_state().await, clean.changes.load(Ordering::Relaxed))
        });
        assert!(changes >= 10, "{changes}");
        on_all_cores(0..2 * changes, |kill| in_virtual_time(killed(kill, &wanted)));
    }

    async fn killed(kill: u64, wanted: &Value) {
        let (harness, _running) = Harness::new("wedged-system-pool");
        assert!(harness.process(Some(kill)).go().await.is_none(), "kill {kill} was never reached");
        harness.process(None).completes().await;
        assert_eq!(harness.end_state().await, *wanted, "kill {kill}");
    }

    #[tokio::test(start_paused = true)]
    async fn forged_operation_is_never_followed_to_another_host() {
        for monitor in [
            "@localhost:9443/steal",
            ".evil.example/x",
            "//evil.example/x",
            "https://evil.example/x",
        ] {
            follow_forged(monitor).await;
        }
    }
}

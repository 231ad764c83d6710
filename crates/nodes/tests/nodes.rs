//! Live objects and the failure record become one inventory.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use mooring_nodes::claim::vm_id::Interner;
use mooring_nodes::record::counts::{self, CountedNode};
use mooring_nodes::record::{FailureRecord, RecordDocument};
use mooring_nodes::{
    AksPool, Claim, Count, Filter, Fleet, FleetVerdict, Inventory, JoinState, JoinTimes, Node,
    NodeItem, Pool, PoolKind, PoolState, Reads, groups, pools,
};
use mooring_workflow::Reading;
use serde_json::{Value, json};

const OLD: &str = "AKSAzureLinux/V3gen2/202601.13.0";
const NEW: &str = "AKSAzureLinux/V3gen2/202601.27.0";

fn now() -> Timestamp {
    "2026-11-17T09:14:00Z".parse().unwrap()
}

fn ago(minutes: i64) -> String {
    (now() - SignedDuration::from_mins(minutes)).to_string()
}

fn image(name: &str) -> String {
    let version = name.rsplit('/').next().unwrap();
    format!(
        "/CommunityGalleries/AKSAzureLinux-f7c7cda5-1c9a-4bdc-a222-9614c968580b/images/V3gen2/versions/{version}"
    )
}

/// A NodeClaim of pool `default` that was launched ten minutes ago.
fn claim(name: &str, of_image: &str, conditions: &Value) -> Arc<Claim> {
    let mut all = vec![
        json!({"type": "Launched", "status": "True", "reason": "Launched", "lastTransitionTime": ago(10)}),
    ];
    all.extend(conditions.as_array().unwrap().iter().cloned());
    // The last of a type counts.
    let kinds: Vec<Value> = all.iter().skip(1).map(|one| one["type"].clone()).collect();
    if kinds.contains(&json!("Launched")) {
        all.remove(0);
    }
    let object = json!({
        "metadata": {
            "name": name, "uid": format!("u-{name}"), "creationTimestamp": ago(11),
            "labels": {"karpenter.sh/nodepool": "default"},
        },
        "spec": {"nodeClassRef": {"group": "karpenter.azure.com", "name": "linux"}},
        "status": {
            "imageID": image(of_image),
            "providerID": format!("azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/aks-{name}"),
            "conditions": all,
        },
    });
    let text = object.to_string();
    Claim::from_json(text.as_bytes(), "CSEProvisioned", &mut Interner::default()).unwrap().into()
}

fn joined(name: &str, of_image: &str) -> Arc<Claim> {
    let condition =
        |kind: &str| json!({"type": kind, "status": "True", "lastTransitionTime": ago(8)});
    claim(name, of_image, &json!([condition("Registered"), condition("Initialized")]))
}

fn node(name: &str, labels: &Value, ready: (&str, &str, i64)) -> NodeItem {
    let (status, message, minutes) = ready;
    let object = json!({
        "metadata": {"name": name, "uid": format!("n-{name}"), "creationTimestamp": ago(60), "labels": labels},
        "spec": {"providerID": "azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/x/virtualMachines/0"},
        "status": {"conditions": [
            {"type": "Ready", "status": status, "message": message, "lastTransitionTime": ago(minutes)},
        ]},
    });
    NodeItem::parse(&serde_json::value::to_raw_value(&object).unwrap()).unwrap()
}

fn entry(name: &str, of_image: &str, cause: &str, minutes: i64) -> FailureRecord {
    serde_json::from_value(json!({
        "id": format!("{name}-{cause}"), "at": ago(minutes), "uid": format!("u-{name}"), "nodeClaim": name,
        "pool": "default", "nodeClass": "linux", "node": format!("aks-{name}"), "reason": "CSEFailed",
        "message": "m", "note": "n", "key": cause, "code": 211, "name": "ERR_ORAS_PULL_NETWORK_TIMEOUT",
        "effectiveCode": 232, "cause": cause, "summary": "m", "owner": "image", "confidence": "high", "image": of_image,
        "evidence": "oras: command not found", "launched": ago(minutes + 1),
    }))
    .unwrap()
}

fn record(entries: &[FailureRecord]) -> RecordDocument {
    let mut document = RecordDocument::default();
    document.merge(entries, 50);
    document
}

fn merge(claims: &[Arc<Claim>], nodes: &[NodeItem], entries: &[FailureRecord]) -> Inventory {
    let registered = claims.iter().filter(|item| item.registered.is_some());
    let label = json!({"karpenter.sh/nodepool": "default"});
    let is_given = |name: &str| nodes.iter().any(|node| node.name == name);
    let names = registered.map(|item| item.node_name()).filter(|name| !is_given(name));
    let ready = names.map(|name| node(&name, &label, ("True", "", 5)));
    let nodes = nodes.iter().cloned().chain(ready).collect();
    let record = Reading::Known(Arc::new(record(entries)));
    let claims = Reading::Known(claims.to_vec());
    Inventory::merge(&claims, &Reading::Known(nodes), &record, now())
}

fn all_pools(inventory: &Inventory) -> Vec<Pool> {
    pools(inventory, &Fleet::of(inventory, None), &JoinTimes::of(&inventory.nodes, now()))
}

fn find<'a>(inventory: &'a Inventory, name: &str) -> &'a Node {
    inventory.nodes.iter().find(|node| node.is_named(name)).unwrap()
}

#[test]
fn facts_of_one_nodeclaim_are_one_node() {
    let ready = node("aks-good", &json!({"karpenter.sh/nodepool": "default"}), ("True", "", 5));
    let claims =
        [joined("good", OLD), claim("bad", NEW, &json!([])), claim("new", NEW, &json!([]))];
    let entries =
        [entry("bad", NEW, "OrasBinaryMissing", 3), entry("gone", NEW, "OrasBinaryMissing", 90)];
    let inventory = merge(&claims, &[ready], &entries);
    assert_eq!(inventory.nodes.len(), 4);
    let state = |name: &str| {
        let node = find(&inventory, name);
        (node.state, node.exists, node.is_failed(), node.has_joined())
    };
    assert_eq!(state("good"), (JoinState::Ready, true, false, true));
    assert_eq!(state("aks-good"), state("good"), "the name of the Node");
    assert_eq!(state("bad"), (JoinState::Failed, true, true, false));
    assert_eq!(state("new"), (JoinState::Joining, true, false, false));
    assert_eq!(state("gone"), (JoinState::Failed, false, true, false));
    let gone = find(&inventory, "gone");
    assert_eq!((gone.pool.as_deref(), gone.seconds_to_failure()), (Some("default"), Some(60)));
    let failure = gone.failure.as_ref().unwrap();
    assert_eq!((failure.stage, failure.code().unwrap().code), ("bootstrap", 232));
    assert_eq!(failure.code().unwrap().name.as_deref(), Some("ERR_ORAS_BINARY_NOT_FOUND"));
    let good = find(&inventory, "good");
    assert_eq!(good.seconds_to_join(), Some(180));
    let times = [good.created_at, good.launched_at, good.node_created_at, good.joined_at];
    assert_eq!(times.map(|at| at.unwrap().to_string()), [ago(11), ago(10), ago(60), ago(8)]);
    assert_eq!(good.ready_at.map(|at| at.to_string()), Some(ago(5)));
    let vm =
        "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/aks-good";
    assert_eq!(good.vm_id.as_deref(), Some(vm));
    let new = find(&inventory, "new");
    assert_eq!((new.node_created_at, new.ready_at), (None, None));
    assert_eq!((&gone.vm_id, gone.node_created_at), (&None, None));
}

#[test]
fn node_of_a_scale_set_has_its_id_and_times() {
    let ready = node("aks-a", &json!({}), ("True", "", 5));
    let waiting = node("aks-b", &json!({}), ("False", "starting", 5));
    let mut elsewhere = node("aks-c", &json!({}), ("True", "", 5));
    elsewhere.provider_id = "kind://docker/kind/control-plane".to_owned();
    let inventory = merge(&[], &[ready, waiting, elsewhere], &[]);
    let instance = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/x/virtualMachines/0";
    let facts = |name: &str| {
        let node = find(&inventory, name);
        let text = |at: Option<Timestamp>| at.map(|at| at.to_string());
        (node.vm_id.clone(), text(node.node_created_at), text(node.ready_at))
    };
    assert_eq!(facts("aks-a"), (Some(instance.to_owned()), Some(ago(60)), Some(ago(5))));
    assert_eq!(facts("aks-b"), (Some(instance.to_owned()), Some(ago(60)), None));
    assert_eq!(facts("aks-c").0, None);
}

#[test]
fn condition_without_a_record_is_diagnosed() {
    let message = "CSE exited with code 50 (ERR_OUTBOUND_CONN_FAIL): outbound connectivity failed";
    let condition = json!([{
        "type": "CSEProvisioned", "status": "False", "reason": "CSEFailed", "message": message,
        "lastTransitionTime": ago(4),
    }]);
    let claims = Reading::Known(vec![claim("bad", OLD, &condition)]);
    let nodes = Reading::Known(Vec::new());
    let inventory = Inventory::merge(&claims, &nodes, &Reading::NotFound, now());
    let failure = find(&inventory, "bad").failure.as_ref().unwrap();
    assert_eq!(failure.reported.as_ref().unwrap().code, 50, "{failure:?}");
    assert_eq!(failure.condition_reason, "CSEFailed");
    assert!(failure.failed_at.is_some() && failure.is_confirmed);
}

#[test]
fn launch_error_is_a_failure_and_waiting_is_not() {
    let launch = |reason: &str, message: &str| {
        let condition = json!([{"type": "Launched", "status": "Unknown", "reason": reason, "message": message}]);
        let inventory = merge(&[claim("x", OLD, &condition)], &[], &[]);
        let node = find(&inventory, "x").clone();
        (node.state, node.failure.map(|failure| (failure.stage, failure.condition_reason)))
    };
    let failed = Some(("launch", "LaunchFailed".to_owned()));
    assert_eq!(launch("LaunchFailed", "something strange happened"), (JoinState::Failed, failed));
    assert_eq!(
        launch("AwaitingReconciliation", "object is awaiting reconciliation"),
        (JoinState::Joining, None)
    );
}

#[test]
fn nodes_of_aks_pools_that_were_never_ready_are_failures() {
    let labels = json!({
        "kubernetes.azure.com/agentpool": "system",
        "kubernetes.azure.com/node-image-version": "AKSAzureLinux-V3gen2-202601.13.0",
    });
    let message =
        "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady";
    let nodes = [
        node("aks-a", &labels, ("True", "", 60)),
        node("aks-b", &labels, ("False", message, 60)),
        node("aks-c", &labels, ("Unknown", "Kubelet stopped posting node status.", 5)),
    ];
    let inventory = merge(&[], &nodes, &[]);
    let facts = |name: &str| {
        let node = find(&inventory, name);
        (node.state, node.failure.as_ref().map(|failure| failure.stage), node.pool_kind)
    };
    assert_eq!(facts("aks-a"), (JoinState::Ready, None, PoolKind::AksPool));
    assert_eq!(facts("aks-b"), (JoinState::NotReady, Some("ready"), PoolKind::AksPool));
    assert_eq!(
        facts("aks-c"),
        (JoinState::NotReady, None, PoolKind::AksPool),
        "it was ready before"
    );
    assert_eq!(find(&inventory, "aks-a").image.as_deref(), Some(OLD));
    let all = all_pools(&inventory);
    assert_eq!(all[0].name, "system");
    assert_eq!([all[0].ready, all[0].nodes], [1, 3].map(Count::Exact));
    assert_eq!(all[0].failed, Count::AtLeast(1), "Azure may have VMs that never joined");
    assert_eq!(all[0].state, PoolState::NotReady);
}

#[test]
fn message_of_a_never_ready_node_is_diagnosed() {
    let labels = json!({"kubernetes.azure.com/agentpool": "system"});
    let network = "container runtime network not ready: NetworkReady=false \
                   reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin \
                   not initialized";
    let nodes = [
        node("aks-a", &labels, ("False", network, 60)),
        node("aks-b", &labels, ("False", "node is shutting down", 60)),
    ];
    let inventory = merge(&[], &nodes, &[]);
    let cause = |name: &str| {
        let failure = find(&inventory, name).failure.as_ref().unwrap();
        (failure.cause.as_str(), failure.owner.as_deref())
    };
    assert_eq!(cause("aks-a"), ("CniNotReady", Some("operator")));
    assert_eq!(cause("aks-b"), ("NodeNotReady", None));
}

#[test]
fn equal_failures_are_one_group() {
    let mut entries: Vec<FailureRecord> =
        (0..37).map(|n| entry(&format!("b{n:02}"), NEW, "OrasBinaryMissing", 5 + n)).collect();
    entries.push(entry("other", OLD, "ApiServerUnreachable", 30));
    entries[3].evidence = Some("another line".to_owned());
    let mut unconfirmed = entry("maybe", NEW, "OrasBinaryMissing", 2);
    unconfirmed.unconfirmed = true;
    entries.push(unconfirmed);
    let found = groups(&merge(&[claim("b00", NEW, &json!([]))], &[], &entries));
    assert_eq!(found.len(), 3);
    let first = &found[0];
    assert_eq!((first.failed, first.existing, first.with_evidence), (37, 1, 36));
    assert_eq!(first.evidence[0].line, "oras: command not found");
    assert_eq!((first.nodes[0].as_str(), first.nodes.len()), ("b00", 37), "the last failure first");
    assert_eq!(first.last_at.unwrap().to_string(), ago(5));
    assert_eq!(first.first_at.unwrap().to_string(), ago(41));
    assert_eq!(first.seconds_to_failure, Some(60));
    assert_eq!((found[1].cause.as_str(), found[1].failed), ("ApiServerUnreachable", 1));
    assert!(!found[2].is_confirmed, "reported by events only");
}

#[test]
fn image_is_at_fault_only_with_enough_nodes_on_both_sides() {
    let failed = |count: usize, of_image: &str, cause: &str| -> Vec<FailureRecord> {
        (0..count).map(|n| entry(&format!("{cause}{n}"), of_image, cause, 9)).collect()
    };
    let good = |count: usize| -> Vec<Arc<Claim>> {
        (0..count).map(|n| joined(&format!("g{n}"), OLD)).collect()
    };
    let verdict = |claims: &[Arc<Claim>], entries: &[FailureRecord]| {
        Fleet::of(&merge(claims, &[], entries), None).rows[0].verdict
    };
    let missing = |count| failed(count, NEW, "OrasBinaryMissing");
    assert_eq!(verdict(&good(6), &missing(5)), FleetVerdict::Image);
    assert_eq!(verdict(&good(6), &missing(3)), FleetVerdict::TooFewNodes);
    assert_eq!(verdict(&good(3), &missing(5)), FleetVerdict::TooFewNodes);
    let everywhere = [missing(5), failed(6, OLD, "OrasBinaryMissing")].concat();
    // The ids of both lists are equal for the first five; those of the second list are other NodeClaims.
    let everywhere: Vec<FailureRecord> = everywhere
        .into_iter()
        .enumerate()
        .map(|(n, entry)| FailureRecord { id: n.to_string(), uid: n.to_string(), ..entry })
        .collect();
    assert_eq!(verdict(&[], &everywhere), FleetVerdict::NotTheImage);
    assert_eq!(verdict(&good(6), &failed(5, NEW, "CSENotCreated")), FleetVerdict::NotTheImage);
    let fleet = Fleet::of(&merge(&good(6), &[], &missing(5)), None);
    let row = &fleet.rows[0];
    assert_eq!(
        (row.here.failed, row.here.nodes, row.others.failed, row.others.nodes),
        (5, 5, 0, 6)
    );
    assert_eq!((row.here.low, row.here.high), (56.6, 100.0));
    assert_eq!(
        (row.pools.as_slice(), row.node_classes.as_slice()),
        (&["default".to_owned()][..], &["linux".to_owned()][..])
    );
    let counts = [fleet.ready, fleet.failed, fleet.failed_existing];
    assert_eq!(counts, [6, 5, 0].map(Count::Exact));
}

#[test]
fn pool_shows_its_newest_image_and_its_state() {
    let good: Vec<Arc<Claim>> = (0..6).map(|n| joined(&format!("g{n}"), OLD)).collect();
    let state = |entries: &[FailureRecord]| {
        let inventory = merge(&good, &[], entries);
        let all = all_pools(&inventory);
        let [ready, failed] = [all[0].ready, all[0].failed].map(|count| count.exact().unwrap());
        (all[0].state, all[0].new_image.clone().unwrap(), ready, failed)
    };
    let failed = |count: usize, cause: &str| -> Vec<FailureRecord> {
        (0..count).map(|n| entry(&format!("b{n}"), NEW, cause, 2)).collect()
    };
    assert_eq!(state(&[]), (PoolState::Healthy, OLD.to_owned(), 6, 0));
    assert_eq!(
        state(&failed(5, "OrasBinaryMissing")),
        (PoolState::ImageFails, NEW.to_owned(), 6, 5)
    );
    assert_eq!(state(&failed(3, "VMNotRunning")), (PoolState::Failing, NEW.to_owned(), 6, 3));
    assert_eq!(state(&failed(2, "VMNotRunning")).0, PoolState::Healthy);
}

#[test]
fn aks_pool_that_failed_or_lacks_nodes_is_degraded() {
    let labels = json!({"kubernetes.azure.com/agentpool": "system"});
    let state = |wanted, state: &str| {
        let mut inventory = merge(&[], &[node("aks-a", &labels, ("True", "", 60))], &[]);
        let pool =
            |name: &str| AksPool { name: name.to_owned(), wanted, state: Some(state.to_owned()) };
        inventory.set_aks_pools(Reading::Known(vec![pool("system"), pool("empty")]));
        let filter = Filter { pool: Some("system".to_owned()), ..Filter::default() };
        assert_eq!(inventory.filtered(&filter).aks_pools.len(), 1);
        let all = all_pools(&inventory);
        assert_eq!((all[0].name.as_str(), all[0].wanted), ("empty", wanted));
        let azure = all[1].provisioning_state.as_deref();
        assert_eq!((all[1].nodes, azure), (Count::Exact(1), Some(state)));
        [all[0].state, all[1].state]
    };
    let (healthy, degraded) = (PoolState::Healthy, PoolState::Degraded);
    assert_eq!(state(Some(1), "Succeeded"), [degraded, healthy]);
    assert_eq!(state(Some(2), "Succeeded"), [degraded, degraded]);
    let not_ready = PoolState::NotReady;
    assert_eq!(state(Some(2), "Scaling"), [not_ready, not_ready], "nodes are on their way");
    assert_eq!(state(Some(0), "Failed"), [degraded, degraded]);
    let unknown = PoolState::NotChecked;
    assert_eq!(state(None, "Succeeded"), [unknown, unknown], "the number of nodes is not known");
}

#[test]
fn nodes_that_an_aks_pool_lacks_may_be_joining_or_have_failed() {
    let labels = json!({"kubernetes.azure.com/agentpool": "system"});
    let unknown = Count::Unknown;
    let counts = |wanted: usize, nodes: i64, is_read: bool| {
        let ready = (0..nodes).map(|at| node(&format!("aks-{at}"), &labels, ("True", "", 60)));
        let mut inventory = merge(&[joined("good", OLD)], &ready.collect::<Vec<_>>(), &[]);
        let (name, state) = ("system".to_owned(), Some("Succeeded".to_owned()));
        let pool = vec![AksPool { name, wanted: Some(wanted), state }];
        let denied = Reading::Denied("no".to_owned());
        inventory.set_aks_pools(if is_read { Reading::Known(pool) } else { denied });
        let fleet = Fleet::of(&inventory, None);
        let pools = all_pools(&inventory);
        let pool = pools.last().unwrap();
        ([pool.joining, pool.failed], [fleet.joining, fleet.failed])
    };
    let none = [Count::Exact(0); 2];
    assert_eq!(counts(2, 2, true), (none, none));
    assert_eq!(counts(3, 2, true), ([unknown; 2], [unknown; 2]));
    assert_eq!(counts(2, 2, false), ([unknown; 2], [unknown; 2]));
    assert_eq!(counts(3, 0, true), ([unknown; 2], [unknown; 2]), "all are missing");
}

#[test]
fn filters_leave_out_other_failures() {
    let entries = [entry("a", NEW, "OrasBinaryMissing", 5), entry("b", OLD, "ScriptTimedOut", 600)];
    let inventory = merge(&[joined("good", OLD)], &[], &entries);
    let names = |filter: Filter| -> Vec<String> {
        inventory.filtered(&filter).nodes.iter().map(|node| node.name().to_owned()).collect()
    };
    let hour = Some(now() - SignedDuration::from_hours(1));
    assert_eq!(names(Filter { since: hour, ..Filter::default() }), ["good", "a"]);
    let of = |image: &str| Filter { image: Some(image.to_owned()), ..Filter::default() };
    assert_eq!(names(of("202601.27.0")), ["a"]);
    assert_eq!(names(of(OLD)), ["b", "good"]);
    let cause = Filter { cause: Some("scripttimedout".to_owned()), ..Filter::default() };
    assert_eq!(names(cause), ["b"]);
    let pool = Filter { pool: Some("system".to_owned()), ..Filter::default() };
    assert_eq!(names(pool), [""; 0]);
}

#[test]
fn counts_complete_the_record_and_no_node_counts_twice() {
    let entries: Vec<FailureRecord> =
        (0..60).map(|n| entry(&format!("b{n:02}"), NEW, "OrasBinaryMissing", 70 - n)).collect();
    let good: Vec<Arc<Claim>> = (0..6).map(|n| joined(&format!("g{n}"), OLD)).collect();
    let mut outcomes: Vec<CountedNode> = entries.iter().map(CountedNode::of_failure).collect();
    let at = |minutes: i64| ago(minutes).parse().unwrap();
    // Two joined nodes exist, ten were deleted.
    let joined_at = |uid: &str| CountedNode::new(uid, at(8), "default", OLD, None);
    outcomes.extend(["u-g0", "u-g1"].map(joined_at));
    outcomes.extend((0..10).map(|n| joined_at(&format!("deleted-{n}"))));
    // Counted with a cause that a later diagnosis replaced.
    let replaced = FailureRecord { cause: "ScriptTimedOut".to_owned(), ..entry("r", NEW, "x", 4) };
    outcomes.push(CountedNode::of_failure(&replaced));
    let mut counted = counts::CountsDocument::new(at(120));
    assert!(counted.merge(&outcomes, now()));
    // A failure that is not counted yet.
    let mut all = entries;
    all.push(entry("new", NEW, "OrasBinaryMissing", 1));
    all.push(entry("r", NEW, "OrasBinaryMissing", 3));
    let mut inventory = merge(&good, &[], &all);
    inventory.counts = Some(Arc::new(counted));
    let filter = Filter { since: Some(at(134)), ..Filter::default() };
    let selected = inventory.filtered(&filter);
    let listed = selected.nodes.iter().filter(|node| node.is_failed()).count();
    assert_eq!((listed, selected.failed()), (50, Count::Exact(62)));
    let fleet = Fleet::of(&selected, filter.since);
    let row = &fleet.rows[0];
    let failed: Vec<u32> = fleet.rows.iter().map(|row| row.here.failed).collect();
    assert_eq!(
        (failed.as_slice(), fleet.failed),
        (&[61, 1][..], Count::Exact(62)),
        "{:?}",
        fleet.rows
    );
    assert_eq!((row.here.nodes, row.others.failed, row.others.nodes), (62, 0, 16));
    let found = groups(&selected);
    assert_eq!((found[0].failed, found[0].nodes.len(), found[1].failed), (61, 50, 1));
    assert_eq!(all_pools(&selected)[0].failed, Count::Exact(62));
    let recent = Filter { since: Some(at(14)), ..Filter::default() };
    assert_eq!(inventory.filtered(&recent).failed(), Count::Exact(6), "only the last half hour");
    let other = Filter { pool: Some("gpu".to_owned()), ..filter };
    assert_eq!(inventory.filtered(&other).failed(), Count::Exact(0));
}

#[test]
fn pool_is_healthy_only_if_all_that_could_deny_it_was_read() {
    type Set = fn(&mut Reads, Reading<()>);
    let labels = json!({"kubernetes.azure.com/agentpool": "system"});
    let ready = node("aks-system", &labels, ("True", "", 60));
    let mut all = merge(&[joined("good", OLD)], &[ready], &[]);
    let system =
        AksPool { name: "system".to_owned(), wanted: Some(1), state: Some("Succeeded".to_owned()) };
    all.set_aks_pools(Reading::Known(vec![system.clone()]));
    let states = |inventory: &Inventory| {
        let pools = all_pools(inventory);
        (pools[0].name.clone(), pools[0].state, pools[1].state)
    };
    let (healthy, unknown) = (PoolState::Healthy, PoolState::Unknown);
    let not_checked = PoolState::NotChecked;
    let of = |default, system| ("default".to_owned(), default, system);
    assert_eq!(states(&all), of(healthy, healthy));
    let denied = || Reading::Denied("no".to_owned());
    let cases: [(Set, [PoolState; 2], [PoolState; 2]); 4] = [
        (|reads, read| reads.claims = read, [unknown, healthy], [not_checked, healthy]),
        (|reads, read| reads.nodes = read, [unknown, unknown], [not_checked, not_checked]),
        (|reads, read| reads.record = read, [unknown, healthy], [not_checked, healthy]),
        (|reads, read| reads.runs = read, [healthy, healthy], [healthy, healthy]),
    ];
    for (at, (set, failed, unasked)) in cases.into_iter().enumerate() {
        for (read, [default, system]) in [(denied(), failed), (Reading::NotAsked, unasked)] {
            let mut inventory = all.clone();
            set(&mut inventory.reads, read.clone());
            assert_eq!(states(&inventory), of(default, system), "{at} {read:?}");
        }
    }
    for (read, state) in [(denied(), unknown), (Reading::NotAsked, not_checked)] {
        let mut inventory = all.clone();
        inventory.set_aks_pools(read.map(|()| Vec::new()));
        assert_eq!(states(&inventory), of(healthy, state), "{read:?}");
        assert_eq!(all_pools(&inventory)[1].joining, Count::Unknown);
    }
    // Without a record, nodes that exist are all that is known.
    all.reads.record = Reading::NotFound;
    let default = &all_pools(&all)[0];
    assert_eq!((default.state, default.failed), (healthy, Count::Unknown));
    // Nodes that were not read are not missing.
    let nodes = Reading::Denied("no".to_owned());
    let claims = Reading::Known(vec![joined("good", OLD)]);
    let mut blind = Inventory::merge(&claims, &nodes, &Reading::NotFound, now());
    blind.set_aks_pools(Reading::Known(vec![AksPool { wanted: Some(3), ..system }]));
    let pools = all_pools(&blind);
    assert_eq!(pools[1].state, unknown, "0 of 3 nodes is not known");
    assert_eq!((pools[0].ready, pools[0].nodes), (Count::Unknown, Count::AtLeast(1)));
}

#[test]
fn joining_node_is_undecided_until_azure_was_read() {
    let all = merge(&[joined("good", OLD), claim("new", NEW, &json!([]))], &[], &[]);
    let state = |azure: Reading<()>| {
        let mut inventory = all.clone();
        inventory.set_azure("u-new", azure);
        // Four minutes after its creation, when it is not late.
        let times = JoinTimes::of(&inventory.nodes, now() - SignedDuration::from_mins(7));
        let pool = &pools(&inventory, &Fleet::of(&inventory, None), &times)[0];
        (pool.state, pool.failed)
    };
    assert_eq!(state(Reading::Known(())), (PoolState::Healthy, Count::Exact(0)));
    let failed = Reading::Failed("HTTP 503".to_owned());
    assert_eq!(state(failed), (PoolState::Unknown, Count::Unknown));
    assert_eq!(state(Reading::NotAsked), (PoolState::NotChecked, Count::Unknown));
}

#[test]
fn pool_with_a_failure_and_without_a_ready_node_fails() {
    let entries = [entry("b", NEW, "VMNotRunning", 2)];
    let state = |claims: &[Arc<Claim>]| all_pools(&merge(claims, &[], &entries))[0].state;
    assert_eq!(state(&[]), PoolState::Failing);
    assert_eq!(state(&[joined("good", OLD)]), PoolState::Healthy, "it is replaced");
}

/// Sentences are shown, and never read: not those of conditions, and not those of the record.
#[test]
fn words_of_a_sentence_change_nothing_but_itself() {
    const OTHER_WORDS: &str = " (in other words)";
    let shown = |words: &str| {
        let condition = |reason: &str, message: &str| {
            json!([{
                "type": "CSEProvisioned", "status": "False", "reason": reason,
                "message": format!("{message}{words}"), "lastTransitionTime": ago(5),
            }])
        };
        let claims = [
            claim(
                "coded",
                NEW,
                &condition("CSEFailed", "CSE exited with code 211 on node aks-coded"),
            ),
            claim("plain", NEW, &condition("NodeNotRegistered", "the node did not register")),
            joined("good", OLD),
        ];
        let mut entries = [
            entry("gone", NEW, "OrasBinaryMissing", 9),
            entry("early", NEW, "VMExtensionProvisioningError", 8),
            entry("late", OLD, "NodeNeverReady", 7),
        ];
        entries[1].unconfirmed = true;
        entries[2].is_idle = true;
        for entry in &mut entries {
            for text in [&mut entry.message, &mut entry.note, &mut entry.summary] {
                text.push_str(words);
            }
        }
        let inventory = merge(&claims, &[], &entries);
        let nodes: Vec<&Node> = inventory.nodes.iter().collect();
        let fleet = Fleet::of(&inventory, None);
        json!([nodes, groups(&inventory), fleet, all_pools(&inventory)]).to_string()
    };
    let reworded = shown(OTHER_WORDS);
    assert!(reworded.contains(OTHER_WORDS));
    assert_eq!(reworded.replace(OTHER_WORDS, ""), shown(""));
}

//! Verdicts for a table of activity logs and live states.

use jiff::{SignedDuration, Timestamp};
use mooring_repair::checks::evaluate;
use mooring_repair::observation::{
    ActivityEvent, ClusterView, Instance, ManagedCluster, Nic, Node, Pool, ScaleSet,
};
use mooring_repair::settings::Settings;
use mooring_repair::signatures::Signatures;
use mooring_repair::verdict::{WedgeVerdict, verdict};
use mooring_workflow::Reading;
use mooring_workflow::reading::Named;
use mooring_workflow::{CheckResult, Outcome};
use serde_json::{Value, json};

use crate::common::target;

const SET: &str = "/subscriptions/s/resourceGroups/MC/providers/Microsoft.Compute/virtualMachineScaleSets/aks-system-1-vmss";
const OTHER_SET: &str = "/subscriptions/s/resourceGroups/MC/providers/Microsoft.Compute/virtualMachineScaleSets/aks-user-1-vmss";
const CODE: &str = "NetworkingInternalOperationError";
/// Age of an instance without a creation time.
const NO_AGE: i64 = i64::MAX;

/// A log, live state, and the expected verdict.
struct Case {
    name: &'static str,
    log: Log,
    live: Live,
    expected: (Outcome, WedgeVerdict),
}

/// Builder of the events of an activity log.
#[derive(Clone, Default)]
struct Log(Vec<Value>);

/// Live state in addition to the log. By default, every interface has an IP address.
#[derive(Clone, Default)]
struct Live {
    /// Interfaces: `ipConfigurations`, if present, and the age of the instance in minutes.
    nics: Vec<(Option<Value>, i64)>,
    /// Failed instances: code, and minutes since creation and failure.
    failed: Vec<(&'static str, i64)>,
    /// Accelerated networking of the scale set, and the value of the pool's tag.
    accelerated: Option<(Value, bool)>,
    /// The activity log cannot be read.
    throttled: bool,
    /// Reading the interfaces is denied.
    denied: bool,
    /// The pool is otherwise healthy.
    well: bool,
}

const CONFIRMED: (Outcome, WedgeVerdict) = (Outcome::Pass, WedgeVerdict::Confirmed);
/// The pool is Failed and lacks nodes, but not because of its writes.
const SUSPECT: (Outcome, WedgeVerdict) = (Outcome::Fail, WedgeVerdict::Suspect);
const UNKNOWN: (Outcome, WedgeVerdict) = (Outcome::Unknown, WedgeVerdict::Unknown);
const HEALTHY: (Outcome, WedgeVerdict) = (Outcome::Fail, WedgeVerdict::Healthy);

#[rustfmt::skip]
fn cases() -> Vec<Case> {
    let live = Live::default;
    let case = |name, log, live, expected| Case { name, log, live, expected };
    // Twelve writes, one every 180 seconds, the last one 21 minutes ago; each Started, Accepted and Failed.
    let storm = || Log::storm(12, 180, 21);
    let empty = || Some(json!([]));
    vec![
        // Patterns of AKS.
        case("one every 180 seconds", storm(), live(), CONFIRMED),
        case("five of five", Log::storm(5, 180, 21), live(), CONFIRMED),
        case("shared correlation id", storm().shared(), live(), CONFIRMED),
        case("20 minutes late", Log::storm(12, 180, 1).late(20), live(), CONFIRMED),
        case("out of order", storm().out_of_order(), live(), CONFIRMED),
        case("late, out of order and shared", Log::storm(20, 180, 1).shared().late(20).out_of_order(), live(), CONFIRMED),
        case("flat error", storm().error(&json!({"error": {"code": CODE}})), live(), CONFIRMED),
        case("wrapped as a deployment", storm().error(&wrapped("ResourceDeploymentFailure", CODE)), live(), CONFIRMED),
        case("error as a text in a message", storm().error(&json!({"error": {"code": "X", "message": format!("Code=\"{CODE}\" Message=\"m\"")}})), live(), CONFIRMED),
        case("no operation ids", storm().without("operationId"), live(), CONFIRMED),
        case("no operation ids, shared correlation id", storm().shared().without("operationId"), live(), CONFIRMED),
        case("every event twice, over two pages", storm().twice(), live(), CONFIRMED),
        case("spelled in other cases", storm().shouted(), live(), CONFIRMED),
        case("success before the storm", storm().and("Succeeded", 70), live(), CONFIRMED),
        case("success of another scale set", storm().and_of("Succeeded", 5, OTHER_SET), live(), CONFIRMED),
        case("canceled by a user in between", storm().and("Canceled", 25), live(), CONFIRMED),
        case("one running now", storm().and("Started", 1), live(), CONFIRMED),
        case("spread over the whole window", Log::storm(5, 80 * 60, 30), live(), CONFIRMED),
        // Not, or not yet.
        case("four of five, long enough ago", Log::storm(4, 180, 20), live(), SUSPECT),
        case("four of five, a fifth may be hidden", Log::storm(4, 180, 19), live(), UNKNOWN),
        case("one in a pool that is well otherwise", Log::storm(1, 180, 5), Live { well: true, ..live() }, UNKNOWN),
        case("silence in a pool that is well", Log::default(), Live { well: true, ..live() }, HEALTHY),
        case("silence in a pool that failed", Log::default(), live(), SUSPECT),
        case("recovered", storm().and("Succeeded", 19), live(), SUSPECT),
        case("recovered, shown late and out of order", storm().and("Succeeded", 20).out_of_order(), live(), SUSPECT),
        case("recovered under the same correlation id", storm().and("Succeeded", 19).shared(), live(), SUSPECT),
        case("recovered, and two failed since", storm().and("Succeeded", 25), live(), SUSPECT),
        case("recovered and well", storm().and("Succeeded", 19), Live { well: true, ..live() }, HEALTHY),
        case("less than 60 seconds apart", Log::storm(12, 5, 21), live(), SUSPECT),
        case("all in one operation", storm().one_operation(), live(), SUSPECT),
        case("ids of one request only", storm().shared().without("operationId").without("eventDataId"), live(), SUSPECT),
        case("one event many times", Log::storm(1, 180, 21).twice().twice().twice(), live(), SUSPECT),
        case("older than the window", Log::storm(12, 180, 361), live(), SUSPECT),
        case("throttled writes", storm().error(&wrapped("ResourceOperationFailure", "TooManyRequests")), live(), SUSPECT),
        case("quota", storm().error(&wrapped("ResourceOperationFailure", "OperationNotAllowed")), live(), SUSPECT),
        case("no capacity", storm().error(&json!({"error": {"code": "AllocationFailed"}})), live(), SUSPECT),
        case("policy", storm().error(&json!({"error": {"code": "RequestDisallowedByPolicy"}})), live(), SUSPECT),
        case("a longer code", storm().error(&json!({"error": {"code": format!("{CODE}Retry")}})), live(), SUSPECT),
        case("a wrapper without its content", storm().error(&json!({"error": {"code": "ResourceOperationFailure"}})), live(), SUSPECT),
        case("no error at all", storm().without("properties"), live(), SUSPECT),
        case("another scale set", storm().of(OTHER_SET), live(), SUSPECT),
        case("an extension of the scale set", storm().of(&format!("{SET}/extensions/vmssCSE")), live(), SUSPECT),
        case("deletions", storm().action("Microsoft.Compute/virtualMachineScaleSets/delete"), live(), SUSPECT),
        case("canceled by a user", storm().status("Failed", "Canceled"), live(), SUSPECT),
        case("accepted and not ended", storm().status("Failed", "Accepted"), live(), SUSPECT),
        case("the log is throttled", storm(), Live { throttled: true, ..live() }, UNKNOWN),
        // Live state, without a single event.
        case("an interface with an empty list", Log::default(), Live { nics: vec![(empty(), 60), (Some(address()), 900)], ..live() }, CONFIRMED),
        case("an empty list on a young instance", Log::default(), Live { nics: vec![(empty(), 9), (Some(address()), 900)], ..live() }, SUSPECT),
        case("an empty list on an instance that is just old enough", Log::default(), Live { nics: vec![(empty(), 10), (Some(address()), 900)], ..live() }, CONFIRMED),
        case("an empty list on an instance of unknown age", Log::default(), Live { nics: vec![(empty(), NO_AGE), (Some(address()), 900)], ..live() }, UNKNOWN),
        case("empty lists on instances of unknown and known age", Log::default(), Live { nics: vec![(empty(), NO_AGE), (empty(), 60)], ..live() }, CONFIRMED),
        case("a list that is null", Log::default(), Live { nics: vec![(Some(Value::Null), 60)], ..live() }, UNKNOWN),
        case("a list that is left out", Log::default(), Live { nics: vec![(None, 60)], ..live() }, UNKNOWN),
        case("a null list beside good ones", Log::default(), Live { nics: vec![(Some(Value::Null), 60), (Some(address()), 60)], ..live() }, SUSPECT),
        case("a null list on a young instance", Log::default(), Live { nics: vec![(None, 5)], ..live() }, SUSPECT),
        case("an empty list beside a null one", Log::default(), Live { nics: vec![(None, 60), (empty(), 60)], ..live() }, CONFIRMED),
        case("an empty list that a success has outlived", Log::default().and("Succeeded", 30), Live { nics: vec![(empty(), 60)], ..live() }, SUSPECT),
        case("an empty list after a success", Log::default().and("Succeeded", 90), Live { nics: vec![(empty(), 60)], ..live() }, CONFIRMED),
        case("an empty list, and the log is throttled", Log::default(), Live { nics: vec![(empty(), 60)], throttled: true, ..live() }, UNKNOWN),
        case("interfaces may not be read", Log::default(), Live { denied: true, ..live() }, UNKNOWN),
        case("interfaces may not be read, and a storm", storm(), Live { denied: true, ..live() }, CONFIRMED),
        case("an instance that failed with the code", Log::default(), Live { failed: vec![(CODE, 60)], ..live() }, CONFIRMED),
        case("an instance that failed just now", Log::default(), Live { failed: vec![(CODE, 5)], ..live() }, SUSPECT),
        case("an instance that failed with another code", Log::default(), Live { failed: vec![("VMExtensionProvisioningError", 60)], ..live() }, SUSPECT),
        case("an instance that failed before a success", storm().and("Succeeded", 19), Live { failed: vec![(CODE, 60)], ..live() }, SUSPECT),
        case("accelerated networking off where it is needed", Log::default(), Live { accelerated: Some((json!(false), true)), ..live() }, CONFIRMED),
        case("accelerated networking off where it is not needed", Log::default(), Live { accelerated: Some((json!(false), false)), ..live() }, SUSPECT),
        case("accelerated networking on", Log::default(), Live { accelerated: Some((json!(true), true)), ..live() }, SUSPECT),
        case("accelerated networking not stated", Log::default(), Live { accelerated: Some((Value::Null, true)), ..live() }, UNKNOWN),
    ]
}

#[test]
fn verdict_of_each_log_and_live_state_is_as_listed() {
    let cases = cases();
    assert!(cases.len() >= 20, "{}", cases.len());
    let wrong: Vec<String> = cases.iter().filter_map(|case| case.wrong(&settings())).collect();
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// A new defect needs only a file with its codes and messages.
#[test]
fn failures_count_within_the_window_and_from_a_threshold() {
    for (threshold, minutes, outcome) in [
        (1, 15, Outcome::Pass),
        (1, 16, Outcome::Fail),
        (1, -5, Outcome::Pass),
        (1, -6, Outcome::Fail),
        (0, 15, Outcome::Unknown),
    ] {
        let fail_window = SignedDuration::from_mins(15);
        let settings = Settings { fail_threshold: threshold, fail_window, ..settings() };
        let found =
            evaluate(&seen(&Log::storm(1, 180, minutes), &Live::default()), &settings, now());
        assert_eq!(found[1].outcome, outcome, "{threshold} {minutes}");
    }
}

#[test]
fn signatures_file_replaces_the_built_in_list() {
    let judge = |signature: &str, log: Log| {
        let text =
            format!("schema: mooring.signatures/v1\nsignatures:\n- name: next\n{signature}\n");
        let signatures = Signatures::parse("next.yaml", &text).unwrap();
        let settings = Settings { signatures, ..settings() };
        evaluate(&seen(&log, &Live::default()), &settings, now())[1].clone()
    };
    let storm = || Log::storm(12, 180, 21);
    let next = || storm().error(&wrapped("ResourceOperationFailure", "DiskServiceInternalError"));
    let by_code = "  errors: [{code: DiskServiceInternalError}]";
    assert_eq!(judge(by_code, next()).outcome, Outcome::Pass);
    assert!(judge(by_code, next()).evidence[0].contains("failed with DiskServiceInternalError"));
    assert_eq!(judge(by_code, storm()).outcome, Outcome::Fail);
    let by_message =
        "  errors: [{code: DiskServiceInternalError, message: unknown NETWORK allocation}]";
    assert_eq!(judge(by_message, next()).outcome, Outcome::Pass);
    let by_other = "  errors: [{code: DiskServiceInternalError, message: the disk is detached}]";
    assert_eq!(judge(by_other, next()).outcome, Outcome::Fail);
    // Each signature needs enough failures.
    let both = format!("{by_code}\n- name: known\n  errors: [{{code: {CODE}}}]");
    let mixed = |each| {
        let one = Log::storm(each, 360, 21);
        let other = Log::storm(each, 360, 24)
            .error(&wrapped("ResourceOperationFailure", "DiskServiceInternalError"))
            .named("d");
        Log([one.0, other.0].concat())
    };
    assert_eq!(judge(&both, mixed(4)).outcome, Outcome::Fail);
    assert_eq!(judge(&both, mixed(5)).outcome, Outcome::Pass);
}

impl Case {
    fn wrong(&self, settings: &Settings) -> Option<String> {
        let checks = evaluate(&seen(&self.log, &self.live), settings, now());
        let writes: &CheckResult =
            checks.iter().find(|check| check.name == "failing-writes").unwrap();
        let found = (writes.outcome, verdict(&checks));
        (found != self.expected).then(|| {
            format!(
                "{}: {found:?} instead of {:?}: {:?}",
                self.name, self.expected, writes.evidence
            )
        })
    }
}

fn now() -> Timestamp {
    "2026-05-27T12:00:00Z".parse().unwrap()
}

fn ago(minutes: i64) -> String {
    (now() - SignedDuration::from_mins(minutes)).to_string()
}

fn settings() -> Settings {
    Settings::new(target("system"))
}

fn wrapped(outer: &str, code: &str) -> Value {
    let details = json!([{"code": code, "message": "Unknown network allocation error."}]);
    json!({"status": "Failed", "error": {"code": outer, "message": "…", "details": details}})
}

fn address() -> Value {
    json!([{"properties": {"privateIPAddress": "10.0.0.4"}}])
}

fn event(operation: &str, status: &str, at: Timestamp) -> Value {
    let mut event = json!({
        "eventDataId": format!("{operation}-{status}"), "operationId": operation,
        "correlationId": format!("of-{operation}"), "resourceId": SET, "status": {"value": status},
        "operationName": {"value": "Microsoft.Compute/virtualMachineScaleSets/write"},
        "eventTimestamp": at.to_string(),
    });
    if status == "Failed" {
        let error = wrapped("ResourceOperationFailure", CODE).to_string();
        event["properties"] = json!({"statusMessage": error});
    }
    event
}

impl Log {
    /// Failed writes: count, interval in seconds, and minutes since the last one.
    fn storm(count: i64, apart: i64, last: i64) -> Self {
        let mut events = Vec::new();
        for turn in 0..count {
            let end =
                now() - SignedDuration::from_mins(last) - SignedDuration::from_secs(turn * apart);
            let operation = format!("o{turn}");
            let before = |seconds| end - SignedDuration::from_secs(seconds);
            events.push(event(&operation, "Failed", end));
            events.push(event(&operation, "Accepted", before(88)));
            events.push(event(&operation, "Started", before(90)));
        }
        Self(events)
    }

    fn each(mut self, change: impl Fn(&mut Value)) -> Self {
        self.0.iter_mut().for_each(change);
        self
    }

    fn and(self, status: &str, minutes: i64) -> Self {
        self.and_of(status, minutes, SET)
    }

    fn and_of(mut self, status: &str, minutes: i64, resource: &str) -> Self {
        let mut further = event("further", status, now() - SignedDuration::from_mins(minutes));
        further["resourceId"] = resource.into();
        self.0.push(further);
        self
    }

    fn shared(self) -> Self {
        self.each(|event| event["correlationId"] = "shared".into())
    }

    fn named(self, start: &str) -> Self {
        self.each(|event| {
            for member in ["operationId", "eventDataId", "correlationId"] {
                event[member] = format!("{start}{}", event[member].as_str().unwrap()).into();
            }
        })
    }

    fn one_operation(self) -> Self {
        self.each(|event| event["operationId"] = "one".into())
    }

    fn error(self, error: &Value) -> Self {
        let error = error.to_string();
        self.each(|event| {
            if event["status"]["value"] == "Failed" {
                event["properties"] = json!({"statusMessage": error});
            }
        })
    }

    fn without(self, member: &str) -> Self {
        self.each(|event| drop(event.as_object_mut().unwrap().remove(member)))
    }

    fn of(self, resource: &str) -> Self {
        self.each(|event| event["resourceId"] = resource.into())
    }

    fn action(self, name: &str) -> Self {
        self.each(|event| event["operationName"] = json!({"value": name}))
    }

    fn status(self, from: &str, to: &str) -> Self {
        self.each(|event| {
            if event["status"]["value"] == from {
                event["status"]["value"] = to.into();
            }
        })
    }

    fn shouted(self) -> Self {
        self.each(|event| {
            event["resourceId"] = event["resourceId"].as_str().unwrap().to_uppercase().into();
            let name = event["operationName"]["value"].as_str().unwrap().to_uppercase();
            event["operationName"] = json!({"value": format!(" {name} ")});
        })
    }

    /// Newer events are not visible yet.
    fn late(mut self, minutes: i64) -> Self {
        let shown = now() - SignedDuration::from_mins(minutes);
        self.0.retain(|event| {
            event["eventTimestamp"].as_str().unwrap().parse::<Timestamp>().unwrap() <= shown
        });
        self
    }

    fn out_of_order(mut self) -> Self {
        let length = self.0.len();
        self.0 = (0..length).map(|place| self.0[place * 7 % length].clone()).collect();
        self
    }

    fn twice(mut self) -> Self {
        self.0.extend_from_within(..);
        self
    }
}

/// A Failed pool that lacks a node, in a healthy cluster, with the state of the case.
fn seen(log: &Log, live: &Live) -> ClusterView {
    let mut seen = ClusterView::default();
    let cluster =
        json!({"id": "/subscriptions/s/c", "properties": {"provisioningState": "Succeeded"}});
    seen.cluster = (Reading::Known(ManagedCluster::read(&cluster).unwrap())).into();
    let (accelerated, needed) = live.accelerated.clone().unwrap_or((Value::Null, false));
    let state = if live.well { "Succeeded" } else { "Failed" };
    let pool = json!({"name": "system", "properties": {
        "provisioningState": state, "count": 2, "minCount": 2,
        "tags": if needed { json!({"aks-nic-enable-multi-tenancy": "True"}) } else { json!({}) },
    }});
    seen.pools = (Reading::Known(vec![Pool::read(&pool).unwrap()])).into();
    let set = json!({
        "id": SET, "name": "aks-system-1-vmss", "tags": {"aks-managed-poolName": "system"},
        "properties": {"virtualMachineProfile": {"networkProfile": {"networkInterfaceConfigurations": [
            {"properties": {"enableAcceleratedNetworking": accelerated}}]}}},
    });
    seen.scale_sets = (Reading::Known(vec![ScaleSet::read(&set).unwrap()])).into();
    let nodes = (0..if live.well { 2 } else { 1 }).map(|number| {
        Node::read(&json!({
            "metadata": {"name": format!("n{number}"), "labels": {"agentpool": "system"}},
            "status": {"conditions": [{"type": "Ready", "status": "True"}]},
        }))
    });
    seen.nodes = (Reading::Known(nodes.map(Option::unwrap).collect())).into();
    let instance = |number: usize| format!("{SET}/virtualMachines/{number}");
    let mut instances = Vec::new();
    let mut nics = Vec::new();
    for (number, (list, age)) in live.nics.iter().enumerate() {
        let created = (*age != NO_AGE).then(|| ago(*age));
        instances.push(json!({"id": instance(number), "properties": {"timeCreated": created}}));
        let mut nic =
            json!({"name": "n", "properties": {"virtualMachine": {"id": instance(number)}}});
        if let Some(list) = list {
            nic["properties"]["ipConfigurations"] = list.clone();
        }
        nics.push(nic);
    }
    for (number, (code, age)) in live.failed.iter().enumerate() {
        let status = json!({"code": format!("ProvisioningState/failed/{code}"), "time": ago(*age)});
        instances.push(json!({"id": instance(90 + number), "properties": {
            "timeCreated": ago(*age), "instanceView": {"statuses": [status]}}}));
    }
    let instances = instances.iter().filter_map(Instance::read).collect();
    seen.instances = Named::of("aks-system-1-vmss", Reading::Known(instances));
    seen.nics = Named::of(
        "aks-system-1-vmss",
        if live.denied {
            Reading::Denied("AuthorizationFailed".into())
        } else {
            Reading::Known(nics.iter().filter_map(Nic::read).collect())
        },
    );
    seen.events = (if live.throttled {
        Reading::Throttled("HTTP 429".into())
    } else {
        Reading::Known(log.0.iter().filter_map(ActivityEvent::read).collect())
    })
    .into();
    seen
}

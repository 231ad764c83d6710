//! The acceptance tables of request bodies, and of plans made of them.

use mooring_repair::checks::subnets;
use mooring_workflow::Finish;
use std::collections::BTreeSet;

use jiff::SignedDuration;
use mooring_repair::checks::Capacity;
use mooring_repair::documents::PublishedPlan;
use mooring_repair::observation::{ClusterView, ManagedCluster, Pool};
use mooring_repair::plan;
use mooring_repair::pool_body::{differences, intent_of, pool_body, temporary, temporary_count};
use mooring_repair::settings::VersionPolicy;
use mooring_repair::settings::VersionPolicy::{ControlPlane, Keep};
use mooring_repair::settings::{BudgetPolicy, Settings};
use mooring_repair::start_checks::{StartError, begin};
use mooring_repair::workflow::{Entry, Runs};
use mooring_workflow::Reading;
use mooring_workflow::approval::Approval;
use mooring_workflow::{CheckResult, Outcome};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::common::target;
use crate::fixtures::fixture;

fn live() -> Value {
    let mut pool = fixture!("04_agentpool_get_system_wedged");
    pool["properties"]["creationData"] = json!({"sourceResourceId": "/snapshots/x"});
    pool["properties"]["tags"]["user-tag"] = "kept".into();
    pool["properties"]["fromTheFuture"] = json!({"kept": true});
    pool
}

fn with(change: impl FnOnce(&mut Value)) -> Value {
    let mut pool = live();
    change(&mut pool);
    pool
}

fn temp(pool: &Value) -> Result<Value, &'static str> {
    temporary(pool, ControlPlane, Some("1.36.2"))
}

#[test]
fn read_only_members_are_removed_and_others_kept() {
    let before = live();
    let body = pool_body(&before, ControlPlane, Some("1.36.2")).unwrap();
    assert_eq!(before, live(), "the input is never changed");
    assert_eq!(body.as_object().unwrap().keys().collect::<Vec<_>>(), ["properties"]);
    let properties = &body["properties"];
    for name in [
        "provisioningState",
        "currentOrchestratorVersion",
        "nodeImageVersion",
        "powerState",
        "eTag",
    ] {
        assert!(properties.get(name).is_none(), "{name}");
    }
    for (name, value) in [
        ("creationData", json!({"sourceResourceId": "/snapshots/x"})),
        ("vmSize", json!("Standard_E8ds_v5")),
        ("count", json!(3)),
        ("minCount", json!(2)),
        ("maxCount", json!(4)),
        ("osDiskSizeGB", json!(128)),
        ("enableEncryptionAtHost", json!(true)),
        ("enableFIPS", json!(true)),
        ("mode", json!("System")),
        ("orchestratorVersion", json!("1.36.2")),
        ("fromTheFuture", json!({"kept": true})),
        ("tags", json!({"aks-nic-enable-multi-tenancy": "true", "user-tag": "kept"})),
    ] {
        assert_eq!(properties[name], value, "{name}");
    }
    for name in ["vnetSubnetID", "podSubnetID"] {
        assert_eq!(properties[name], before["properties"][name]);
    }
}

#[test]
fn pool_without_properties_or_version_is_rejected() {
    for pool in [json!(null), json!({}), json!({"properties": null}), json!([])] {
        assert_eq!(pool_body(&pool, Keep, None), Err("the pool has no properties"));
        assert_eq!(temp(&pool), Err("the pool has no properties"));
    }
    for version in [None, Some("")] {
        assert_eq!(
            pool_body(&live(), ControlPlane, version),
            Err("the Kubernetes version for the new pool is unknown")
        );
    }
}

#[test]
fn repair_upgrades_only_if_requested() {
    let version = |pool: &Value, policy: VersionPolicy| {
        pool_body(pool, policy, Some("1.36.2")).unwrap()["properties"]["orchestratorVersion"]
            .clone()
    };
    assert_eq!(version(&live(), Keep), "1.35.4");
    assert_eq!(version(&live(), ControlPlane), "1.36.2");
    let never_ran = with(|pool| {
        drop(pool["properties"].as_object_mut().unwrap().remove("currentOrchestratorVersion"));
    });
    assert_eq!(version(&never_ran, Keep), "1.35");
}

#[test]
fn absent_tags_stay_absent() {
    let pool = with(|pool| drop(pool["properties"].as_object_mut().unwrap().remove("tags")));
    assert!(pool_body(&pool, Keep, None).unwrap()["properties"].get("tags").is_none());
    let upper = with(|pool| {
        pool["properties"]["tags"] = json!({"AKS-managed-x": "kept", "aks-managed-x": "gone"});
    });
    assert_eq!(
        pool_body(&upper, Keep, None).unwrap()["properties"]["tags"],
        json!({"AKS-managed-x": "kept"})
    );
}

#[test]
fn count_outside_the_limits_is_clamped() {
    for (count, min, max, auto, mode, expected) in [
        (0, 2, 4, true, "System", 2),
        (9, 2, 4, true, "System", 4),
        (3, 2, 4, true, "System", 3),
        (0, 2, 4, false, "User", 0),
        (0, 0, 4, true, "User", 0),
        (0, 0, 4, true, "System", 1),
        (9, 2, 4, false, "User", 9),
        (0, 2, 4, false, "System", 1),
        (5, 6, 4, true, "User", 4),
    ] {
        let pool = with(|pool| {
            let p = &mut pool["properties"];
            (p["count"], p["minCount"], p["maxCount"], p["enableAutoScaling"], p["mode"]) =
                (count.into(), min.into(), max.into(), auto.into(), mode.into());
        });
        assert_eq!(
            pool_body(&pool, Keep, None).unwrap()["properties"]["count"],
            expected,
            "{count} {min} {max} {auto} {mode}"
        );
    }
    let none = with(|pool| drop(pool["properties"].as_object_mut().unwrap().remove("count")));
    assert!(pool_body(&none, Keep, None).unwrap()["properties"].get("count").is_none());
}

#[test]
fn temporary_pool_inherits_the_configuration() {
    let before = live();
    let body = temp(&before).unwrap();
    assert_eq!(before, live());
    let properties = &body["properties"];
    for name in [
        "vmSize",
        "mode",
        "enableFIPS",
        "enableEncryptionAtHost",
        "nodeTaints",
        "nodeLabels",
        "availabilityZones",
        "maxPods",
        "vnetSubnetID",
        "podSubnetID",
        "osDiskSizeGB",
        "osDiskType",
        "osType",
        "osSKU",
        "count",
    ] {
        assert_eq!(properties[name], before["properties"][name], "{name}");
    }
    for name in ["minCount", "maxCount", "enableAutoScaling"] {
        assert!(properties.get(name).is_none(), "{name}");
    }
    assert_eq!(properties["orchestratorVersion"], "1.36.2");
    assert_eq!(
        properties["tags"],
        json!({
            "aks-nic-enable-multi-tenancy": "true", "user-tag": "kept", "mooring-purpose": "repair-temporary-pool",
            "mooring-source": before["id"],
        })
    );
    let user = with(|pool| pool["properties"]["mode"] = "User".into());
    assert_eq!(temp(&user).unwrap()["properties"]["mode"], "User");
    let bare = with(|pool| {
        let p = pool["properties"].as_object_mut().unwrap();
        p.remove("podSubnetID");
        p.remove("tags");
    });
    let body = temp(&bare).unwrap();
    assert!(body["properties"].get("podSubnetID").is_none());
    assert_eq!(body["properties"]["tags"]["mooring-purpose"], "repair-temporary-pool");
}

#[test]
fn temporary_pool_requires_a_vm_size_and_a_source() {
    let gone = |name: &'static str| {
        with(move |pool| drop(pool["properties"].as_object_mut().unwrap().remove(name)))
    };
    for (pool, error) in [
        (gone("vmSize"), "the pool has no vmSize"),
        (with(|pool| pool["properties"]["vmSize"] = "".into()), "the pool has no vmSize"),
        (
            with(|pool| drop(pool.as_object_mut().unwrap().remove("id"))),
            "the pool has no resource id",
        ),
        (with(|pool| pool["id"] = "".into()), "the pool has no resource id"),
    ] {
        assert_eq!(temp(&pool), Err(error));
    }
    assert_eq!(
        temporary(&live(), ControlPlane, Some("")),
        Err("the Kubernetes version for the new pool is unknown")
    );
    for default in
        [gone("osDiskSizeGB"), with(|pool| pool["properties"]["osDiskSizeGB"] = 0.into())]
    {
        let body = temp(&default).unwrap();
        assert_eq!(body["properties"].get("osDiskSizeGB"), None, "the service's default");
    }
    assert!(temp(&with(|pool| pool["properties"]["osDiskSizeGB"] = 1.into())).is_ok());
}

#[test]
fn temporary_pool_is_as_large_as_the_pool() {
    for (count, min, expected) in [
        (Some(3), Some(5), 3),
        (None, Some(4), 4),
        (Some(0), Some(2), 2),
        (None, None, 1),
        (Some(0), Some(0), 1),
        (Some(1), None, 1),
    ] {
        assert_eq!(temporary_count(count, min), expected, "{count:?}/{min:?}");
    }
}

#[test]
fn edits_count_and_changes_by_the_service_do_not() {
    let then = intent_of(&live()).unwrap();
    let same = with(|pool| {
        pool["properties"]["provisioningState"] = "Canceled".into();
        pool["properties"]["count"] = 4.into();
        pool["properties"]["eTag"] = "other".into();
        pool["properties"]["tags"]["aks-managed-y"] = "z".into();
    });
    assert_eq!(intent_of(&same).unwrap(), then);
    assert_ne!(intent_of(&with(|pool| pool["properties"]["maxCount"] = 9.into())).unwrap(), then);
    let fixed = |count: i64| {
        intent_of(&with(|pool| {
            pool["properties"]["enableAutoScaling"] = false.into();
            pool["properties"]["count"] = count.into();
        }))
        .unwrap()
    };
    assert_ne!(fixed(3), fixed(4));
}

#[test]
fn differences_are_requested_members_that_are_missing() {
    let wanted = json!({"properties": {"a": 1, "b": {"c": [1]}, "d": null, "e": [], "f": {}}});
    assert_eq!(
        differences(
            &wanted,
            &json!({"id": "x", "properties": {"a": 1, "b": {"c": [1], "z": 1}, "e": null}})
        ),
        Vec::<String>::new()
    );
    assert_eq!(
        differences(&wanted, &json!({"properties": {"a": 2, "b": {"c": []}, "d": 1}})),
        ["/properties/a", "/properties/b/c", "/properties/d"]
    );
    assert_eq!(differences(&json!({"a": []}), &json!({"a": [1]})), ["/a"]);
}

fn plan_of(pool: &Value) -> plan::Plan {
    let never_deleted = Reading::Known(0);
    plan_with(pool, &Capacity { deletions: never_deleted, ..Capacity::unread() })
}

fn plan_with(pool: &Value, capacity: &Capacity) -> plan::Plan {
    planned(pool, capacity, |_| {})
}

fn planned(pool: &Value, capacity: &Capacity, set: impl FnOnce(&mut Settings)) -> plan::Plan {
    planned_with(pool, capacity, &[], EXPIRES, set)
}

const EXPIRES: &str = "2026-05-26T21:40:00Z";

fn planned_with(
    pool: &Value,
    capacity: &Capacity,
    checks: &[CheckResult],
    expires: &str,
    set: impl FnOnce(&mut Settings),
) -> plan::Plan {
    planned_in(None, pool, capacity, checks, expires, set)
}

/// A plan for the cluster with this uid of `kube-system`.
fn planned_in(
    uid: Option<&str>,
    pool: &Value,
    capacity: &Capacity,
    checks: &[CheckResult],
    expires: &str,
    set: impl FnOnce(&mut Settings),
) -> plan::Plan {
    let mut seen = ClusterView::default();
    let cluster = ManagedCluster::read(&fixture!("01_managed_cluster_get_succeeded")).unwrap();
    seen.cluster = (Reading::Known(cluster)).into();
    seen.pools = (Reading::Known(vec![Pool::read(pool).unwrap()])).into();
    seen.scale_sets = (Reading::Known(Vec::new())).into();
    if let Some(uid) = uid {
        seen.uid = Reading::Known(uid.to_owned()).into();
    }
    let mut settings = Settings::new(target("system"));
    set(&mut settings);
    plan::build(&seen, &settings, capacity, checks, expires.parse().unwrap()).unwrap()
}

/// Approved without `--journal`, applied with it.
#[test]
fn approved_plan_applies_with_any_journal_location() {
    let behind = |pool: &mut Value| {
        pool["properties"]["currentOrchestratorVersion"] = "1.30.0".into();
    };
    let (pool, capacity) = (with(behind), Capacity::unread());
    let plan = plan_with(&pool, &capacity);
    let elsewhere = planned(&pool, &capacity, |settings| {
        settings.journal = "ops".into();
        settings.limits.overall = SignedDuration::from_mins(5);
        settings.target.cluster = "C".into();
    });
    assert_eq!(elsewhere.hash, plan.hash);
    let upgraded = planned(&pool, &capacity, |settings| {
        settings.version = VersionPolicy::ControlPlane;
    });
    assert_ne!(upgraded.hash, plan.hash, "another version is another plan");
}

#[test]
fn plan_applies_a_minute_later_unless_the_pool_is_edited() {
    let plan = plan_of(&live());
    let later = with(|pool| {
        pool["properties"]["provisioningState"] = "Failed".into();
        pool["properties"]["eTag"] = "e2".into();
    });
    assert_eq!(plan_of(&later).hash, plan.hash);
    for edit in [
        with(|pool| pool["properties"]["count"] = 4.into()),
        with(|pool| pool["properties"]["nodeLabels"]["x"] = "y".into()),
    ] {
        assert_ne!(plan_of(&edit).hash, plan.hash);
        assert_ne!(plan_of(&edit).document.pool_hash, plan.document.pool_hash);
    }
    assert_eq!(plan.hash, plan.document.token().to_string());
    assert_eq!(plan.temporary_pool, "systmp");
}

#[test]
fn subnet_needs_free_addresses_for_the_temporary_pool() {
    let cluster = |pods_in_subnet: bool| {
        let raw = json!({"id": "/c"});
        ManagedCluster { pods_in_subnet, ..ManagedCluster::read(&raw).unwrap() }
    };
    let pool = |pods: Option<&str>| {
        let raw = json!({"name": "system", "properties": {"count": 3, "maxPods": 10,
            "vnetSubnetID": "/n/nodes", "podSubnetID": pods}});
        Pool::read(&raw).unwrap()
    };
    let need = |id: &str, addresses: i64| (id.to_owned(), addresses);
    assert_eq!(subnets(&cluster(true), &pool(None)), [need("/n/nodes", 33)]);
    assert_eq!(subnets(&cluster(false), &pool(None)), [need("/n/nodes", 3)]);
    assert_eq!(
        subnets(&cluster(true), &pool(Some("/n/pods"))),
        [need("/n/nodes", 3), need("/n/pods", 30)]
    );
    let mut large = (*pool(Some("/n/pods")).raw).clone();
    large["properties"]["maxPods"] = 110.into();
    let large = subnets(&cluster(true), &Pool::read(&large).unwrap());
    assert_eq!(large, [need("/n/nodes", 3), need("/n/pods", 48)], "by batches of 16");
    let bare = Pool::read(&json!({"name": "system", "properties": {"count": 3}})).unwrap();
    assert_eq!(subnets(&cluster(true), &bare), []);

    let live = live();
    let named = |name: &str| live["properties"][name].as_str().unwrap().to_owned();
    let (nodes, pods) = (named("vnetSubnetID"), named("podSubnetID"));
    let check = |free: &[(&str, Reading<i64>)]| {
        let mut capacity = Capacity::unread();
        capacity.free_addresses =
            free.iter().map(|(id, free)| ((*id).to_owned(), free.clone())).collect();
        let plan = plan_with(&live, &capacity);
        let found = plan.checks.into_iter().find(|check| check.name == "subnet").unwrap();
        (found.outcome, found.detail())
    };
    let plenty = || Reading::Known(10_000);
    assert_eq!(check(&[(&nodes, plenty()), (&pods, plenty())]).0, Outcome::Pass);
    assert_eq!(check(&[(&nodes, Reading::Known(3)), (&pods, plenty())]).0, Outcome::Pass);
    let (outcome, detail) = check(&[(&nodes, Reading::Known(2)), (&pods, plenty())]);
    assert_eq!(outcome, Outcome::Fail);
    assert!(
        detail.starts_with("3 IP addresses in ") && detail.ends_with("2 available"),
        "{detail}"
    );
    let denied = || Reading::Denied("AuthorizationFailed".to_owned());
    let (outcome, detail) = check(&[(&nodes, plenty()), (&pods, denied())]);
    assert_eq!(outcome, Outcome::Unknown);
    assert!(detail.contains("AuthorizationFailed"), "{detail}");
    assert_eq!(check(&[(&nodes, denied()), (&pods, Reading::Known(0))]).0, Outcome::Fail);
    assert_eq!(check(&[]).0, Outcome::Unknown, "nothing was read");
}

#[test]
fn hostile_text_changes_no_form_of_a_plan() {
    const HOSTILE: &str = "x\u{1b}[2J\u{202e}|`a`<script>\"\n| b | c |\n    s1 --> s2";
    let clean = plan_of(&with(|_| {}));
    let mut plan = clean.clone();
    plan.pool = HOSTILE.to_owned();
    plan.cluster = HOSTILE.to_owned();
    plan.steps[0].what = HOSTILE;
    plan.steps[0].risk = Some(HOSTILE);
    plan.checks[0].evidence = vec![HOSTILE.to_owned()];
    plan.changes.push(HOSTILE.to_owned());
    let forms = [shown(&plan), plan::markdown(&plan), plan::mermaid(&plan)];
    for text in &forms {
        let hidden = |c: char| c != '\n' && mooring_redact::is_hidden(c);
        assert!(!text.contains(hidden), "{text:?}");
    }
    let rows = |text: &str| text.lines().filter(|line| line.starts_with('|')).count();
    assert_eq!(rows(&forms[1]), rows(&plan::markdown(&clean)));
    let bars = |row: &str| row.replace("\\|", "").matches('|').count();
    let even = |row: &str| !row.starts_with('|') || matches!(bars(row), 6 | 4);
    assert!(forms[1].lines().all(even), "{}", forms[1]);
    assert_eq!(forms[2].lines().count(), plan::mermaid(&clean).lines().count());
    assert!(!forms[2].contains("<script>"), "{}", forms[2]);
}

#[test]
fn all_formats_of_a_plan_have_the_same_steps() {
    let plan = plan_of(&with(|pool| {
        pool["properties"]["windowsProfile"] = json!({"adminPassword": "hunter2"});
    }));
    let published = PublishedPlan { plan: &plan, next: &[] };
    let json = serde_json::to_string(&published).unwrap();
    for text in [shown(&plan), plan::markdown(&plan), plan::mermaid(&plan), json] {
        for step in plan::Step::ALL {
            assert!(text.contains(step.name()), "{}", step.name());
        }
        assert!(!text.contains("hunter2"));
    }
    assert!(shown(&plan).contains(&plan.hash));
    assert!(
        plan.changes
            .iter()
            .any(|change| change.contains("/properties/windowsProfile/adminPassword"))
    );
}

#[test]
fn run_starts_only_with_the_approved_plan_and_all_checks() {
    let plan = plan_of(&live());
    let settings = Settings::new(target("system"));
    let check = |outcome, overridden: Option<&str>, transient| CheckResult {
        name: "pool-state".into(),
        outcome,
        evidence: vec!["why".into()],
        overridden: overridden.map(str::to_owned),
        transient,
    };
    let now: jiff::Timestamp = "2026-05-26T20:40:00Z".parse().unwrap();
    let by = |runs: &Runs, approval, check: CheckResult, now| {
        begin(runs, &plan, &[check], &settings, approval, "r", now)
    };
    let typed = || Approval::Typed(plan.document.hash());
    let none = Runs::default();
    let ask = |runs: &Runs, check| by(runs, typed(), check, now);
    let pass = || check(Outcome::Pass, None, false);
    let first = by(&none, Approval::Token(plan.document.token()), pass(), now).unwrap();
    assert_eq!(first.session.plan, plan.document);
    assert!(ask(&none, pass()).is_ok());
    let other = plan_of(&with(|pool| pool["properties"]["count"] = 4.into())).document;
    for approval in [
        Approval::Token(other.token()),
        Approval::Typed(other.hash()),
        Approval::Pipeline(other.hash()),
    ] {
        let changed = by(&none, approval, pass(), now);
        assert!(matches!(changed, Err(StartError::PlanChanged { .. })), "{changed:?}");
    }
    // The approval of an earlier process does not apply to a new plan.
    for approval in [Approval::Anchored(plan.document.hash()), Approval::Rollback, Approval::None] {
        assert!(by(&none, approval, pass(), now).is_err());
    }
    for when in ["2026-05-26T20:39:59Z", EXPIRES] {
        let late = by(&none, typed(), pass(), when.parse().unwrap());
        assert!(matches!(late, Err(StartError::Expired(_))), "{when}: {late:?}");
    }
    let refused = Err(StartError::Refused(vec!["pool-state: why".into()]));
    assert_eq!(ask(&none, check(Outcome::Fail, None, false)), refused);
    assert_eq!(ask(&none, check(Outcome::Unknown, None, false)), refused);
    assert!(ask(&none, check(Outcome::Unknown, None, true)).is_ok());
    assert!(ask(&none, check(Outcome::Fail, Some("ticket 7"), false)).is_ok());
    let mut runs = Runs { last: Some(first), past: Vec::new() };
    assert_eq!(ask(&runs, pass()), Err(StartError::Unfinished("r".into())));
    let end = Entry::Finished { finish: Finish::Refused, left: vec![] };
    runs.last.as_mut().unwrap().change(now, &end).unwrap();
    assert!(ask(&runs, pass()).is_ok());
}

#[test]
fn plan_hash_covers_checks_settings_overrides_and_expiry() {
    let capacity = Capacity::unread();
    let check = |outcome| CheckResult {
        name: "pool-state".into(),
        outcome,
        evidence: vec!["evidence is for people".into()],
        overridden: None,
        transient: false,
    };
    let with_guard = |outcome| planned_with(&live(), &capacity, &[check(outcome)], EXPIRES, |_| {});
    let with_flag = |set: fn(&mut Settings)| planned(&live(), &capacity, set);
    let known = Capacity { deletions: Reading::Known(0), ..Capacity::unread() };
    let plans = [
        with_guard(Outcome::Pass),
        with_guard(Outcome::Fail),
        with_guard(Outcome::Unknown),
        plan_with(&live(), &known),
        planned_with(&live(), &capacity, &[check(Outcome::Pass)], "2026-05-26T21:40:01Z", |_| {}),
        with_flag(|settings| settings.add_override("pool-state=a").unwrap()),
        with_flag(|settings| settings.add_override("pool-state=b").unwrap()),
        with_flag(|settings| settings.add_override("quota=a").unwrap()),
        with_flag(|settings| settings.fail_threshold = 1),
        with_flag(|settings| settings.fail_window = SignedDuration::from_mins(1)),
        with_flag(|settings| settings.add_wedge_state("Canceled").unwrap()),
        with_flag(|settings| settings.limits.drain = SignedDuration::from_mins(1)),
        with_flag(|settings| settings.limits.operation_age = SignedDuration::ZERO),
        with_flag(|settings| settings.budgets = BudgetPolicy::Stop),
        with_flag(|settings| settings.target.subscription = "another".into()),
    ];
    let hashes: BTreeSet<_> = plans.iter().map(|plan| plan.document.hash()).collect();
    assert_eq!(hashes.len(), plans.len());
    let mut evidence = check(Outcome::Fail);
    evidence.evidence = vec!["a minute later".into()];
    let later = planned_with(&live(), &capacity, &[evidence], EXPIRES, |_| {});
    assert_eq!(later.hash, plans[1].hash);
}

/// The same names in Azure can be those of a cluster that was deleted and created again.
#[test]
fn plan_approved_for_another_cluster_is_refused() {
    let capacity = Capacity { deletions: Reading::Known(0), ..Capacity::unread() };
    let plan = |uid| planned_in(uid, &live(), &capacity, &[], EXPIRES, |_| {});
    let (ours, other) = (plan(Some("a")), plan(Some("b")));
    let hashes: BTreeSet<_> = [&ours, &other, &plan(None)].map(|one| one.document.hash()).into();
    assert_eq!(hashes.len(), 3);
    let now = "2026-05-26T20:40:00Z".parse().unwrap();
    let settings = ours.document.settings.clone();
    let begin = |approval| begin(&Runs::default(), &ours, &[], &settings, approval, "r", now);
    assert!(begin(Approval::Token(ours.document.token())).is_ok());
    let refused = begin(Approval::Token(other.document.token()));
    assert!(matches!(refused, Err(StartError::PlanChanged { .. })), "{refused:?}");
}

#[test]
fn plan_document_survives_its_own_json() {
    let plan = plan_of(&live()).document;
    let text = serde_json::to_string(&*plan).unwrap();
    let read: plan::HashedPlan = serde_json::from_str(&text).unwrap();
    assert_eq!(*read, *plan);
    assert_eq!(read.hash(), plan.hash());
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-zA-Z-]{0,12}".prop_map(Value::from)
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        let names = prop_oneof![
            "[a-z]{1,6}",
            Just("properties".to_owned()),
            Just("tags".to_owned()),
            Just("aks-managed-a".to_owned()),
            Just("count".to_owned()),
            Just("adminPassword".to_owned())
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(names, inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn pool_body_never_panics_or_keeps_read_only_members(pool in any_json()) {
        let before = pool.clone();
        let _ = temporary(&pool, ControlPlane, Some("1.2.3"));
        if let Ok(body) = pool_body(&pool, ControlPlane, Some("1.2.3")) {
            prop_assert!(body.get("id").is_none());
            prop_assert_eq!(&body["properties"]["orchestratorVersion"], "1.2.3");
            let tags = body["properties"]["tags"].as_object();
            prop_assert!(tags.into_iter().flatten().all(|(name, _)| !name.starts_with("aks-managed-")));
            // The conversion is idempotent.
            prop_assert_eq!(pool_body(&body, ControlPlane, Some("1.2.3")).unwrap(), body);
        }
        prop_assert_eq!(pool, before);
    }

    #[test]
    fn stripped_members_are_removed(pool in any_json()) {
        let mut copy = pool.clone();
        mooring_redact::json::strip(&mut copy);
        prop_assert_eq!(mooring_redact::json::strip(&mut copy), Vec::<String>::new());
    }
}

/// The screen of a plan.
pub(crate) fn shown(plan: &plan::Plan) -> String {
    let settings = Settings::new(crate::common::target(&plan.pool));
    let report = mooring_repair::report::detect(&ClusterView::default(), &settings, plan.expires);
    mooring_repair::screens::plan(plan, &report, Some(&[]), true)
        .render(&mooring_terminal::Style::PIPE)
}

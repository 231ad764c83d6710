//! The model of Karpenter, verified by `recorded.tsv`: recordings of the real one
//! (karpenter-provider-azure 352646f5 on core v1.14.0, August 2026) when a bootstrap fails, by
//! provisioning mode. The table has facts, not results of the model; if the two differ, the model
//! is wrong.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use mooring_simulator::azure::Cse;
use mooring_simulator::karpenter::{self, ProvisionMode};
use serde_json::Value;

use super::karpenter::{BROKEN, with};
use super::support::{Harness, NODE_CLAIMS, condition};

const NAME: &str = "default-r";
const TABLE: &str = include_str!("recorded.tsv");

type Facts = BTreeMap<&'static str, String>;

fn recorded(mode: &str) -> BTreeMap<&'static str, String> {
    let rows = TABLE.lines().filter(|line| !line.starts_with('#'));
    let rows = rows.map(|line| line.split('\t').collect::<Vec<_>>());
    rows.filter(|row| row[0] == mode || row[0] == "*")
        .map(|row| (row[1], row[2].to_owned()))
        .collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or("absent").to_owned()
}

fn seconds_between(earlier: &Value, later: Timestamp) -> i64 {
    let earlier: Timestamp = text(earlier).parse().unwrap();
    later.duration_since(earlier).as_secs()
}

fn events(harness: &Harness, reason: &str) -> Vec<Value> {
    let events = harness.world.kubernetes().objects("events", Some("default"));
    events.filter(|event| event["reason"] == reason).cloned().collect()
}

/// Returns true if a VM of the NodeClaim exists.
fn has_vm(harness: &Harness, provider_id: &str) -> bool {
    let id = provider_id.strip_prefix("azure://").unwrap_or(provider_id);
    harness.world.azure().resource(id).is_some()
}

fn members(value: &Value) -> String {
    let names: BTreeSet<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    names.into_iter().collect::<Vec<_>>().join(" ")
}

/// Collects facts about the NodeClaim before anything has failed.
fn about_the_claim(claim: &Value, facts: &mut Facts) {
    let image = text(&claim["status"]["imageID"]);
    let form = if image.starts_with("/CommunityGalleries/") {
        "community gallery"
    } else if image.starts_with("/subscriptions/") {
        "gallery of a subscription"
    } else {
        "name"
    };
    facts.insert("image", form.to_owned());
    let annotation =
        &claim["metadata"]["annotations"]["karpenter.azure.com/aks-machine-resource-id"];
    facts.insert("machine annotation", annotation.is_string().to_string());
    let [launched, registered] =
        ["Launched", "Registered"].map(|kind| condition(claim, kind).unwrap().clone());
    facts.insert("Launched", text(&launched["status"]));
    facts.insert("Registered", text(&registered["status"]));
    facts.insert("Registered reason", text(&registered["reason"]));
    facts.insert("Registered message", text(&registered["message"]));
    facts.insert("condition members", members(&registered));
    let same = registered["lastTransitionTime"] == claim["metadata"]["creationTimestamp"];
    facts.insert("Registered changed at the creation", same.to_string());
}

/// Collects facts about the event, if any.
fn about_the_event(harness: &Harness, facts: &mut Facts) {
    let found = events(harness, "AsyncProvisioningError");
    facts.insert("AsyncProvisioningError events", found.len().to_string());
    let Some(event) = found.first() else { return };
    let message = text(&event["message"]);
    let (opening, error) = message.split_once(": ").unwrap();
    facts.insert("event opening", opening.to_owned());
    let length = error.strip_suffix("...").map_or("whole".to_owned(), |cut| cut.len().to_string());
    facts.insert("event error bytes", length);
    facts.insert("event namespace", text(&event["metadata"]["namespace"]));
    facts.insert("event object namespace", text(&event["involvedObject"]["namespace"]));
    facts.insert("event object uid", event["involvedObject"]["uid"].is_string().to_string());
    facts.insert("event source", text(&event["source"]["component"]));
    facts.insert("event reporting component", text(&event["reportingComponent"]));
    facts.insert("event reporting instance", text(&event["reportingInstance"]));
}

/// Runs a failing bootstrap, second by second, until the NodeClaim is deleted.
fn observed(mode: ProvisionMode) -> Facts {
    let mut facts = Facts::new();
    let image_version = BROKEN.to_owned();
    let mut harness = with(karpenter::KarpenterOptions {
        mode,
        image_version,
        ..karpenter::KarpenterOptions::default()
    });
    harness.world.create_claim(NAME, harness.now).unwrap();
    let created = harness.now;
    let mut provider_id = String::new();
    let mut extensions: BTreeSet<String> = BTreeSet::new();
    for _ in 0..20 * 60 {
        harness.pass(1);
        let Some(claim) = harness.get(NODE_CLAIMS, NAME).cloned() else { break };
        if provider_id.is_empty() && claim["status"]["providerID"].is_string() {
            provider_id = text(&claim["status"]["providerID"]);
            about_the_claim(&claim, &mut facts);
        }
        if let Some(vm) = provider_id.strip_prefix("azure://") {
            let shown = harness.arm("GET", &format!("{vm}?api-version=2024-11-01"), "").1;
            let names = shown["resources"].as_array().into_iter().flatten();
            extensions.extend(names.map(|one| text(&one["name"])));
        }
        let deleted = claim["metadata"]["deletionTimestamp"].is_string();
        if deleted && !facts.contains_key("minutes until the deletion") {
            let after = seconds_between(&claim["metadata"]["creationTimestamp"], harness.now);
            let minutes = if (900..=905).contains(&after) { "15" } else { "fewer" };
            facts.insert("minutes until the deletion", minutes.to_owned());
            facts.insert("VM outlives the NodeClaim", has_vm(&harness, &provider_id).to_string());
            about_the_event(&harness, &mut facts);
        }
        if has_vm(&harness, &provider_id)
            && let Some(terminating) = condition(&claim, "InstanceTerminating")
        {
            facts.insert("InstanceTerminating while the VM is there", text(&terminating["status"]));
        }
    }
    assert!(
        harness.get(NODE_CLAIMS, NAME).is_none(),
        "it is still there after {}",
        harness.now - created
    );
    assert!(!has_vm(&harness, &provider_id), "{provider_id}");
    let extensions: Vec<String> = extensions.into_iter().collect();
    let of_karpenter = ["cse-agent-karpenter", "computeAksLinuxBilling"];
    let is_its = extensions.iter().any(|name| of_karpenter.contains(&name.as_str()));
    facts.insert("extensions of Karpenter", is_its.to_string());
    facts.insert("extensions", extensions.join(" "));
    let trace = harness.world.azure().trace().text();
    facts.insert("deleteMachines", trace.contains("/deleteMachines").to_string());
    facts
}

#[test]
fn failed_bootstraps_go_as_recorded_in_every_mode() {
    for (name, mode) in [
        ("aksscriptless", ProvisionMode::Scriptless),
        ("bootstrappingclient", ProvisionMode::Vm),
        ("aksmachineapi", ProvisionMode::Machine),
    ] {
        let (observed, recorded) = (observed(mode), recorded(name));
        assert!(recorded.len() > 10, "{name}");
        for (fact, value) in recorded {
            assert_eq!(observed.get(fact), Some(&value), "{name}: {fact}");
        }
    }
}

/// Numbers that are the same in every mode.
#[test]
fn limits_are_those_recorded() {
    let limits = recorded("limits");
    let limit = |name: &str| limits[name].parse::<i64>().unwrap();
    // A launch that Azure rejects.
    let options = karpenter::KarpenterOptions {
        launch_failure: Some(karpenter::LaunchFailure::Refused),
        ..karpenter::KarpenterOptions::default()
    };
    let mut harness = with(options);
    harness.world.create_claim(NAME, harness.now).unwrap();
    harness.pass(limit("seconds of a launch") - 5);
    assert!(harness.get(NODE_CLAIMS, NAME).is_some());
    harness.pass(15);
    assert!(harness.get(NODE_CLAIMS, NAME).is_none());
    // Registration outcomes that a NodePool keeps, and the number that makes it unhealthy.
    let mut harness = with(karpenter::KarpenterOptions::default());
    let hangs = Cse { seconds: None, ..Cse::default() };
    for number in 1..=limit("failures of an unhealthy NodePool") {
        let pool = harness.get("nodepools.karpenter.sh", "default").unwrap();
        assert_eq!(condition(pool, "NodeRegistrationHealthy"), None, "before failure {number}");
        let name = format!("default-{number}");
        harness.world.karpenter_mut().unwrap().set_cse(&name, hangs.clone());
        harness.world.create_claim(&name, harness.now).unwrap();
        harness.pass(16 * 60);
    }
    let pool = harness.get("nodepools.karpenter.sh", "default").unwrap();
    let healthy = condition(pool, "NodeRegistrationHealthy").unwrap();
    assert_eq!(text(&healthy["reason"]), limits["reason of an unhealthy NodePool"]);
}

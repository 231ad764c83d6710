//! Other extensions of a VM, in any order, do not change how the bootstrap is read.

use jiff::Timestamp;
use mooring_nodes::claim::Claim;
use mooring_nodes::verdict::{ConditionReason, Finding};
use serde_json::{Value, json};

use super::status_of;
use crate::observation::{CseState, Observation};
use crate::verdict::evaluate;

const CUSTOM_SCRIPT: (&str, &str) = ("Microsoft.Azure.Extensions", "CustomScript");

/// An extension as resource and as view.
#[derive(Clone)]
struct ExtensionPair {
    resource: Value,
    view: Value,
}

fn extension(
    name: &str,
    (publisher, kind): (&str, &str),
    state: &str,
    code: &str,
    message: &str,
) -> ExtensionPair {
    ExtensionPair {
        resource: json!({"name": name, "type": "Microsoft.Compute/virtualMachines/extensions", "properties": {
            "publisher": publisher, "type": kind, "typeHandlerVersion": "2.0", "provisioningState": state,
            "suppressFailures": false, "settings": {}, "later": [1],
        }}),
        view: json!({"name": name, "type": format!("{publisher}.{kind}"), "typeHandlerVersion": "2.1.17", "later": {},
            "statuses": [{"code": code, "level": "Info", "displayStatus": "x", "message": message, "later": null}]}),
    }
}

fn foreign() -> Vec<ExtensionPair> {
    let billing = ("Microsoft.AKS", "Compute.AKS.Linux.Billing");
    let defender = ("Microsoft.Azure.AzureDefenderForServers", "MDE.Linux");
    vec![
        extension(
            "computeAksLinuxBilling",
            billing,
            "Succeeded",
            "ProvisioningState/succeeded",
            "",
        ),
        extension(
            "MDE.Linux",
            defender,
            "Failed",
            "ProvisioningState/failed/1",
            "onboarding failed",
        ),
        extension(
            "a-policy",
            CUSTOM_SCRIPT,
            "Failed",
            "ProvisioningState/failed/0",
            "command terminated with exit status=1",
        ),
    ]
}

fn orders<T: Clone>(of: &[T]) -> Vec<Vec<T>> {
    if of.is_empty() {
        return vec![Vec::new()];
    }
    let with = |at: usize| {
        let mut rest = of.to_vec();
        let first = rest.remove(at);
        orders(&rest).into_iter().map(move |tail| [vec![first.clone()], tail].concat())
    };
    (0..of.len()).flat_map(with).collect()
}

fn vm(state: &str, resources: &[ExtensionPair], views: &[ExtensionPair], agent: &Value) -> Value {
    let mut view = json!({
        "computerName": "aks-x", "osName": "ubuntu", "osVersion": "22.04", "hyperVGeneration": "V2",
        "isVMInStandbyPool": false, "later": [{}],
        "disks": [{"name": "d", "statuses": [{"code": "ProvisioningState/failed", "level": "Error"}]}],
        "statuses": [
            {"code": format!("ProvisioningState/{}", state.to_lowercase()), "level": "Info"},
            {"code": "PowerState/running", "level": "Info"},
        ],
        "extensions": views.iter().map(|one| one.view.clone()).collect::<Vec<_>>(),
    });
    if !agent.is_null() {
        view["vmAgent"] = agent.clone();
    }
    let resources: Vec<_> = resources.iter().map(|one| one.resource.clone()).collect();
    json!({"name": "aks-x", "resources": resources, "later": 1,
        "properties": {"provisioningState": state, "instanceView": view, "later": "x"}})
}

fn cse(body: &Value) -> CseState {
    status_of(body).cse()
}

fn agents() -> [Value; 3] {
    let status =
        |code: &str, shown: &str| json!([{"code": code, "displayStatus": shown, "message": "m"}]);
    [
        Value::Null,
        json!({"vmAgentVersion": "2.15.0.1", "statuses": status("ProvisioningState/succeeded", "Ready"), "later": 1}),
        json!({"vmAgentVersion": "Unknown", "statuses": status("ProvisioningState/Unavailable", "Not Ready")}),
    ]
}

#[test]
fn bootstrap_result_is_independent_of_other_extensions() {
    let report = "Enable failed: failed to execute command: command terminated with exit status=211\n[stdout]\n{\"ExitCode\": \"211\"}\n[stderr]\n";
    let cases = [
        ("Failed", "ProvisioningState/failed/0", report, "failed"),
        ("Succeeded", "ProvisioningState/succeeded", "Enable succeeded: ", "succeeded"),
        ("Creating", "ProvisioningState/transitioning", "Plugin enabled", "running"),
    ];
    let mut seen = 0;
    for (state, code, message, expected) in cases {
        let own = extension("cse-agent-karpenter", CUSTOM_SCRIPT, state, code, message);
        let alone = cse(&vm(
            "Succeeded",
            std::slice::from_ref(&own),
            std::slice::from_ref(&own),
            &agents()[1],
        ));
        let state = match &alone {
            CseState::Failed { .. } => "failed",
            CseState::Succeeded { .. } => "succeeded",
            CseState::Running => "running",
            other => panic!("{other:?}"),
        };
        assert_eq!(state, expected);
        for count in 0..=foreign().len() {
            let company = [vec![own.clone()], foreign()[..count].to_vec()].concat();
            for resources in orders(&company) {
                for views in orders(&company) {
                    for agent in agents() {
                        assert_eq!(cse(&vm("Succeeded", &resources, &views, &agent)), alone);
                        seen += 1;
                    }
                }
                // One of the two may lack it: before it reports, or after it was deleted.
                let only_view = cse(&vm("Succeeded", &[], &resources, &agents()[1]));
                assert_eq!(only_view, alone, "{state} in the view only");
                let only_resource = cse(&vm("Failed", &resources, &[], &agents()[1]));
                let same = std::mem::discriminant(&only_resource) == std::mem::discriminant(&alone);
                assert!(same, "{state} in the resource only: {only_resource:?}");
            }
        }
    }
    assert!(seen > 3 * 24 * 24, "{seen}");
}

#[test]
fn other_extensions_alone_are_not_a_bootstrap() {
    for company in orders(&foreign()) {
        for agent in agents() {
            assert_eq!(cse(&vm("Succeeded", &company, &company, &agent)), CseState::Absent);
        }
    }
}

#[test]
fn suppressed_failure_is_read_from_the_view() {
    let mut own = extension(
        "vmssCSE",
        CUSTOM_SCRIPT,
        "Succeeded",
        "ProvisioningState/failed/0",
        "exit status=50",
    );
    own.resource["properties"]["suppressFailures"] = json!(true);
    let list = [own];
    assert!(matches!(cse(&vm("Succeeded", &list, &list, &agents()[1])), CseState::Failed { .. }));
}

#[test]
fn view_of_a_vm_being_deleted_is_still_read() {
    let own = extension(
        "cse-agent-karpenter",
        CUSTOM_SCRIPT,
        "Failed",
        "ProvisioningState/failed/0",
        "exit status=50",
    );
    let list = [own];
    assert!(matches!(cse(&vm("Deleting", &list, &list, &agents()[1])), CseState::Failed { .. }));
    let mut statuses_only = vm("Deleting", &[], &[], &Value::Null);
    statuses_only["properties"]["instanceView"] =
        json!({"statuses": [{"code": "ProvisioningState/deleting"}]});
    assert_eq!(cse(&statuses_only), CseState::NotYet, "not called absent");
}

#[test]
fn tag_update_of_a_registered_node_is_not_running() {
    let now: Timestamp = "2026-11-15T08:00:00Z".parse().unwrap();
    let claim = |registered: bool| Claim {
        registered: registered.then_some(now),
        ..Claim::placeholder(&std::sync::Arc::from("u"), "x", None, None, now)
    };
    let own = extension("cse-agent-karpenter", CUSTOM_SCRIPT, "Updating", "", "");
    let seen = Observation::Vm(status_of(&vm("Updating", &[own], &[], &agents()[1])));
    let reason = |registered: bool| match evaluate(&claim(registered), &seen, now) {
        Finding::Final(verdict) | Finding::Passing(verdict) => verdict.reason,
        Finding::Nothing => panic!("nothing"),
    };
    assert_eq!(reason(true), ConditionReason::CseSucceeded);
    assert_eq!(reason(false), ConditionReason::CseRunning);
}

#[test]
fn tag_update_is_not_a_running_bootstrap() {
    let own = extension(
        "cse-agent-karpenter",
        CUSTOM_SCRIPT,
        "Updating",
        "ProvisioningState/succeeded",
        "Enable succeeded: ",
    );
    let list = [own];
    assert!(matches!(cse(&vm("Updating", &list, &list, &agents()[1])), CseState::Succeeded { .. }));
    let unseen = status_of(&vm("Updating", &list, &[], &agents()[1]));
    assert!(unseen.cse() == CseState::Running && unseen.is_updating());
}

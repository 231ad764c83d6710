mod extension_order;

use mooring_codes::Os;
use serde_json::{Value, json};

use super::*;
use mooring_nodes::claim::Role;
use mooring_nodes::verdict::registration::{AgentState, Power};

fn status_of(body: &Value) -> VmObservation {
    VmObservation::of(&serde_json::from_value(body.clone()).unwrap())
}

fn vm(extension_state: &str, code: &str, message: &str) -> Value {
    json!({
        "name": "aks-default-2jf98",
        "properties": {
            "provisioningState": "Succeeded",
            "instanceView": {"extensions": [
                {"name": "computeAksLinuxBilling", "type": "Microsoft.AKS.Compute.AKS.Linux.Billing",
                 "statuses": [{"code": "ProvisioningState/failed/1", "message": "billing"}]},
                {"name": "cse-agent-karpenter", "type": "Microsoft.Azure.Extensions.CustomScript",
                 "statuses": [{"code": code, "level": "Error", "message": message, "time": null}], "substatuses": null}
            ]}
        },
        "resources": [
            {"name": "computeAksLinuxBilling", "properties": {"publisher": "Microsoft.AKS", "type": "Compute.AKS.Linux.Billing", "provisioningState": "Failed"}},
            {"name": "cse-agent-karpenter", "properties": {"publisher": "Microsoft.Azure.Extensions", "type": "CustomScript", "provisioningState": extension_state}}
        ]
    })
}

#[test]
fn instance_view_takes_precedence_over_the_resource() {
    let failed = CseState::Failed { text: "exit status=50".to_owned(), os: Os::Linux };
    assert_eq!(
        status_of(&vm("Creating", "ProvisioningState/failed/50", "exit status=50")).cse(),
        failed
    );
    assert_eq!(
        status_of(&vm("Failed", "ProvisioningState/failed/50", "exit status=50")).cse(),
        failed
    );
    assert_eq!(
        status_of(&vm("Creating", "ProvisioningState/transitioning", "")).cse(),
        CseState::Running
    );
    assert_eq!(
        status_of(&vm("Creating", "ProvisioningState/new-word", "")).cse(),
        CseState::Running
    );
    let succeeded = CseState::Succeeded { text: "Enable succeeded".to_owned(), os: Os::Linux };
    assert_eq!(
        status_of(&vm("Creating", "ProvisioningState/succeeded", "Enable succeeded")).cse(),
        succeeded
    );
}

#[test]
fn failed_operation_without_guest_report_is_a_failure() {
    let mut body = vm("Failed", "ProvisioningState/transitioning", "");
    body["properties"]["instanceView"]["statuses"] = json!([
        {"code": "ProvisioningState/failed/VMExtensionProvisioningTimeout", "message": "Provisioning of VM extension cse has timed out."},
        {"code": "PowerState/running"}
    ]);
    let CseState::Failed { text, .. } = status_of(&body).cse() else { panic!() };
    assert_eq!(
        text,
        "VMExtensionProvisioningTimeout: Provisioning of VM extension cse has timed out."
    );
}

#[test]
fn failed_billing_extension_is_not_a_failed_bootstrap() {
    let mut body = vm("Succeeded", "ProvisioningState/succeeded", "");
    assert!(matches!(status_of(&body).cse(), CseState::Succeeded { .. }));
    body["resources"].as_array_mut().unwrap().truncate(1);
    body["properties"]["instanceView"]["extensions"].as_array_mut().unwrap().truncate(1);
    let status_of = status_of(&body);
    assert_eq!(status_of.cse(), CseState::Absent);
    assert_eq!((status_of.cse(), status_of.extensions[0].role), (CseState::Absent, Role::Other));
}

#[test]
fn vm_being_created_has_no_extension_yet() {
    assert_eq!(
        status_of(&json!({"properties": {"provisioningState": "Creating"}})).cse(),
        CseState::NotYet
    );
    assert_eq!(status_of(&json!({"properties": {"provisioningState": "Succeeded", "instanceView": null}, "resources": null})).cse(), CseState::Absent);
}

#[test]
fn extension_without_message_uses_the_handler_status() {
    let body = json!({"properties": {"provisioningState": "Failed", "instanceView": {
        "vmAgent": {"extensionHandlers": [
            {"type": "Microsoft.AKS.Compute.AKS.Linux.Billing", "status": {"message": "no"}},
            {"type": "Microsoft.Azure.Extensions.CustomScript", "status": {"code": "ProvisioningState/failed", "message": "Non-zero exit code: 3"}}]},
        "extensions": [{"name": "cse-agent-karpenter", "type": "Microsoft.Azure.Extensions.CustomScript", "statuses": [{"code": "ProvisioningState/failed/3"}]}]}}});
    let CseState::Failed { text, .. } = status_of(&body).cse() else { panic!() };
    assert_eq!(text, "Non-zero exit code: 3");
}

#[test]
fn windows_output_is_read_from_substatuses() {
    let body = json!({"properties": {"instanceView": {"extensions": [
        {"name": "x", "type": "Microsoft.Compute.CustomScriptExtension", "statuses": [{"code": "ProvisioningState/failed/1", "message": "non-zero"}],
         "substatuses": [{"code": "ComponentStatus/StdOut/succeeded", "message": "ExitCode: |5|"}]}]}}});
    assert_eq!(
        status_of(&body).cse(),
        CseState::Failed { text: "non-zero\nExitCode: |5|".to_owned(), os: Os::Windows }
    );
}

#[test]
fn absent_members_are_no_result() {
    let without = json!({"properties": {"instanceView": {"extensions": null, "statuses": null}}, "resources": null});
    let unnamed = json!({"properties": {"instanceView": {"vmAgent": null, "extensions": [{"name": null, "statuses": [{}]}]}}});
    for body in [json!({}), json!({"properties": null}), without, unnamed] {
        let cse = status_of(&body).cse();
        assert!(!matches!(cse, CseState::Failed { .. } | CseState::Succeeded { .. }), "{body}");
    }
}

#[test]
fn machine_error_lists_the_innermost_first() {
    let body = json!({"name": "m", "properties": {"provisioningState": "Failed", "status": {"provisioningError": {
        "code": "Outer", "message": "sum", "details": [{"code": "VMExtensionProvisioningError", "message": "CSE failed with 'VMExtensionError_OutboundConnFail'."}]}}}});
    let machine_of = |body: Value| MachineStatus::of(&serde_json::from_value(body).unwrap());
    let machine = machine_of(body);
    assert!(machine.error.starts_with("code=VMExtensionProvisioningError"));
    assert_eq!(machine.progress, ProvisioningState::Failed);
    assert_eq!(machine_of(json!({"name": "n", "properties": {"status": null}})).error, "");
}

proptest::proptest! {
    #[test]
    fn any_status_is_a_result(code in ".{0,40}", text in ".{0,400}") {
        let status = json!([{"code": code, "message": text}]);
        let body = json!({"properties": {"instanceView": {"statuses": status, "extensions": [
            {"name": text, "type": code, "statuses": status},
            {"name": "vmssCSE", "type": "Microsoft.Azure.Extensions.CustomScript", "statuses": status}]}}});
        let _ = (status_of(&body).cse(), status_of(&body).state());
    }
}

/// A VM with extensions of the bootstrap's type: name, status and message.
fn scripts(extensions: &[(&str, &str, &str)]) -> CseState {
    let views: Vec<Value> = extensions
        .iter()
        .map(|(name, state, message)| {
            json!({"name": name, "type": "Microsoft.Azure.Extensions.CustomScript",
                "statuses": [{"code": format!("ProvisioningState/{state}"), "message": message}]})
        })
        .collect();
    let view = json!({"extensions": views});
    status_of(&json!({"properties": {"provisioningState": "Succeeded", "instanceView": view}}))
        .cse()
}

#[test]
fn failed_script_counts_before_running_and_succeeded_ones() {
    let failed = CseState::Failed { text: "m".to_owned(), os: Os::Linux };
    let (first, second) = ("cse-agent-karpenter", "vmssCSE");
    assert_eq!(scripts(&[(first, "transitioning", ""), (second, "failed", "m")]), failed);
    assert_eq!(scripts(&[(first, "succeeded", ""), (second, "failed", "m")]), failed);
    assert_eq!(
        scripts(&[(first, "succeeded", ""), (second, "transitioning", "")]),
        CseState::Running
    );
}

#[test]
fn bootstrap_ended_at_the_time_of_its_status_or_report() {
    let ended = |state: &str, time: Value, message: &str| {
        let status =
            json!({"code": format!("ProvisioningState/{state}"), "message": message, "time": time});
        let extension = json!({"name": "vmssCSE", "type": "Microsoft.Azure.Extensions.CustomScript", "statuses": [status]});
        status_of(&json!({"properties": {"instanceView": {"extensions": [extension]}}})).ended_at()
    };
    let report =
        r#"{"ExitCode":"50","ExecDuration":"60","CSEStartTime":"Tue Nov 17 09:06:00 UTC 2026"}"#;
    let at = |time: &str| Some(time.parse().unwrap());
    let time = json!("2026-11-17T09:07:05.25+00:00");
    assert_eq!(ended("failed/50", time, report), at("2026-11-17T09:07:05.25Z"));
    for time in [Value::Null, json!("soon")] {
        assert_eq!(ended("failed/50", time, report), at("2026-11-17T09:07:00Z"));
    }
    assert_eq!(ended("failed/50", Value::Null, "exit status=50"), None);
}

#[test]
fn other_script_is_the_bootstrap_only_without_a_known_name() {
    let report = "{\"ExitCode\": \"50\"}";
    let failed = CseState::Failed { text: report.to_owned(), os: Os::Linux };
    assert_eq!(scripts(&[("a-policy", "failed", report)]), failed);
    assert_eq!(scripts(&[("a-policy", "failed", "no report")]), CseState::Absent);
    let both = [("a-policy", "failed", report), ("vmssCSE", "transitioning", "")];
    assert_eq!(scripts(&both), CseState::Running);
}

#[test]
fn message_of_an_extension_counts_before_that_of_its_handler() {
    let body = json!({"properties": {"instanceView": {
        "vmAgent": {"extensionHandlers": [
            {"type": "Microsoft.Azure.Extensions.CustomScript", "status": {"message": "handler"}}]},
        "extensions": [{"name": "vmssCSE", "type": "Microsoft.Azure.Extensions.CustomScript",
            "statuses": [{"code": "ProvisioningState/failed/3", "message": "own"}]}]}}});
    let CseState::Failed { text, .. } = status_of(&body).cse() else { panic!() };
    assert_eq!(text, "own");
}

#[test]
fn agent_works_if_it_or_an_extension_reports() {
    for (agent, extension, power, expected) in [
        ("succeeded", "failed", "running", AgentState::Ready),
        ("Unavailable", "succeeded", "running", AgentState::Ready),
        ("Unavailable", "failed", "running", AgentState::Silent),
        ("Unavailable", "failed", "deallocated", AgentState::Unknown),
        ("Unavailable", "failed", "starting", AgentState::Unknown),
    ] {
        let body = json!({"properties": {"instanceView": {
            "statuses": [{"code": format!("PowerState/{power}")}],
            "vmAgent": {"statuses": [{"code": format!("ProvisioningState/{agent}")}]},
            "extensions": [{"name": "x", "type": "y",
                "statuses": [{"code": format!("ProvisioningState/{extension}")}]}]}}});
        let found = status_of(&body);
        assert_eq!(found.agent, expected, "{agent} {extension} {power}");
        let expected = match power {
            "running" => Power::Running,
            "deallocated" => Power::Stopped,
            _ => Power::Unknown,
        };
        assert_eq!(found.power, expected, "{power}");
    }
}

#[test]
fn progress_is_parsed_from_states_and_codes() {
    for (state, expected) in [
        ("Succeeded", ProvisioningState::Succeeded),
        ("ProvisioningState/failed/50", ProvisioningState::Failed),
        ("Canceled", ProvisioningState::Failed),
        ("Updating", ProvisioningState::Running),
        ("ProvisioningState/transitioning", ProvisioningState::Running),
        ("Deleting", ProvisioningState::Deleting),
        ("ProvisioningState/deprovisioning", ProvisioningState::Deleting),
        ("PowerState/running", ProvisioningState::Unknown),
        ("", ProvisioningState::Unknown),
    ] {
        assert_eq!(ProvisioningState::parse(state), expected, "{state}");
    }
}

#[test]
fn state_of_a_vm_shows_its_extension() {
    let state = |extensions: serde_json::Value| {
        let body = json!({"properties": {"provisioningState": "Succeeded",
            "instanceView": {"extensions": extensions}}});
        let state = status_of(&body).state();
        (state.lacks_extension, state.runs_extension)
    };
    let script = |code: &str| {
        json!([{"name": "vmssCSE", "type": "Microsoft.Azure.Extensions.CustomScript",
            "statuses": [{"code": code}]}])
    };
    assert_eq!(state(json!([])), (true, false));
    assert_eq!(state(script("ProvisioningState/transitioning")), (false, true));
    assert_eq!(state(script("ProvisioningState/succeeded")), (false, false));
}

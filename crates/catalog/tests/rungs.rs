//! Answers from the catalog, and texts that it must not answer.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use mooring_catalog::rows;
use mooring_diagnosis::{Confidence, Diagnosis, Hints, Rung, diagnose};

fn first(text: &str) -> Option<Diagnosis> {
    let hints = Hints { catalog: rows(), ..Hints::default() };
    diagnose(text.as_bytes(), hints).into_iter().next()
}

fn about_a_pool(code: &str) -> String {
    format!(
        "Failed to create node pool np1 of cluster aks-1: Code=\"{code}\" Message=\"see above\""
    )
}

#[test]
fn every_row_answers_a_text_about_a_pool_unless_a_rule_does() {
    let mut listed = 0;
    for row in rows() {
        let text = about_a_pool(row.name);
        let found = first(&text).unwrap_or_else(|| panic!("{}", row.name));
        if found.rung == Rung::Rule {
            continue;
        }
        listed += 1;
        assert_eq!((found.rung, found.reason.as_str()), (Rung::Code, row.name));
        assert_eq!((found.owner, found.stage), (row.owner, row.stage), "{}", row.name);
        assert_eq!((found.summary.as_str(), found.actions[0].as_str()), (row.meaning, row.next));
        assert_eq!(found.confidence, Confidence::Medium, "{}", row.name);
        assert!(found.evidence[0].line.contains(row.name), "{:?}", found.evidence);
        // Without the row, the code is an unlisted one.
        let bare = diagnose(text.as_bytes(), Hints::default()).remove(0);
        if bare.rung == Rung::Rule {
            continue;
        }
        assert!(["RequestRejected", "OperationFailed"].contains(&bare.reason.as_str()), "{bare:?}");
        assert_eq!(bare.reported.name.as_deref(), Some(row.name));
    }
    assert!(listed >= 250, "{listed} of {}", rows().len());
}

#[test]
fn innermost_listed_code_is_the_answer_in_any_wrapping() {
    let json = r#"{"error":{"code":"DeploymentFailed","details":[{"code":"BadRequest","message":"agent pool np1: Code=\"RouteTableInvalidNextHop\" Message=\"x\""}]}}"#;
    for text in [
        json.to_owned(),
        json.replace('"', "\\\""),
        format!("> {}", json.replace(',', ",\n> ")),
        format!("INFO started\n{json}\nINFO ended"),
    ] {
        assert_eq!(first(&text).unwrap().reason, "RouteTableInvalidNextHop", "{text}");
    }
}

#[test]
fn codes_of_pods_volumes_services_and_clients_are_not_answered() {
    for text in [
        "AttachVolume.Attach failed for volume \"pvc-1\" on node aks-np1: Code=\"OperationNotAllowed\" Message=\"x\"",
        "Warning ProvisioningFailed persistentvolume-controller StorageClass \"premium\": Code=\"KeyVaultAccessForbidden\" aks-1",
        "Error syncing load balancer of aks-1: Code=\"InUseSubnetCannotBeDeleted\" service default/web",
        "##[error] Failed to fetch credentials for the cluster aks-1. AADSTS7000215: Invalid client secret",
        "creating Storage Account: Code=\"StorageAccountNotFound\" Message=\"x\"",
        "Code=\"AuthorizationFailed\" Message=\"Microsoft.KeyVault/vaults/write\"",
        "{\"code\":\"SkuNotAvailable\",\"message\":\"resource 'Microsoft.Web/serverfarms/plan1'\"}",
        "see https://aka.ms/RouteTableInvalidNextHop about node pools of AKS",
        "AADSTS50011: The redirect URI of the app does not match",
    ] {
        assert_eq!(first(text).map(|found| found.reason), None, "{text}");
    }
}

#[test]
fn unlisted_code_has_the_owner_of_its_status() {
    for (status, reason, owner) in [
        ("400", "RequestRejected", "operator"),
        ("403", "RequestRejected", "operator"),
        ("409", "OperationFailed", "operator"),
        ("500", "OperationFailed", "platform"),
        ("503", "OperationFailed", "platform"),
    ] {
        let text = format!(
            "az aks nodepool add: StatusCode={status} Code=\"NobodyKnowsThis\" Message=\"x\""
        );
        let found = first(&text).unwrap();
        let confidence = found.confidence;
        assert_eq!((found.reason.as_str(), found.owner.as_str()), (reason, owner), "{status}");
        assert_eq!(found.reported.name.as_deref(), Some("NobodyKnowsThis"));
        assert_eq!(confidence, Confidence::Medium);
        assert!(!found.summary.is_empty() && !found.actions.is_empty());
    }
    let unsure = first("az aks nodepool add: Code=\"NobodyKnowsThis\"").unwrap();
    assert_eq!(unsure.confidence, Confidence::Low);
}

#[test]
fn refusal_without_a_code_has_the_owner_of_its_status() {
    for (text, reason, owner) in [
        (
            "az aks nodepool add: Operation failed with status: 'Bad Request'. Details: Zeta is wrong.",
            "RequestRejected",
            "operator",
        ),
        (
            "managedClusters/aks-1: (Caused by ResponseError('too many 500 error responses'))",
            "OperationFailed",
            "platform",
        ),
        ("agent pool np1: StatusCode=403 -- zeta", "RequestRejected", "operator"),
    ] {
        let found = first(text).unwrap_or_else(|| panic!("{text}"));
        assert_eq!((found.reason.as_str(), found.owner.as_str()), (reason, owner), "{text}");
        assert_eq!((found.rung, found.confidence), (Rung::Code, Confidence::Low), "{text}");
        assert_eq!(found.reported.name, None);
        assert!(text.contains(&found.evidence[0].line), "{:?}", found.evidence);
    }
    for text in [
        "GET /healthz of my app on AKS: status code 503 in pod web, readiness probe failed",
        "StatusCode=400 without a subject",
        "az aks get-credentials: StatusCode=403",
        "node pool np1: StatusCode=200, all is well",
    ] {
        assert_eq!(first(text).map(|found| found.reason), None, "{text}");
    }
}

#[test]
fn code_within_a_failed_pool_operation_is_the_answer() {
    for outer in ["CreateVMSSAgentPoolFailed", "ReconcileVMSSAgentPoolFailed"] {
        for (inner, owner) in
            [("KeyVaultAccessForbidden", "operator"), ("InternalOperationError", "platform")]
        {
            let text = format!(
                r#"{{"code":"{outer}","message":"Code=\"{inner}\" Message=\"x\" aks-np1"}}"#
            );
            let found = first(&text).unwrap();
            assert_eq!((found.reason.as_str(), found.owner.as_str()), (inner, owner), "{text}");
        }
        let refused =
            format!(r#"{{"code":"{outer}","message":"Code=\"ZetaNotAllowed\" aks-np1"}}"#);
        assert_eq!(first(&refused).unwrap().reason, "RequestRejected");
        let bare = first(&format!(r#"{{"code":"{outer}","message":"aks-np1"}}"#)).unwrap();
        assert_eq!((bare.rung, bare.owner.as_str()), (Rung::Rule, "platform"));
    }
}

#[test]
fn states_and_empty_codes_are_no_codes() {
    for text in [
        "managedClusters/aks-1: \"powerState\": {\"code\": \"Running\"}",
        "managedClusters/aks-1: Code=\"\" Message=\"\"",
    ] {
        assert_eq!(first(text).map(|found| found.reason), None, "{text}");
    }
    let rpc = first("aks-np1: rpc error: code = Unknown desc = x").unwrap();
    assert_eq!(rpc.rung, Rung::Sentence);
}

#[test]
fn only_listed_codes_and_rules_reach_medium_confidence() {
    for code in ["ZetaNotAllowed", "InternalZeta", "ZetaInProgress", "ZetaThrottled"] {
        let text = format!("node pool np1: Code=\"{code}\" Message=\"x\"");
        assert_eq!(first(&text).unwrap().confidence, Confidence::Low, "{code}");
    }
}

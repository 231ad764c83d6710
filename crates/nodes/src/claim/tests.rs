use serde_json::{Value, json};

use super::vm_id::{Interner, MachineId, ScopeViolation};
use super::{ClaimMode, ConditionStatus, *};

fn object() -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {
            "name": "default-2jf98", "uid": "6f0f7a52-6c4e-4a8f-9c0c-0f2b0f1d7a11", "resourceVersion": "4711",
            "generation": 1, "creationTimestamp": "2026-11-15T08:00:00Z",
            "finalizers": ["karpenter.sh/termination"],
            "labels": {
                "karpenter.sh/nodepool": "default", "karpenter.sh/capacity-type": "on-demand",
                "node.kubernetes.io/instance-type": "Standard_D4s_v5",
                "topology.kubernetes.io/zone": "westeurope-1"
            },
            "annotations": {"karpenter.azure.com/aksnodeclass-hash": "123"}
        },
        "spec": {"nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
                 "requirements": [{"key": "karpenter.sh/nodepool", "operator": "In", "values": ["default"]}]},
        "status": {
            "providerID": "azure:///subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/mc_rg_aks_westeurope/providers/Microsoft.Compute/virtualMachines/aks-default-2jf98",
            "imageID": "/subscriptions/x/resourceGroups/AKS-AzureLinux/providers/Microsoft.Compute/galleries/AKSAzureLinux/images/V3gen2/versions/202601.27.0",
            "capacity": {"cpu": "4"},
            "conditions": [
                {"type": "Registered", "status": "Unknown", "reason": "NodeNotFound", "message": "", "lastTransitionTime": "2026-11-15T08:00:00Z"},
                {"type": "Launched", "status": "True", "reason": "Launched", "message": "", "lastTransitionTime": "2026-11-15T08:00:07Z"},
                {"type": "CSEProvisioned", "status": "False", "reason": "CSEFailed", "message": "m", "lastTransitionTime": "2026-11-15T08:03:40Z", "observedGeneration": 1}
            ]
        }
    })
}

fn project(object: &Value) -> Result<Claim, ClaimError> {
    Claim::from_json(object.to_string().as_bytes(), "CSEProvisioned", &mut Interner::default())
}

#[test]
fn claim_keeps_the_fields_that_verdicts_need() {
    let claim = project(&object()).unwrap();
    assert_eq!(claim.mode(), Some(ClaimMode::Vm));
    assert_eq!(claim.node_name(), "aks-default-2jf98");
    assert_eq!(claim.image_key().as_deref(), Some("AKSAzureLinux/V3gen2/202601.27.0"));
    assert_eq!(claim.pool.as_deref(), Some("default"));
    assert_eq!(claim.launched, Some("2026-11-15T08:00:07Z".parse().unwrap()));
    assert_eq!((claim.registered, claim.deleted), (None, None));
    let condition = claim.condition.unwrap();
    assert_eq!(
        (condition.index, condition.status, &*condition.reason),
        (2, ConditionStatus::False, "CSEFailed")
    );
}

#[test]
fn machine_mode_is_detected_by_annotation() {
    let mut object = object();
    object["metadata"]["annotations"]["karpenter.azure.com/aks-machine-resource-id"] = json!(
        "/subscriptions/0/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/aks/agentPools/aksmachines/machines/default-2jf98"
    );
    let claim = project(&object).unwrap();
    assert_eq!(claim.mode(), Some(ClaimMode::Machine));
    assert_eq!(claim.machine.unwrap().name.as_ref(), "default-2jf98");
}

#[test]
fn shape_of_an_object_without_conditions_is_detected() {
    let mut young = object();
    young["status"] = json!({});
    assert_eq!(project(&young).unwrap().shape, Shape::NoConditions);
    young["status"] = json!({"conditions": []});
    assert_eq!(project(&young).unwrap().shape, Shape::List);
    for absent in [json!(null), json!({"conditions": null})] {
        young["status"] = absent;
        assert_ne!(project(&young).unwrap().shape, Shape::List);
    }
    young.as_object_mut().unwrap().remove("status");
    let claim = project(&young).unwrap();
    assert_eq!((claim.shape, claim.vm, claim.condition), (Shape::NoStatus, None, None));
}

#[test]
fn null_maps_and_invalid_ids_are_ignored() {
    let mut odd = object();
    odd["metadata"]["labels"] = json!(null);
    odd["metadata"]["annotations"] = json!(null);
    odd["status"]["providerID"] =
        json!("azure:///subscriptions/../resourceGroups/a/virtualMachines/b");
    let claim = project(&odd).unwrap();
    assert_eq!((claim.pool, claim.vm), (None, None));
}

#[test]
fn nodeclaims_of_other_clouds_are_rejected() {
    let mut other = object();
    other["spec"]["nodeClassRef"]["group"] = json!("karpenter.k8s.aws");
    assert!(matches!(project(&other), Err(ClaimError::OtherCloud(_))));
    assert!(matches!(project(&json!({})), Err(ClaimError::Unreadable(_))));
}

#[test]
fn resource_versions_are_compared_as_numbers() {
    let claim =
        |version: &str| Claim { resource_version: version.into(), ..project(&object()).unwrap() };
    assert!(claim("100").is_newer_than(&claim("99")));
    assert!(!claim("99").is_newer_than(&claim("100")) && !claim("99").is_newer_than(&claim("99")));
    assert!(!claim("b").is_newer_than(&claim("a")));
}

#[test]
fn claim_costs_less_than_640_bytes() {
    let claim = project(&object()).unwrap();
    assert!(claim.footprint() < 640, "{} bytes, {} fixed", claim.footprint(), size_of::<Claim>());
    // A uid of 36 bytes, names of 13 and 17, a version of 4.
    assert_eq!(claim.footprint(), size_of::<Claim>() + 80 + 32 + 48 + 32);
    let machine = MachineId { pool: "p".into(), name: "default-2jf98".into() };
    let with_machine = Claim { machine: Some(machine), ..claim.clone() };
    assert_eq!(with_machine.footprint(), claim.footprint() + 32);
}

#[test]
fn form_of_the_image_id_is_a_hint_for_the_mode() {
    for (image, expected) in [
        ("/CommunityGalleries/g/images/i/versions/1.0.0", Some(ClaimMode::Scriptless)),
        ("/subscriptions/s/resourceGroups/g/providers/x/galleries/g/images/i", Some(ClaimMode::Vm)),
        ("/subscriptions/s/resourceGroups/g/providers/x/images/own", None),
        ("/other/galleries/g/images/i", None),
        ("AKSUbuntu-2204gen2containerd-202601.13.0", None),
    ] {
        let mut object = object();
        object["status"]["imageID"] = json!(image);
        assert_eq!(project(&object).unwrap().mode(), expected, "{image}");
    }
    let mut without = object();
    without["status"]["imageID"] = json!("");
    let claim = project(&without).unwrap();
    assert_eq!((claim.mode(), claim.image_key()), (None, None));
}

#[test]
fn provider_id_that_cannot_be_read_is_a_scope_violation() {
    let violation = |provider_id: Value| {
        let mut object = object();
        object["status"]["providerID"] = provider_id;
        project(&object).unwrap().scope_violation
    };
    assert_eq!(violation(object()["status"]["providerID"].clone()), None);
    assert_eq!(violation(json!("aws:///i-0")), Some(ScopeViolation::ProviderId));
    assert_eq!((violation(json!("")), violation(json!(null))), (None, None));
}

#[test]
fn conditions_without_a_time_count_from_the_creation() {
    let mut object = object();
    for condition in object["status"]["conditions"].as_array_mut().unwrap() {
        condition.as_object_mut().unwrap().remove("lastTransitionTime");
        condition["status"] = json!("True");
    }
    let claim = project(&object).unwrap();
    assert_eq!((claim.launched, claim.registered), (Some(claim.created), Some(claim.created)));
    assert_eq!(claim.unregistered_since, claim.created);
    assert_eq!(claim.condition.map(|own| own.since), Some(claim.created));
}

#[test]
fn bootstrap_extension_is_found_by_publisher_and_type() {
    for (name, publisher, kind, expected) in [
        ("cse-agent-karpenter", "Microsoft.Azure.Extensions", "CustomScript", Role::Cse(Os::Linux)),
        ("whatever", "microsoft.azure.extensions", "customscript", Role::Cse(Os::Linux)),
        ("x", "", "Microsoft.Azure.Extensions.CustomScript", Role::Cse(Os::Linux)),
        ("x", "Microsoft.Compute", "CustomScriptExtension", Role::Cse(Os::Windows)),
        ("x", "", "Microsoft.Compute.CustomScriptExtension", Role::Cse(Os::Windows)),
        ("vmssCSE", "", "", Role::Cse(Os::Linux)),
        ("computeAksLinuxBilling", "Microsoft.AKS", "Compute.AKS.Linux.Billing", Role::Other),
        ("AKSLinuxExtension", "Microsoft.AKS", "Compute.AKS.Linux.AKSNode", Role::Other),
        // A name alone never identifies the bootstrap extension of another publisher.
        ("vmssCSE", "Example.Publisher", "CustomScript", Role::Other),
        ("customscript", "", "", Role::Other),
        ("", "", "", Role::Other),
    ] {
        assert_eq!(role(name, publisher, kind), expected, "{name} {publisher} {kind}");
    }
}

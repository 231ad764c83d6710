//! Members of an agent pool by api-version.
//!
//! A request through a version loses the members that the version lacks, and so does the response.
//! Two versions were compared member by member: 2025-02-01 and 2026-05-01. Members that only the
//! later one has count as unknown to every earlier version.

use serde_json::{Map, Value};

use crate::azure::api::request::ArmError;
use crate::azure::state::string;

/// Version that added the members of [`LATER`].
const LATER_VERSION: &str = "2026-05-01";

/// Members of `properties` in 2025-02-01.
const MEMBERS: [&str; 48] = [
    "availabilityZones",
    "capacityReservationGroupID",
    "count",
    "creationData",
    "currentOrchestratorVersion",
    "eTag",
    "enableAutoScaling",
    "enableEncryptionAtHost",
    "enableFIPS",
    "enableNodePublicIP",
    "enableUltraSSD",
    "gpuInstanceProfile",
    "gpuProfile",
    "hostGroupID",
    "kubeletConfig",
    "kubeletDiskType",
    "linuxOSConfig",
    "maxCount",
    "maxPods",
    "messageOfTheDay",
    "minCount",
    "mode",
    "networkProfile",
    "nodeImageVersion",
    "nodeLabels",
    "nodePublicIPPrefixID",
    "nodeTaints",
    "orchestratorVersion",
    "osDiskSizeGB",
    "osDiskType",
    "osSKU",
    "osType",
    "podSubnetID",
    "powerState",
    "provisioningState",
    "proximityPlacementGroupID",
    "scaleDownMode",
    "scaleSetEvictionPolicy",
    "scaleSetPriority",
    "securityProfile",
    "spotMaxPrice",
    "tags",
    "type",
    "upgradeSettings",
    "vmSize",
    "vnetSubnetID",
    "windowsProfile",
    "workloadRuntime",
];

/// Members added by 2026-05-01.
const LATER: [&str; 7] = [
    "podIPAllocationMode",
    "gatewayProfile",
    "artifactStreamingProfile",
    "virtualMachinesProfile",
    "virtualMachineNodesStatus",
    "status",
    "localDNSProfile",
];

/// Nested members that only the later version has.
const LATER_NESTED: [(&str, &str); 3] = [
    ("upgradeSettings", "maxUnavailable"),
    ("upgradeSettings", "undrainableNodeBehavior"),
    ("securityProfile", "sshAccess"),
];

/// Previews have the members of the next stable version.
fn has_later(version: &str) -> bool {
    version >= LATER_VERSION || version.ends_with("-preview")
}

pub(crate) fn trim(properties: &mut Map<String, Value>, version: &str) {
    let later = has_later(version);
    properties.retain(|name, _| {
        MEMBERS.contains(&name.as_str()) || (later && LATER.contains(&name.as_str()))
    });
    if !later {
        for (outer, inner) in LATER_NESTED {
            if let Some(Value::Object(members)) = properties.get_mut(outer) {
                members.remove(inner);
            }
        }
    }
}

/// Trims a pool, or every pool of a list, to the members of a version.
pub(crate) fn trim_shown(body: &mut Value, version: &str) {
    if let Some(Value::Array(pools)) = body.get_mut("value") {
        for pool in pools {
            trim_shown(pool, version);
        }
    } else if let Some(Value::Object(properties)) = body.get_mut("properties") {
        trim(properties, version);
    }
}

/// Rejects a type or mode that a version does not have.
pub(crate) fn check_kind(properties: &Map<String, Value>, version: &str) -> Result<(), ArmError> {
    let later = has_later(version);
    let preview = version.ends_with("-preview");
    for (name, word, known) in [
        ("type", "VirtualMachines", later),
        ("mode", "Gateway", later),
        ("mode", "Machines", preview),
        ("mode", "ManagedSystem", false),
    ] {
        if string(properties, name) == word && !known {
            return Err(ArmError::invalid_parameter(format!(
                "The value of parameter agentPoolProfile.{name} is invalid: '{word}' is not supported in API version {version}."
            )));
        }
    }
    Ok(())
}

/// Returns true if a version lists the pool. No stable version lists the managed system pool of AKS Automatic.
pub(crate) fn is_listed(pool: &Value, version: &str) -> bool {
    pool["properties"]["mode"] != "ManagedSystem" || version.ends_with("-preview")
}

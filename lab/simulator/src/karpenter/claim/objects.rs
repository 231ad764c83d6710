use serde_json::{Value, json};

use crate::azure::room;
use crate::kubernetes::store::objects::{text, uid};

/// Finalizer that keeps a NodeClaim while its VM may exist.
pub(crate) const FINALIZER: &str = "karpenter.sh/termination";
/// Annotation of a NodeClaim whose VM AKS creates.
pub(crate) const MACHINE: &str = "karpenter.azure.com/aks-machine-resource-id";

pub(crate) fn claim(name: &str, pool: Option<&Value>, size: &str, zone: &str) -> Value {
    let pool_name = pool.map_or("default", |pool| text(pool, &["metadata", "name"]));
    let mut object = json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {
            "name": name,
            "finalizers": [FINALIZER],
            "labels": {
                "karpenter.sh/nodepool": pool_name,
                "karpenter.sh/capacity-type": "on-demand",
                "karpenter.azure.com/aksnodeclass": "default",
                "node.kubernetes.io/instance-type": size,
                "topology.kubernetes.io/zone": zone,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
            },
            "annotations": {"karpenter.azure.com/aksnodeclass-hash-version": "v3"},
        },
        "spec": {
            "expireAfter": "720h",
            "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
            "requirements": [{"key": "karpenter.sh/nodepool", "operator": "In", "values": [pool_name]}],
            "resources": {"requests": {"cpu": "500m", "pods": "5"}},
        },
    });
    if let Some(pool) = pool {
        object["metadata"]["ownerReferences"] = json!([{
            "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "name": pool_name, "uid": uid(pool),
            "blockOwnerDeletion": true,
        }]);
    }
    object
}

/// Returns the part of a NodeClaim's status about its VM.
pub(crate) fn status(provider_id: &str, image: &Value, size: &str) -> Value {
    let (cores, memory) = room(size);
    json!({
        "providerID": provider_id,
        "imageID": image,
        "capacity": {"cpu": cores.to_string(), "memory": format!("{memory}Gi"), "pods": "250"},
        "allocatable": {"cpu": format!("{}m", cores * 1000 - 140), "memory": format!("{}Gi", (memory - 3).max(1)), "pods": "250"},
    })
}

pub(crate) fn is_ours(claim: &Value) -> bool {
    text(claim, &["spec", "nodeClassRef", "group"]) == "karpenter.azure.com"
}

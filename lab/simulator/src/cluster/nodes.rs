//! Node objects, as the kubelet and AKS create them.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::azure::{AzureNode, Join, lower_group, room};
use crate::kubernetes::store::objects::{list, set_condition, time};

/// Label with the NodePool of a node; the product finds the NodeClaim by provider id.
const NODE_POOL: &str = "karpenter.sh/nodepool";

/// Returns a node as it registers, not Ready.
pub(super) fn object(node: &AzureNode, now: Timestamp) -> Value {
    let mut labels = json!(node.labels);
    let size = node.labels.get("node.kubernetes.io/instance-type").map_or("", String::as_str);
    labels["beta.kubernetes.io/arch"] = json!("amd64");
    labels["beta.kubernetes.io/os"] = json!("linux");
    labels["failure-domain.beta.kubernetes.io/zone"] =
        labels["topology.kubernetes.io/zone"].clone();
    if node.labels.contains_key(NODE_POOL) {
        labels["karpenter.sh/capacity-type"] = json!("on-demand");
        labels["kubernetes.azure.com/mode"] = json!("user");
        labels["kubernetes.azure.com/node-image-version"] =
            json!(format!("AKSAzureLinux-V3gen2-{}", node.image_version));
    }
    let mut spec = json!({});
    if node.join != Join::NoProviderId {
        spec["providerID"] = json!(lower_group(&node.provider_id));
    }
    if !node.taints.is_empty() {
        spec["taints"] = node.taints.iter().filter_map(|taint| taint_of(taint)).collect();
    }
    let (cores, memory) = room(size);
    let mut object = json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": node.name, "labels": labels},
        "spec": spec,
        "status": {
            "capacity": {"cpu": cores.to_string(), "memory": format!("{memory}Gi"), "pods": "110", "ephemeral-storage": "128Gi"},
            "allocatable": {"cpu": format!("{}m", cores * 1000 - 140), "memory": format!("{}Gi", (memory - 3).max(1)), "pods": "110", "ephemeral-storage": "115Gi"},
            "addresses": [
                {"type": "InternalIP", "address": node.address},
                {"type": "Hostname", "address": node.name},
            ],
            "nodeInfo": {
                "architecture": "amd64", "operatingSystem": "linux", "osImage": "Microsoft Azure Linux 3.0",
                "kernelVersion": "6.6.117.1-1.azl3", "containerRuntimeVersion": "containerd://2.0.0",
                "kubeletVersion": format!("v{}", node.kubernetes_version), "kubeProxyVersion": "",
                "machineID": node.vm_id.replace('-', ""), "systemUUID": node.vm_id, "bootID": node.vm_id,
            },
        },
    });
    for (kind, reason) in [
        ("MemoryPressure", "KubeletHasSufficientMemory"),
        ("DiskPressure", "KubeletHasNoDiskPressure"),
        ("PIDPressure", "KubeletHasSufficientPID"),
    ] {
        set_condition(&mut object, kind, "False", reason, "kubelet has enough", now);
    }
    let why = "container runtime network not ready";
    set_condition(&mut object, "Ready", "False", "KubeletNotReady", why, now);
    set_heartbeat(&mut object, now);
    object
}

/// Returns the patch that sets a node to Ready.
pub(super) fn ready(node: &Value, now: Timestamp) -> Value {
    let mut node = node.clone();
    let why = "kubelet is posting ready status";
    set_condition(&mut node, "Ready", "True", "KubeletReady", why, now);
    set_heartbeat(&mut node, now);
    json!({"status": {"conditions": list(&node, &["status", "conditions"])}})
}

fn set_heartbeat(node: &mut Value, now: Timestamp) {
    for condition in node["status"]["conditions"].as_array_mut().into_iter().flatten() {
        condition["lastHeartbeatTime"] = json!(time(now));
    }
}

/// Parses a taint of the form `key=value:Effect` or `key:Effect`.
fn taint_of(text: &str) -> Option<Value> {
    let (what, effect) = text.rsplit_once(':')?;
    Some(match what.split_once('=') {
        Some((key, value)) => json!({"key": key, "value": value, "effect": effect}),
        None => json!({"key": what, "effect": effect}),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taints_read_as_azure_writes_them() {
        assert_eq!(
            taint_of("a=b:NoSchedule"),
            Some(json!({"key": "a", "value": "b", "effect": "NoSchedule"}))
        );
        assert_eq!(taint_of("a:NoExecute"), Some(json!({"key": "a", "effect": "NoExecute"})));
        assert_eq!(taint_of("a"), None);
    }
}

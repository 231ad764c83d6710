//! The cluster's side of Karpenter's VMs: `NodeClaim`s, their pool and their class.

use std::sync::LazyLock;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::azure::{Azure, Vm, image_of, lower_group};
use crate::karpenter::{Conditions, claim, status};
use crate::kubernetes::store::objects::text;
use crate::kubernetes::{Key, Kubernetes, StatusError};

pub(super) const NODE_CLAIMS: &str = "nodeclaims.karpenter.sh";
const NODE_POOLS: &str = "nodepools.karpenter.sh";
/// Karpenter's field manager, also with node auto-provisioning, which runs outside the cluster: its
/// Deployment and its Lease are not among the cluster's objects.
const KARPENTER: &str = "karpenter";

/// The CRDs, read once: `NodeClaim`s of both generations, then the others.
static DEFINITIONS: LazyLock<[Value; 4]> = LazyLock::new(|| {
    [
        include_str!("../../fixtures/crds/nodeclaims.yaml"),
        include_str!("../../fixtures/crds/nodeclaims-atomic.yaml"),
        include_str!("../../fixtures/crds/nodepools.yaml"),
        include_str!("../../fixtures/crds/aksnodeclasses.yaml"),
    ]
    // They are compiled in, and a test reads each.
    .map(|text| serde_saphyr::from_str(text).unwrap_or_default())
});

/// Installs the CRDs, and the class and the pool that every cluster has.
pub(super) fn install(kubernetes: &mut Kubernetes, atomic: bool, now: Timestamp) {
    let [map, list, pools, classes] = &*DEFINITIONS;
    for definition in [if atomic { list } else { map }, pools, classes] {
        let _ = kubernetes.create(definition.clone(), now);
    }
    kubernetes.settle(now);
    let _ = kubernetes.create(
        json!({
            "apiVersion": "karpenter.azure.com/v1beta1", "kind": "AKSNodeClass",
            "metadata": {"name": "default"},
            "spec": {"imageFamily": "AzureLinux"},
        }),
        now,
    );
    add_pool(kubernetes, "default", now);
}

fn add_pool(kubernetes: &mut Kubernetes, name: &str, now: Timestamp) {
    if kubernetes.get(NODE_POOLS, &Key::new(None, name)).is_some() {
        return;
    }
    let _ = kubernetes.create(
        json!({
            "apiVersion": "karpenter.sh/v1", "kind": "NodePool",
            "metadata": {"name": name},
            "spec": {"template": {"spec": {
                "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
                "requirements": [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]}],
                "expireAfter": "720h",
            }}},
        }),
        now,
    );
}

/// Creates a NodeClaim of the default pool, as Karpenter does for pending pods.
pub(super) fn create(
    kubernetes: &mut Kubernetes,
    name: &str,
    now: Timestamp,
) -> Result<Value, StatusError> {
    let pool = kubernetes.get(NODE_POOLS, &Key::new(None, "default")).cloned();
    let object = claim(name, pool.as_ref(), "Standard_D4s_v5", "westeurope-1");
    kubernetes.create_by(KARPENTER, object, now)
}

/// Creates the NodeClaim of a VM in state `Launched`.
pub(super) fn adopt(kubernetes: &mut Kubernetes, azure: &Azure, vm: &Vm, now: Timestamp) {
    let key = Key::new(None, &vm.claim);
    if kubernetes.get(NODE_CLAIMS, &key).is_some() {
        return;
    }
    add_pool(kubernetes, &vm.node_pool, now);
    let pool = kubernetes.get(NODE_POOLS, &Key::new(None, &vm.node_pool)).cloned();
    let mut object = claim(&vm.claim, pool.as_ref(), &vm.size, &vm.zone);
    let machine = vm.provider_id.strip_prefix("azure://").and_then(|id| azure.resource(id));
    let image = machine.map(image_of).unwrap_or_default();
    let mut conditions = Conditions::new(now);
    conditions.launched(now);
    object["status"] = status(&lower_group(&vm.provider_id), &json!(image), &vm.size);
    object["status"]["conditions"] = conditions.list();
    let _ = kubernetes.create_by(KARPENTER, object, now);
}

/// Sets the conditions of the NodeClaim of a Ready node.
pub(super) fn join(kubernetes: &mut Kubernetes, node: &str, now: Timestamp) {
    let Some(object) = kubernetes.get("nodes", &Key::new(None, node)) else { return };
    let provider_id = text(object, &["spec", "providerID"]).to_owned();
    let found = by_provider_id(kubernetes, &provider_id).map(|claim| {
        let mut conditions = Conditions::read(claim, now);
        conditions.registered(now);
        conditions.initialized(now);
        (text(claim, &["metadata", "name"]).to_owned(), conditions.list())
    });
    let Some((name, conditions)) = found else { return };
    let patch = json!({"status": {"nodeName": node, "conditions": conditions}});
    let _ = kubernetes.change_by(KARPENTER, NODE_CLAIMS, &Key::new(None, &name), &patch, now);
    let labels = json!({"karpenter.sh/registered": "true", "karpenter.sh/initialized": "true"});
    let patch = json!({"metadata": {"labels": labels}});
    let _ = kubernetes.change_by(KARPENTER, "nodes", &Key::new(None, node), &patch, now);
}

fn by_provider_id<'a>(kubernetes: &'a Kubernetes, provider_id: &str) -> Option<&'a Value> {
    kubernetes
        .objects(NODE_CLAIMS, None)
        .find(|claim| text(claim, &["status", "providerID"]).eq_ignore_ascii_case(provider_id))
}

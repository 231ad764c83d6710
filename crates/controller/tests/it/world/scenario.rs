//! External changes, and a scenario that has all of them.

use std::collections::BTreeMap;

use mooring_controller::Input;
use mooring_controller::observation::karpenter::ProvisioningError;
use serde_json::{Value, json};

use super::azure::{self, Azure, SUCCEEDED, Vm};
use super::{World, at};

#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// Karpenter creates a NodeClaim and launches it.
    Launch {
        name: String,
        image: String,
        machine: bool,
    },
    Register(String),
    /// Karpenter's event, with this text.
    GiveUp(String, String),
    Delete(String),
    Remove(String),
    /// A merge patch from a stale cache: the whole list, without Mooring's condition.
    Drop(String),
}

impl Change {
    pub(crate) fn apply(&self, world: &mut World) {
        match self {
            Self::Launch { name, image, machine } => {
                let object = claim(name, image, *machine, world.now);
                world.put(object);
            }
            Self::Register(name) => world.set(name, |object, now| {
                set_condition(object, "Registered", "True", now);
            }),
            Self::Drop(name) => world.set(name, |object, _| {
                let conditions = object["status"]["conditions"].as_array_mut().unwrap();
                conditions.retain(|condition| condition["type"] != super::CONDITION);
            }),
            Self::Delete(name) => world.set(name, |object, now| {
                object["metadata"]["deletionTimestamp"] = json!(at(now).to_string());
                object["metadata"]["generation"] = json!(2);
            }),
            Self::Remove(name) => world.remove(name),
            Self::GiveUp(name, text) => {
                let event = ProvisioningError {
                    uid: uid(name),
                    name: name.clone(),
                    at: world.clock(),
                    text: text.clone(),
                };
                world.karpenter.push(event.clone());
                world.outbox.push(Input::GivenUp(event));
            }
        }
    }
}

impl World {
    fn set(&mut self, name: &str, change: impl FnOnce(&mut Value, i64)) {
        if let Some(mut object) = self.claims.get(name).cloned() {
            change(&mut object, self.now);
            self.put(object);
        }
    }
}

fn set_condition(object: &mut Value, kind: &str, status: &str, now: i64) {
    let conditions = object["status"]["conditions"].as_array_mut().unwrap();
    let condition = conditions.iter_mut().find(|condition| condition["type"] == kind).unwrap();
    condition["status"] = json!(status);
    condition["lastTransitionTime"] = json!(at(now).to_string());
}

pub(crate) fn uid(name: &str) -> String {
    format!("uid-of-{name}")
}

pub(crate) fn claim(name: &str, image: &str, machine: bool, now: i64) -> Value {
    let time = at(now).to_string();
    let image = match image.strip_prefix("community ") {
        Some(version) => format!(
            "/CommunityGalleries/AKSAzureLinux-f7c7cda5-1c9a-4bdc-a222-9614c968580b/images/V3gen2/versions/{version}"
        ),
        None => format!("/subscriptions/x/galleries/g/images/i/versions/{image}"),
    };
    let mut object = json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {"name": name, "uid": uid(name), "generation": 1, "creationTimestamp": time,
            "labels": {"karpenter.sh/nodepool": "default", "topology.kubernetes.io/zone": "westeurope-1"}, "annotations": {}},
        "spec": {"nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}},
        "status": {
            "providerID": format!("azure:///subscriptions/0/resourceGroups/mc_g/providers/Microsoft.Compute/virtualMachines/aks-{name}"),
            "imageID": image,
            "conditions": [
                {"type": "Initialized", "status": "Unknown", "lastTransitionTime": time},
                {"type": "Registered", "status": "Unknown", "lastTransitionTime": time},
                {"type": "Launched", "status": "True", "lastTransitionTime": time},
                {"type": "Ready", "status": "Unknown", "lastTransitionTime": time}
            ]
        }
    });
    if machine {
        object["metadata"]["annotations"]["karpenter.azure.com/aks-machine-resource-id"] = json!(
            format!(
                "/subscriptions/0/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/aks/agentPools/aksmachines/machines/{name}"
            )
        );
    }
    object
}

const FOREVER: i64 = i64::MAX;

/// Every mode and outcome in one scenario.
pub(crate) fn everything() -> (Azure, Vec<(i64, Change)>) {
    let mut vms = BTreeMap::new();
    let mut changes = Vec::new();
    let mut add = |name: &str,
                   ends: Option<(i64, String)>,
                   gone: i64,
                   machine: bool,
                   more: Vec<(i64, Change)>| {
        vms.insert(format!("aks-{name}"), Vm { ready_at: 40, ends, deleted_at: gone, status: 200 });
        changes.push((
            0,
            Change::Launch { name: name.to_owned(), image: "202601.27.0".to_owned(), machine },
        ));
        changes.extend(more);
    };
    let text = |name: &str| {
        format!(
            "Failed to register: creating VM CSE for VM \"aks-{name}\": GET https://management.azure.com/ ERROR CODE: VMExtensionProvisioningError"
        )
    };
    let goes = |name: &str, from: i64| {
        vec![
            (from, Change::GiveUp(name.to_owned(), text(name))),
            (from + 6, Change::Delete(name.to_owned())),
            (from + 9, Change::Remove(name.to_owned())),
        ]
    };
    let ok = || SUCCEEDED.to_owned();
    let register = |name: &str, when: i64| (when, Change::Register(name.to_owned()));
    add(
        "default-healthy",
        Some((100, ok())),
        FOREVER,
        false,
        vec![register("default-healthy", 130)],
    );
    let oras = azure::failed(211, "oras: command not found");
    add("default-announced", Some((80, oras)), 101, false, goes("default-announced", 95));
    add("default-lost", Some((90, azure::failed(50, ""))), FOREVER, false, vec![]);
    add("default-scriptless", None, FOREVER, false, vec![register("default-scriptless", 150)]);
    add("default-unregistered", Some((100, ok())), FOREVER, false, vec![]);
    let mut raced = vec![
        (200, Change::Drop("default-raced".to_owned())),
        (300, Change::Drop("default-raced".to_owned())),
    ];
    raced.push((301, Change::Drop("default-raced".to_owned())));
    add("default-raced", Some((90, azure::failed(51, ""))), FOREVER, false, raced);
    add("default-machine", Some((70, azure::failed(52, ""))), 50, true, vec![]);
    add("default-early", Some((20, azure::failed(50, ""))), 29, false, goes("default-early", 30));
    let mut hung = vec![(905, Change::Delete("default-hung".to_owned()))];
    hung.push((925, Change::Remove("default-hung".to_owned())));
    add("default-hung", Some((FOREVER, ok())), 915, false, hung);
    // Nothing shows that they failed; Karpenter gives up on them after 15 minutes.
    for name in ["default-given-up", "default-no-extension"] {
        let gives_up = |when, change: fn(String) -> Change| (when, change(name.to_owned()));
        add(
            name,
            None,
            920,
            false,
            vec![gives_up(900, Change::Delete), gives_up(925, Change::Remove)],
        );
    }
    for (_, change) in &mut changes {
        if let Change::Launch { name, image, .. } = change
            && name == "default-given-up"
        {
            *image = format!("community {image}");
        }
    }
    let machine_errors = BTreeMap::from([(
        "default-machine".to_owned(),
        (70, "CSE failed with 'VMExtensionError_K8SAPIServerDNSLookupFail', which means agents are unable to resolve Kubernetes API server name".to_owned()),
    )]);
    // The VM is deleted before it can be read, and the NodeClaim is deleted at the end.
    changes.push((120, Change::Delete("default-machine".to_owned())));
    changes.sort_by_key(|(when, _)| *when);
    (Azure { vms, machine_errors }, changes)
}

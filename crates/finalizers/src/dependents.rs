//! Dependents of the deleted objects, and obstacles, read once for the plan.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use crate::objects::{Object, Target};
use crate::profile::Profile;
use crate::signs::groups;

/// An object that is garbage-collected with its owner.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Dependent {
    pub resource: String,
    pub namespace: Option<String>,
    pub name: String,
    pub uid: String,
    /// An owner is one of the deleted objects, not only of their dependents.
    #[serde(rename = "isDirect")]
    pub direct: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Dependents {
    /// Uid of the namespace kube-system; empty if it could not be read.
    pub cluster: String,
    /// All objects with an owner.
    pub owned: Vec<Object>,
    /// Obstacles.
    pub notes: Vec<String>,
    /// What could not be read, with the reasons.
    pub unread: Vec<String>,
}

impl Dependents {
    /// Returns the direct and indirect dependents of these uids, without the objects themselves and those with another owner.
    pub(crate) fn cascade(&self, deleted: &BTreeSet<String>) -> Vec<Dependent> {
        let mut going: BTreeMap<&str, Dependent> = BTreeMap::new();
        loop {
            let before = going.len();
            for one in &self.owned {
                let uid = &one.target.uid;
                let goes =
                    |owner: &String| deleted.contains(owner) || going.contains_key(owner.as_str());
                if !deleted.contains(uid)
                    && !going.contains_key(uid.as_str())
                    && one.owners.iter().all(goes)
                {
                    let direct = one.owners.iter().any(|owner| deleted.contains(owner));
                    let Target { resource, namespace, name, uid, .. } = one.target.clone();
                    let dependent = Dependent { resource, namespace, name, uid, direct };
                    going.insert(&one.target.uid, dependent);
                }
            }
            if going.len() == before {
                let mut going: Vec<Dependent> = going.into_values().collect();
                going.sort();
                return going;
            }
        }
    }
}

/// Describes a webhook that is called for the deleted objects.
pub(crate) fn webhook_note(profile: &Profile, configuration: &Value) -> Option<String> {
    let hooks = configuration["webhooks"].as_array()?;
    let name = configuration["metadata"]["name"].as_str()?;
    let concerns =
        |hook: &&Value| groups(hook).any(|group| group == "*" || profile.has_group(group));
    let hook = hooks.iter().find(concerns)?;
    let place = hook["clientConfig"]["service"]["namespace"].as_str();
    let policy = hook["failurePolicy"].as_str().unwrap_or("Fail");
    let ours = place.is_some() && place == profile.namespace.as_deref();
    let tail = if ours && policy == "Fail" {
        "; its service belongs to the operator, so it denies all requests once that is deleted: delete the webhook first"
    } else {
        ""
    };
    Some(format!(
        "webhook configuration {name} is called for these objects (failure policy {policy}){tail}"
    ))
}

/// Describes an aggregated API that is unavailable.
pub(crate) fn api_service_note(service: &Value) -> Option<String> {
    let name = service["metadata"]["name"].as_str()?;
    let conditions = service["status"]["conditions"].as_array()?;
    let available = conditions.iter().find(|one| one["type"] == "Available")?;
    (available["status"] != "True").then(|| {
        let reason = available["reason"].as_str().unwrap_or("unknown");
        format!(
            "APIService {name} is unavailable ({reason}): no namespace can be deleted until it is fixed"
        )
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn owned(name: &str, owners: &[&str]) -> Object {
        let owners: Vec<Value> = owners.iter().map(|uid| json!({"uid": uid})).collect();
        let value = json!({"metadata": {"name": name, "uid": name, "ownerReferences": owners}});
        Object::read("things", "/api/v1", &value).unwrap()
    }

    #[test]
    fn cascade_includes_indirect_dependents_without_other_owners() {
        let around = Dependents {
            owned: vec![
                owned("pod", &["set"]),
                owned("set", &["workload"]),
                owned("workload", &["package"]),
                owned("shared", &["package", "stays"]),
                owned("package", &["parent"]),
                owned("other", &["elsewhere"]),
            ],
            ..Dependents::default()
        };
        let going = around.cascade(&BTreeSet::from(["package".to_owned()]));
        let names: Vec<_> = going.iter().map(|one| (one.name.as_str(), one.direct)).collect();
        assert_eq!(names, [("pod", false), ("set", false), ("workload", true)]);
    }

    #[test]
    fn webhooks_and_api_services_are_noted() {
        let profile = Profile::named("package-operator").unwrap();
        let hook = |group: &str, namespace: &str| {
            json!({
                "metadata": {"name": "w"},
                "webhooks": [{"rules": [{"apiGroups": [group]}], "failurePolicy": "Fail",
                    "clientConfig": {"service": {"namespace": namespace}}}],
            })
        };
        let note = webhook_note(&profile, &hook("package-operator.run", "package-operator-system"));
        assert!(note.unwrap().contains("delete the webhook first"));
        let note = webhook_note(&profile, &hook("*", "elsewhere")).unwrap();
        assert!(!note.contains("delete the webhook first"), "{note}");
        assert_eq!(webhook_note(&profile, &hook("xpackage-operator.run", "x")), None);
        let service = |status: &str| {
            json!({"metadata": {"name": "v1.x"},
            "status": {"conditions": [{"type": "Available", "status": status, "reason": "MissingEndpoints"}]}})
        };
        assert!(api_service_note(&service("False")).unwrap().contains("MissingEndpoints"));
        assert_eq!(api_service_note(&service("True")), None);
    }
}

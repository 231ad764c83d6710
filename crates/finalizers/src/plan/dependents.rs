//! What stands around the operator, read once for the plan: what would go along, and what would be in the way.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::profile::Profile;

/// An object that goes with its owner.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Dependent {
    pub resource: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    pub name: String,
    pub uid: String,
    #[serde(skip)]
    pub owners: Vec<String>,
    /// Whether an owner is one of the objects that are deleted, and not only one of those that go along.
    pub direct: bool,
}

impl Dependent {
    /// From an object's metadata; none if nothing owns it.
    pub fn read(resource: &str, value: &Value) -> Option<Self> {
        let metadata = &value["metadata"];
        let owners: Vec<String> = metadata["ownerReferences"]
            .as_array()?
            .iter()
            .filter_map(|owner| owner["uid"].as_str().map(str::to_owned))
            .collect();
        Some(Self {
            resource: resource.to_owned(),
            namespace: metadata["namespace"].as_str().map(str::to_owned),
            name: metadata["name"].as_str()?.to_owned(),
            uid: metadata["uid"].as_str()?.to_owned(),
            owners,
            direct: false,
        })
    }
}

#[derive(Debug, Default)]
pub struct Dependents {
    /// Tells one cluster from another: the uid of its kube-system namespace. Empty if it could not be read.
    pub cluster: String,
    /// Everything in the cluster that is owned by something.
    pub owned: Vec<Dependent>,
    /// What is in the way, or could not be looked at, in words.
    pub notes: Vec<String>,
}

impl Dependents {
    /// What goes along with these objects, by their uids: what they own, what that owns, and so on. The objects
    /// themselves are not among it, nor what has another owner that stays.
    pub fn cascade(&self, deleted: &BTreeSet<String>) -> Vec<Dependent> {
        let mut going: BTreeMap<&str, Dependent> = BTreeMap::new();
        loop {
            let before = going.len();
            for one in &self.owned {
                let goes =
                    |owner: &String| deleted.contains(owner) || going.contains_key(owner.as_str());
                if deleted.contains(&one.uid)
                    || going.contains_key(one.uid.as_str())
                    || !one.owners.iter().all(goes)
                {
                    continue;
                }
                let direct = one.owners.iter().any(|owner| deleted.contains(owner));
                going.insert(&one.uid, Dependent { direct, ..one.clone() });
            }
            if going.len() == before {
                let mut going: Vec<Dependent> = going.into_values().collect();
                going.sort();
                return going;
            }
        }
    }
}

/// A webhook that would be asked about what is deleted, and whose service is in the namespace that was or will be.
pub(crate) fn webhook_note(profile: &Profile, configuration: &Value) -> Option<String> {
    let hooks = configuration["webhooks"].as_array()?;
    let name = configuration["metadata"]["name"].as_str()?;
    let concerns = |hook: &&Value| {
        let rules = hook["rules"].as_array().map(Vec::as_slice).unwrap_or_default();
        let groups =
            rules.iter().flat_map(|rule| rule["apiGroups"].as_array().into_iter().flatten());
        groups.filter_map(Value::as_str).any(|group| group == "*" || profile.has_group(group))
    };
    let hook = hooks.iter().find(concerns)?;
    let place = hook["clientConfig"]["service"]["namespace"].as_str();
    let policy = hook["failurePolicy"].as_str().unwrap_or("Fail");
    let ours = place.is_some() && place == profile.namespace.as_deref();
    let tail = if ours && policy == "Fail" {
        "; its service belongs to the operator, so that it refuses everything once that is gone: delete it first"
    } else {
        ""
    };
    Some(format!(
        "webhook configuration {name} is asked about these objects (failure policy {policy}){tail}"
    ))
}

/// An aggregated API that does not answer.
pub(crate) fn api_service_note(service: &Value) -> Option<String> {
    let name = service["metadata"]["name"].as_str()?;
    let conditions = service["status"]["conditions"].as_array()?;
    let available = conditions.iter().find(|one| one["type"] == "Available")?;
    (available["status"] != "True").then(|| {
        let reason = available["reason"].as_str().unwrap_or("unknown");
        format!(
            "API service {name} does not answer ({reason}): while that is so, no namespace of the cluster can end"
        )
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn owned(name: &str, owners: &[&str]) -> Dependent {
        let owners: Vec<Value> = owners.iter().map(|uid| json!({"uid": uid})).collect();
        let value = json!({"metadata": {"name": name, "uid": name, "ownerReferences": owners}});
        Dependent::read("things", &value).unwrap()
    }

    #[test]
    fn a_cascade_follows_owners_to_the_end_and_spares_what_another_one_keeps() {
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
    fn what_is_in_the_way_is_told_before_anything_is_done() {
        let profile = Profile::named("package-operator").unwrap();
        let hook = |group: &str, namespace: &str| {
            json!({
                "metadata": {"name": "w"},
                "webhooks": [{"rules": [{"apiGroups": [group]}], "failurePolicy": "Fail",
                    "clientConfig": {"service": {"namespace": namespace}}}],
            })
        };
        let note = webhook_note(&profile, &hook("package-operator.run", "package-operator-system"));
        assert!(note.unwrap().contains("delete it first"));
        let note = webhook_note(&profile, &hook("*", "elsewhere")).unwrap();
        assert!(!note.contains("delete it first"), "{note}");
        assert_eq!(webhook_note(&profile, &hook("xpackage-operator.run", "x")), None);
        let service = |status: &str| {
            json!({"metadata": {"name": "v1.x"},
            "status": {"conditions": [{"type": "Available", "status": status, "reason": "MissingEndpoints"}]}})
        };
        assert!(api_service_note(&service("False")).unwrap().contains("MissingEndpoints"));
        assert_eq!(api_service_note(&service("True")), None);
    }
}

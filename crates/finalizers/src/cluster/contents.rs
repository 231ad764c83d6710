//! The objects of the operator's namespace, which are deleted with it, and whose they are.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use super::observation::is_deleting;
use crate::operator::profile::Profile;
use crate::operator::target::Target;

/// What Kubernetes writes by itself into every namespace.
const USUAL: [(&str, &str); 2] =
    [("configmaps", "kube-root-ca.crt"), ("serviceaccounts", "default")];

/// Short-lived objects, which their writers renew.
const SHORT_LIVED: [&str; 3] = ["events", "leases", "endpointslices"];

/// All objects of a namespace that can be listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contents {
    pub objects: Vec<Content>,
    /// Kinds that could not be listed, with reasons.
    pub unread: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Content {
    #[serde(flatten)]
    pub target: Target,
    #[serde(skip)]
    pub deleting: bool,
    /// Uid of the object that controls it.
    #[serde(skip)]
    pub controller: Option<String>,
    /// Name and namespace of the Helm release that it is marked with, unless it is to be kept.
    #[serde(skip)]
    release: Option<(String, String)>,
    /// Uid of the service account whose token it is.
    #[serde(skip)]
    account: Option<String>,
}

/// Whose an object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Part of the release, of the plan, or controlled by such an object.
    Named,
    /// Kubernetes writes it into every namespace, or renews it.
    Usual,
    Foreign,
}

impl Content {
    /// Reads the metadata of an object; none for one that is not stored and has no uid.
    pub fn read(resource: &str, root: &str, value: &Value) -> Option<Self> {
        let metadata = &value["metadata"];
        let annotation = |name: &str| metadata["annotations"][name].as_str().map(str::to_owned);
        let owners = metadata["ownerReferences"].as_array().map(Vec::as_slice).unwrap_or_default();
        let controller = owners.iter().find(|owner| owner["controller"] == true);
        let kept = annotation("helm.sh/resource-policy").as_deref() == Some("keep");
        let release = annotation("meta.helm.sh/release-name")
            .zip(annotation("meta.helm.sh/release-namespace"));
        Some(Self {
            target: Target::of(resource, root, value)?,
            deleting: is_deleting(value),
            controller: controller.and_then(|owner| owner["uid"].as_str()).map(str::to_owned),
            release: release.filter(|_| !kept),
            account: annotation("kubernetes.io/service-account.uid"),
        })
    }

    /// Returns the name for `--override`, without the namespace.
    pub fn name(&self) -> String {
        format!("{}/{}", self.target.resource, self.target.name)
    }

    fn kind(&self) -> &str {
        self.target.resource.split('.').next().unwrap_or_default()
    }

    fn is_usual(&self) -> bool {
        USUAL.contains(&(self.target.resource.as_str(), self.target.name.as_str()))
            || SHORT_LIVED.contains(&self.kind())
    }
}

impl Contents {
    /// Returns whose each object is. `named` are the uids of the plan. Groups and release of a profile count only where a plan
    /// is made.
    pub fn standings(
        &self,
        named: &BTreeSet<String>,
        profile: Option<&Profile>,
    ) -> Vec<(&Content, Standing)> {
        let belongs = |one: &&Content| {
            profile.is_some_and(|profile| {
                let group = one.target.resource.split_once('.').map_or("", |(_, group)| group);
                let is_marked = profile.release.as_ref().zip(one.release.as_ref()).is_some_and(
                    |(release, (name, namespace))| {
                        release.name == *name && release.namespace.as_ref() == Some(namespace)
                    },
                );
                is_marked || profile.has_group(group)
            })
        };
        let mut ours: BTreeSet<&str> = named.iter().map(String::as_str).collect();
        ours.extend(self.objects.iter().filter(belongs).map(|one| one.target.uid.as_str()));
        loop {
            let before = ours.len();
            for one in &self.objects {
                if self.follows(one, &ours) {
                    ours.insert(&one.target.uid);
                }
            }
            if ours.len() == before {
                break;
            }
        }
        let usual: BTreeSet<&str> = self
            .objects
            .iter()
            .filter(|one| one.is_usual())
            .map(|one| one.target.uid.as_str())
            .collect();
        let standing = |one: &Content| {
            if ours.contains(one.target.uid.as_str()) {
                Standing::Named
            } else if one.is_usual()
                || one.account.as_ref().is_some_and(|uid| usual.contains(uid.as_str()))
            {
                Standing::Usual
            } else {
                Standing::Foreign
            }
        };
        self.objects.iter().map(|one| (one, standing(one))).collect()
    }

    /// Returns true if Kubernetes made an object for one of these: by its controller, a token, or the endpoints of a Service.
    fn follows(&self, one: &Content, ours: &BTreeSet<&str>) -> bool {
        let has =
            |uid: &Option<String>| uid.as_ref().is_some_and(|uid| ours.contains(uid.as_str()));
        let serves = |other: &Content| {
            other.target.resource == "services"
                && other.target.name == one.target.name
                && ours.contains(other.target.uid.as_str())
        };
        has(&one.controller)
            || has(&one.account)
            || (one.target.resource == "endpoints" && self.objects.iter().any(serves))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::operator::profile::{Release, ReleaseResources};

    fn content(resource: &str, name: &str, more: &Value) -> Content {
        let mut value = json!({"metadata": {"name": name, "namespace": "n", "uid": name}});
        value["metadata"].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Content::read(resource, "/api/v1", &value).unwrap()
    }

    #[test]
    fn foreign_is_what_neither_the_plan_nor_kubernetes_explains() {
        let owner = |uid: &str, controls: bool| json!({"ownerReferences": [{"uid": uid, "controller": controls}]});
        let helm = |name: &str| json!({"annotations": {"meta.helm.sh/release-name": name, "meta.helm.sh/release-namespace": "n"}});
        let token = |uid: &str| json!({"annotations": {"kubernetes.io/service-account.uid": uid}});
        let none = json!({});
        let mut keep = helm("op");
        keep["annotations"]["helm.sh/resource-policy"] = "keep".into();
        let cases = [
            (content("deployments.apps", "op", &none), Standing::Named),
            (content("replicasets.apps", "set", &owner("op", true)), Standing::Named),
            (content("pods", "pod", &owner("set", true)), Standing::Named),
            (content("pods", "owned", &owner("set", false)), Standing::Foreign),
            (content("serviceaccounts", "account", &helm("op")), Standing::Named),
            (content("secrets", "account-token", &token("account")), Standing::Named),
            (content("services", "web", &helm("op")), Standing::Named),
            (content("endpoints", "web", &none), Standing::Named),
            (content("endpoints", "other", &none), Standing::Foreign),
            (content("widgets.sub.example.com", "mine", &none), Standing::Named),
            (content("configmaps", "theirs", &helm("other")), Standing::Foreign),
            (content("configmaps", "kept", &keep), Standing::Foreign),
            (content("secrets", "prod-db", &none), Standing::Foreign),
            (content("persistentvolumeclaims", "data", &none), Standing::Foreign),
            (content("configmaps", "kube-root-ca.crt", &none), Standing::Usual),
            (content("serviceaccounts", "default", &none), Standing::Usual),
            (content("secrets", "default-token", &token("default")), Standing::Usual),
            (content("events", "e", &none), Standing::Usual),
            (content("leases.coordination.k8s.io", "l", &none), Standing::Usual),
            (content("endpointslices.discovery.k8s.io", "web-x", &none), Standing::Usual),
        ];
        let objects = cases.iter().map(|(one, _)| one.clone()).collect();
        let contents = Contents { objects, unread: Vec::new() };
        let mut profile = Profile::of_group("example.com");
        profile.release = Some(Release {
            name: "op".to_owned(),
            namespace: Some("n".to_owned()),
            resources: ReleaseResources::Keep,
        });
        let named = BTreeSet::from(["op".to_owned()]);
        let found = contents.standings(&named, Some(&profile));
        for ((one, wanted), (same, standing)) in cases.iter().zip(found) {
            assert_eq!((one, *wanted), (same, standing));
        }
        // During a run, a mark does not replace the plan.
        let later = contents.standings(&named, None);
        let account = later.iter().find(|(one, _)| one.target.name == "account").unwrap();
        assert_eq!(account.1, Standing::Foreign);
    }
}

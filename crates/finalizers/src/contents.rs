//! The objects of the operator's namespace, which are deleted with it, and whose they are.

use std::collections::BTreeSet;

use crate::objects::{Object, Target, plural};
use crate::profile::Profile;

/// What Kubernetes writes by itself into every namespace.
const USUAL: [(&str, &str); 2] =
    [("configmaps", "kube-root-ca.crt"), ("serviceaccounts", "default")];

/// Short-lived objects, which their writers renew.
pub(crate) const SHORT_LIVED: [&str; 3] = ["events", "leases", "endpointslices"];

/// All objects of a namespace that can be listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contents {
    pub objects: Vec<Object>,
    /// Kinds that could not be listed, with reasons.
    pub unread: Vec<String>,
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

impl Contents {
    /// Returns whose each object is. `named` are the uids of the plan. Groups and release of a profile count only where a plan
    /// is made.
    pub fn standings(
        &self,
        named: &BTreeSet<String>,
        profile: Option<&Profile>,
    ) -> Vec<(&Object, Standing)> {
        let belongs = |one: &&Object| {
            let is_ours = |profile: &Profile| {
                one.is_of_release(profile) || profile.has_group(one.target.group())
            };
            profile.is_some_and(is_ours)
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
        let usual = self.objects.iter().filter(|one| is_usual(one));
        let usual: BTreeSet<&str> = usual.map(|one| one.target.uid.as_str()).collect();
        let is_of = |uids: &BTreeSet<&str>, one: &Object| {
            uids.contains(one.target.uid.as_str())
                || one.account.as_deref().is_some_and(|uid| uids.contains(uid))
        };
        let standing = |one: &Object| match () {
            () if ours.contains(one.target.uid.as_str()) => Standing::Named,
            () if is_of(&usual, one) => Standing::Usual,
            () => Standing::Foreign,
        };
        self.objects.iter().map(|one| (one, standing(one))).collect()
    }

    /// Returns true if Kubernetes made an object for one of these: by its controller, a token, or the endpoints of a Service.
    fn follows(&self, one: &Object, ours: &BTreeSet<&str>) -> bool {
        let has = |uid: &Option<String>| uid.as_deref().is_some_and(|uid| ours.contains(uid));
        let serves = |other: &Object| {
            other.target.resource == "services"
                && other.target.name == one.target.name
                && ours.contains(other.target.uid.as_str())
        };
        has(&one.controller)
            || has(&one.account)
            || (one.target.resource == "endpoints" && self.objects.iter().any(serves))
    }

    /// Returns an object that the approved plan does not name, or a kind that was not read.
    pub(crate) fn foreign(&self, named: &BTreeSet<String>) -> Option<String> {
        let standings = self.standings(named, None).into_iter();
        let mut others =
            standings.filter(|(one, standing)| *standing == Standing::Foreign && !one.deleting);
        let other = others.next().map(|(one, _)| format!("the plan does not name {}", one.target));
        other.or_else(|| self.unread.first().cloned())
    }
}

fn is_usual(one: &Object) -> bool {
    let Target { resource, name, .. } = &one.target;
    USUAL.contains(&(resource, name)) || SHORT_LIVED.contains(&plural(resource))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::profile::{Release, ReleaseResources};

    fn content(resource: &str, name: &str, more: &Value) -> Object {
        let mut value = json!({"metadata": {"name": name, "namespace": "n", "uid": name}});
        value["metadata"].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Object::read(resource, "/api/v1", &value).unwrap()
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

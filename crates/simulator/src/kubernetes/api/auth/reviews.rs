//! Access reviews: returned, not stored.

use http::StatusCode;
use serde_json::{Value, json};

use super::rbac::RequestAttributes;
use crate::exchange::Response;
use crate::kubernetes::api::negotiate::{ResourceRequest, json_answer};
use crate::kubernetes::api::state::{ApiServer, User};
use crate::kubernetes::store::objects::{self, list, text};

impl ApiServer {
    pub(crate) fn review(&self, call: &ResourceRequest<'_>, mut review: Value) -> Response {
        objects::set(&mut review, &["metadata", "creationTimestamp"], Value::Null);
        let user = match call.resource().kind.as_str() {
            "SubjectAccessReview" | "LocalSubjectAccessReview" => User {
                name: text(&review, &["spec", "user"]).to_owned(),
                groups: list(&review, &["spec", "groups"])
                    .iter()
                    .filter_map(|group| group.as_str().map(str::to_owned))
                    .collect(),
            },
            _ => call.user.clone(),
        };
        review["status"] = match call.resource().kind.as_str() {
            "SelfSubjectRulesReview" => {
                self.rules_review(&user, text(&review, &["spec", "namespace"]))
            }
            _ => self.access_review(&user, &review["spec"]),
        };
        json_answer(StatusCode::CREATED, &review)
    }

    fn access_review(&self, user: &User, spec: &Value) -> Value {
        let attributes = &spec["resourceAttributes"];
        let path = objects::at(spec, &["nonResourceAttributes", "path"]).and_then(Value::as_str);
        let verb = match path {
            Some(_) => text(spec, &["nonResourceAttributes", "verb"]),
            None => text(attributes, &["verb"]),
        };
        let (resource, part) =
            (text(attributes, &["resource"]), text(attributes, &["subresource"]));
        let resource =
            if part.is_empty() { resource.to_owned() } else { format!("{resource}/{part}") };
        let allowed = self.allows(
            user,
            RequestAttributes {
                verb,
                group: text(attributes, &["group"]),
                resource: &resource,
                namespace: text(attributes, &["namespace"]),
                name: text(attributes, &["name"]),
                path,
            },
        );
        json!({"allowed": allowed})
    }

    fn rules_review(&self, user: &User, namespace: &str) -> Value {
        let masters = json!([{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]);
        if user.groups.iter().any(|group| group == "system:masters") {
            return json!({"resourceRules": masters, "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
                "incomplete": false});
        }
        let (paths, resources): (Vec<&Value>, Vec<&Value>) =
            self.rules_of(user, namespace).partition(|rule| rule.get("nonResourceURLs").is_some());
        json!({"resourceRules": resources, "nonResourceRules": paths, "incomplete": false})
    }
}

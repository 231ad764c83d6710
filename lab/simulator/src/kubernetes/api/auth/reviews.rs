//! Access reviews: returned, not stored.

use http::StatusCode;
use serde_json::{Value, json};

use super::rbac::RequestAttributes;
use crate::exchange::Response;
use crate::kubernetes::api::negotiate::{ResourceRequest, json_answer};
use crate::kubernetes::api::state::{ApiServer, User};
use crate::kubernetes::store::objects::{self, text, texts};

impl ApiServer {
    pub(crate) fn review(&self, call: &ResourceRequest<'_>, mut review: Value) -> Response {
        objects::set(&mut review, &["metadata", "creationTimestamp"], Value::Null);
        let user = match call.resource().kind.as_str() {
            "SubjectAccessReview" | "LocalSubjectAccessReview" => User {
                name: text(&review, &["spec", "user"]).to_owned(),
                groups: texts(&review, &["spec", "groups"]).map(str::to_owned).collect(),
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
        let attempt = RequestAttributes {
            verb,
            group: text(attributes, &["group"]),
            resource: &resource,
            namespace: text(attributes, &["namespace"]),
            name: text(attributes, &["name"]),
            path,
        };
        json!({"allowed": self.allows(user, attempt)})
    }

    fn rules_review(&self, user: &User, namespace: &str) -> Value {
        if user.groups.iter().any(|group| group == "system:masters") {
            return json!({
                "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
                "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
                "incomplete": false,
            });
        }
        let (paths, resources): (Vec<&Value>, Vec<&Value>) =
            self.rules_of(user, namespace).partition(|rule| rule.get("nonResourceURLs").is_some());
        json!({"resourceRules": resources, "nonResourceRules": paths, "incomplete": false})
    }
}

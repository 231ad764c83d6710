//! Permissions of the caller, as the API server reports them. Nothing is tried.

use http::Method;
use serde_json::json;

use crate::request::{Client, RequestError};

const PATH: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

/// A verb on a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access<'a> {
    pub verb: &'a str,
    /// API group; empty for core resources.
    pub group: &'a str,
    pub resource: &'a str,
    /// None for all namespaces, and for resources without one.
    pub namespace: Option<&'a str>,
    /// None for all objects.
    pub name: Option<&'a str>,
}

impl Client {
    /// Returns true if the caller has this permission.
    pub async fn may(&self, access: Access<'_>) -> Result<bool, RequestError> {
        let Access { verb, group, resource, namespace, name } = access;
        let mut attributes = json!({"verb": verb, "group": group, "resource": resource});
        if let Some(namespace) = namespace {
            attributes["namespace"] = json!(namespace);
        }
        if let Some(name) = name {
            attributes["name"] = json!(name);
        }
        let review = json!({
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        });
        let response = self.send(Method::POST, PATH, Some(&review)).await?;
        response.parse(|body| body["status"]["allowed"].as_bool())
    }
}

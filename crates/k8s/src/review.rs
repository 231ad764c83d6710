//! Permissions of the caller, as the API server reports them. Nothing is tried.

use std::fmt;

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
    /// With its subresource, such as `pods/eviction`.
    pub resource: &'a str,
    /// None for all namespaces, and for resources without one.
    pub namespace: Option<&'a str>,
    /// None for all objects.
    pub name: Option<&'a str>,
}

impl fmt::Display for Access<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb, self.resource)?;
        if !self.group.is_empty() {
            write!(f, ".{}", self.group)?;
        }
        self.namespace.map_or(Ok(()), |namespace| write!(f, " in {namespace}"))
    }
}

impl Client {
    /// Returns the permissions that the caller lacks.
    pub async fn lacking<'a>(
        &self,
        all: impl IntoIterator<Item = Access<'a>>,
    ) -> Result<Vec<String>, RequestError> {
        let reviews = all.into_iter().map(|access| async move {
            let may = self.may(access).await?;
            Ok::<_, RequestError>((!may).then(|| access.to_string()))
        });
        let lacking = futures::future::try_join_all(reviews).await?;
        Ok(lacking.into_iter().flatten().collect())
    }

    /// Returns true if the caller has this permission.
    pub async fn may(&self, access: Access<'_>) -> Result<bool, RequestError> {
        let Access { verb, group, resource, namespace, name } = access;
        let (resource, part) = resource.split_once('/').unwrap_or((resource, ""));
        let mut attributes = json!({"verb": verb, "group": group, "resource": resource});
        if !part.is_empty() {
            attributes["subresource"] = json!(part);
        }
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

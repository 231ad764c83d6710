//! Admission webhooks that deny, as rules.

use crate::kubernetes::api::negotiate::ResourceRequest;
use crate::kubernetes::api::state::{
    ApiResult, ApiServer, Resource, StatusError, User, WebhookDenial,
};

/// Namespaces that AKS manages in a cluster with a managed system pool.
const MANAGED: [&str; 6] = [
    "kube-system",
    "kube-node-lease",
    "kube-public",
    "aks-istio-system",
    "app-routing-system",
    "gatekeeper-system",
];

impl ApiServer {
    pub fn deny(&mut self, denial: WebhookDenial) {
        self.denials.push(denial);
    }

    pub fn clear_denials(&mut self) {
        self.denials.clear();
    }

    /// Rejects what AKS Automatic rejects for all but its own components: writes in managed
    /// namespaces, and the Secrets of `kube-system`.
    pub(crate) fn check_managed(&self, call: &ResourceRequest<'_>) -> ApiResult<()> {
        let (resource, name) = (call.resource(), call.name());
        let is_namespace = resource.qualified() == "namespaces";
        let namespace = if is_namespace { name } else { call.namespace().unwrap_or_default() };
        let reads = matches!(call.verb(), "get" | "list" | "watch");
        let secrets = resource.qualified() == "secrets" && namespace == "kube-system";
        if !self.options.managed_namespaces
            || !MANAGED.contains(&namespace)
            || (reads && !secrets)
            || is_component(&call.user)
        {
            return Ok(());
        }
        Err(StatusError::forbidden(
            resource,
            name,
            &format!(
                "ValidatingAdmissionPolicy 'aks-managed-protect-system-namespaces' with binding 'aks-managed-protect-system-namespaces-binding' denied request: namespace {namespace} is managed by AKS"
            ),
        ))
    }

    /// Rejects a write that a webhook denies.
    pub(crate) fn admit(&self, resource: &Resource, operation: &str, name: &str) -> ApiResult<()> {
        let found = self.denials.iter().find(|one| {
            one.resource == resource.qualified()
                && one.operations.iter().any(|one| one == operation)
                && one.name.as_deref().is_none_or(|one| one == name)
        });
        match found {
            None => Ok(()),
            // A webhook's denial has neither a reason nor details of the object.
            Some(denial) => Err(StatusError::new(
                403,
                "Forbidden",
                format!(
                    "admission webhook {:?} denied the request: {}",
                    denial.webhook, denial.message
                ),
            )),
        }
    }
}

/// Returns true for a node and for components of AKS.
fn is_component(user: &User) -> bool {
    user.name.starts_with("system:node:")
        || user.name.starts_with("system:serviceaccount:kube-system:")
        || user.name.starts_with("aks-")
}

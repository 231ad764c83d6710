//! Webhooks that refuse, as rules.

use super::model::Kubernetes;
use super::resources::Resource;
use super::status_error::StatusError;

/// Refuses some writes, as an admission webhook would.
#[derive(Debug, Clone)]
pub struct Denial {
    /// The webhook's name.
    pub webhook: String,
    /// The resource, as `nodeclaims.karpenter.sh`.
    pub resource: String,
    /// `CREATE`, `UPDATE`, `DELETE`.
    pub operations: Vec<String>,
    /// Only this object; without it all.
    pub name: Option<String>,
    /// Why.
    pub message: String,
}

impl Kubernetes {
    /// Adds a webhook.
    pub fn deny(&mut self, denial: Denial) {
        self.denials.push(denial);
    }

    /// Removes every webhook.
    pub fn clear_denials(&mut self) {
        self.denials.clear();
    }

    pub(crate) fn check_denials(
        &self,
        resource: &Resource,
        operation: &str,
        name: &str,
    ) -> Result<(), StatusError> {
        let found = self.denials.iter().find(|one| {
            one.resource == resource.qualified()
                && one.operations.iter().any(|one| one == operation)
                && one.name.as_deref().is_none_or(|one| one == name)
        });
        match found {
            None => Ok(()),
            // A webhook's refusal carries neither a reason nor details of the object.
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

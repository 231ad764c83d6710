//! Changes to the cluster, as data.

use serde::{Deserialize, Serialize};

use crate::objects::Target;
use mooring_workflow::store::webhook;
use mooring_workflow::{Backup, EffectResult};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "kebab-case")]
pub enum Effect {
    /// Deletes an object by uid, with its dependents.
    Delete { target: Target },
    /// Removes finalizers of an object that is being deleted, if it is unchanged.
    Strip {
        target: Target,
        version: String,
        removed: Vec<String>,
        kept: Vec<String>,
        backup: Backup,
    },
    /// Scales a workload to zero.
    ScaleDown {
        target: Target,
        /// Former replicas.
        replicas: i64,
    },
}

impl Effect {
    pub fn target(&self) -> &Target {
        match self {
            Self::Delete { target }
            | Self::Strip { target, .. }
            | Self::ScaleDown { target, .. } => target,
        }
    }

    /// Returns a name of the effect and its object that is the same for every attempt.
    pub fn key(&self) -> String {
        format!("{} {} {}", self.verb(), self.target(), self.target().uid)
    }

    /// Returns the human-readable verb.
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Delete { .. } => "delete",
            Self::Strip { .. } => "strip",
            Self::ScaleDown { .. } => "scale down",
        }
    }

    /// Explains a rejection, with the missing permission if there is one.
    pub fn refused(&self, status: u16, code: &str, message: &str) -> String {
        let verb = self.verb();
        if let Some(webhook) = webhook(message) {
            return format!("webhook {webhook} denied the request to {verb} it: {message}");
        }
        match status {
            401 => "unauthorized: the API server rejected the credentials".to_owned(),
            403 => {
                let Target { resource, namespace, .. } = self.target();
                let (verb, part) = match self {
                    Self::Delete { .. } => ("delete", ""),
                    Self::Strip { .. } => ("patch", ""),
                    Self::ScaleDown { .. } => ("patch", "/scale"),
                };
                let place = namespace.as_ref().map(|namespace| format!("namespace {namespace}"));
                let place = place.as_deref().unwrap_or("the cluster");
                format!("access denied: missing permission {verb} on {resource}{part} in {place}")
            }
            _ => format!("{code}: {message}"),
        }
    }

    /// Returns the reason why the effect failed; none if it succeeded or is in progress.
    pub fn why_not(&self, result: &EffectResult) -> Option<String> {
        match result {
            EffectResult::Refused { status, code, message, .. } => {
                Some(self.refused(*status, code, message))
            }
            EffectResult::Unknown { why } => Some(format!("no response ({why})")),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejection_names_the_webhook_or_missing_permission() {
        let root = "/apis/package-operator.run/v1alpha1";
        let target = Target::new("packages.package-operator.run", root, Some("team"), "p", "u");
        let delete = Effect::Delete { target: target.clone() };
        assert_eq!(delete.key(), "delete packages.package-operator.run team/p u");
        let text =
            delete.refused(403, "Forbidden", "packages \"p\" is forbidden: User \"ann\" cannot");
        assert_eq!(
            text,
            "access denied: missing permission delete on packages.package-operator.run in namespace team"
        );
        let by_webhook = "admission webhook \"guard.example.com\" denied the request: not now";
        for status in [400, 403] {
            let text = delete.refused(status, "Forbidden", by_webhook);
            assert!(text.starts_with("webhook guard.example.com denied"), "{text}");
        }
        let dead = "Internal error occurred: failed calling webhook \"w.x\": connection refused";
        assert!(delete.refused(500, "InternalError", dead).starts_with("webhook w.x"));
        // Missing credentials are not missing permissions.
        let text = delete.refused(401, "Unauthorized", "Unauthorized");
        assert!(text.starts_with("unauthorized") && !text.contains("permission"), "{text}");
        let scale = Effect::ScaleDown { target, replicas: 1 };
        assert!(
            scale.refused(403, "", "").contains("patch on packages.package-operator.run/scale")
        );
    }
}

//! Changes to Azure and Kubernetes, as data.

use jiff::Timestamp;
use mooring_redact::printable;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::names::RUN_TAG;
use crate::observation::Node;
use crate::operation::OperationScope;
use mooring_workflow::{Authority, EffectResult, Refusal};

/// Error code of a resource lock.
const SCOPE_LOCKED: &str = "ScopeLocked";

/// A change. A decision makes at most one, and reads show whether it was applied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "kebab-case")]
pub enum Effect {
    /// Aborts the latest operation of a cluster or pool; `operation` is its observed id.
    AbortOperation {
        scope: OperationScope,
        operation: String,
        /// Time of the checks right before.
        judged: Option<Timestamp>,
    },
    PutPool {
        pool: String,
        body: Value,
        only: Option<Precondition>,
    },
    DeletePool {
        pool: String,
        if_match: Option<String>,
    },
    Cordon {
        node: String,
        uid: String,
    },
    Uncordon {
        node: String,
        uid: String,
    },
    /// Evicts a pod, honoring PDBs.
    Evict {
        namespace: String,
        pod: String,
        uid: String,
    },
    /// Deletes a pod regardless of PDBs.
    DeletePod {
        namespace: String,
        pod: String,
        uid: String,
        /// Reason of the override.
        reason: String,
    },
    /// Updates a tag of the cluster, which triggers reconciliation.
    TagCluster {
        name: String,
        value: String,
    },
}

/// Condition of a write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precondition {
    IfAbsent,
    IfMatch(String),
}

impl Effect {
    pub(crate) fn cordon(node: &Node) -> Self {
        Self::Cordon { node: node.name.clone(), uid: node.uid.clone() }
    }

    pub(crate) fn uncordon(node: &Node) -> Self {
        Self::Uncordon { node: node.name.clone(), uid: node.uid.clone() }
    }

    pub(crate) fn key_of_abort(scope: OperationScope) -> String {
        Self::AbortOperation { scope, operation: String::new(), judged: None }.key()
    }

    pub(crate) fn key_of_put(pool: &str) -> String {
        format!("put pool {pool}")
    }

    pub(crate) fn key_of_deletion(pool: &str) -> String {
        format!("delete pool {pool}")
    }

    /// Returns a name of the effect and its object that is the same for every attempt.
    pub fn key(&self) -> String {
        match self {
            Self::AbortOperation { scope: OperationScope::Cluster, .. } => {
                "abort the operation of the cluster".to_owned()
            }
            Self::AbortOperation { scope: OperationScope::Pool(pool), .. } => {
                format!("abort the operation of pool {pool}")
            }
            Self::PutPool { pool, .. } => Self::key_of_put(pool),
            Self::DeletePool { pool, .. } => Self::key_of_deletion(pool),
            Self::Cordon { node, .. } => format!("cordon {node}"),
            Self::Uncordon { node, .. } => format!("uncordon {node}"),
            Self::Evict { namespace, pod, uid } => format!("evict {namespace}/{pod} {uid}"),
            Self::DeletePod { namespace, pod, uid, .. } => {
                format!("delete pod {namespace}/{pod} {uid}")
            }
            Self::TagCluster { name, .. } => format!("tag cluster {name}"),
        }
    }

    /// Uncordoning and the run's tag need no approval: they remove nothing. A rollback checks the pool's tags right before.
    pub fn authority(&self) -> Authority {
        match self {
            Self::Uncordon { .. } => Authority::Harmless,
            Self::TagCluster { name, .. } if name == RUN_TAG => Authority::Harmless,
            Self::Cordon { .. } | Self::DeletePool { .. } => Authority::Rollback,
            _ => Authority::Approved,
        }
    }

    /// Evictions and cordons are decided by what is read.
    pub fn lasts(&self) -> bool {
        !matches!(
            self,
            Self::Cordon { .. }
                | Self::Uncordon { .. }
                | Self::Evict { .. }
                | Self::DeletePod { .. }
        )
    }

    /// A resource lock stays until an operator removes it.
    pub(crate) fn refusal(result: &EffectResult) -> Option<Refusal> {
        match result {
            EffectResult::Refused { code, .. } if code == SCOPE_LOCKED => Some(Refusal::Final),
            other => other.refusal(),
        }
    }
}

/// Returns why a request was rejected, with the next step if an operator must act. None for other results.
pub(crate) fn explain_refusal(result: &EffectResult) -> Option<String> {
    let EffectResult::Refused { status, code, message, .. } = result else { return None };
    let refusal = mooring_arm::AzureError {
        status: *status,
        code: Some(code.clone()),
        message: message.clone(),
        details: Vec::new(),
    };
    if let Some(right) = refusal.missing_permission() {
        let [action, scope] = [&right.action, &right.scope].map(|text| printable(text));
        let linked = refusal.has_code("LinkedAuthorizationFailed");
        let role = if linked { " (packaging/roles/mooring-repair-linked.json)" } else { "" };
        return Some(format!(
            "{code}: {action} is missing on {scope}; assign a role with this action there{role}, then run `resume`"
        ));
    }
    if refusal.has_code(SCOPE_LOCKED) {
        return Some(format!("{code}: {message} Then run `resume`"));
    }
    if refusal.has_code("DenyAssignmentAuthorizationFailed") {
        return Some(format!(
            "{code}: {message} Have the deny assignment removed, then run `resume`"
        ));
    }
    Some(format!("{code}: {message}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resource_lock_is_a_final_rejection() {
        let of = |status, code: &str| {
            let (code, message) = (code.to_owned(), String::new());
            Effect::refusal(&EffectResult::Refused { status, code, message, retry_after: None })
        };
        assert_eq!(of(409, ""), Some(Refusal::ReadAgain));
        assert_eq!(of(409, "ScopeLocked"), Some(Refusal::Final));
        assert_eq!(of(403, "LinkedAuthorizationFailed"), Some(Refusal::Final));
        assert_eq!(Effect::refusal(&EffectResult::Done), None);
    }

    #[test]
    fn missing_linked_permission_is_named_with_the_next_step() {
        let of = |status, code: &str, message: &str| {
            let (code, message) = (code.to_owned(), message.to_owned());
            explain_refusal(&EffectResult::Refused { status, code, message, retry_after: None })
        };
        let linked = "The client 'c' with object id 'o' has permission to perform action 'P/write' on scope '/p'; however, it does not have permission to perform action 'N/subnets/join/action' on the linked scope(s) '/net/subnets/s' or the linked scope(s) are invalid.";
        let text = of(403, "LinkedAuthorizationFailed", linked).unwrap();
        assert!(text.contains("N/subnets/join/action is missing on /net/subnets/s;"), "{text}");
        assert!(text.ends_with("then run `resume`") && !text.contains("P/write"), "{text}");
        let locked = "The scope '/p' cannot perform delete operation because following scope(s) are locked: '/g'. Please remove the lock and try again.";
        let text = of(409, "ScopeLocked", locked).unwrap();
        assert!(text.contains("locked: '/g'") && text.ends_with("run `resume`"), "{text}");
        assert_eq!(of(409, "OperationNotAllowed", "busy").unwrap(), "OperationNotAllowed: busy");
        assert_eq!(explain_refusal(&EffectResult::Done), None);
    }
}

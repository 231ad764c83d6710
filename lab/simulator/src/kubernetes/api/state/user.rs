//! Users, as tokens name them, and webhooks that deny their writes.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub name: String,
    /// `system:masters` may do everything.
    pub groups: Vec<String>,
}

impl User {
    pub fn administrator() -> Self {
        Self {
            name: "kubernetes-admin".to_owned(),
            groups: vec!["system:masters".to_owned(), "system:authenticated".to_owned()],
        }
    }

    /// Returns the user of a service account's token.
    pub fn service_account(namespace: &str, name: &str) -> Self {
        Self {
            name: format!("system:serviceaccount:{namespace}:{name}"),
            groups: vec![
                "system:serviceaccounts".to_owned(),
                format!("system:serviceaccounts:{namespace}"),
                "system:authenticated".to_owned(),
            ],
        }
    }
}

/// Denies some writes, as an admission webhook would.
#[derive(Debug, Clone)]
pub struct WebhookDenial {
    pub webhook: String,
    /// For example `nodeclaims.karpenter.sh`.
    pub resource: String,
    pub operations: Vec<String>,
    /// Only this object; none for all.
    pub name: Option<String>,
    pub message: String,
}

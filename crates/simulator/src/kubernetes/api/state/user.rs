//! Users, as tokens name them, and webhooks that deny their writes.

/// Somebody who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// The name that bindings and messages use.
    pub name: String,
    /// Groups; `system:masters` may do everything.
    pub groups: Vec<String>,
}

impl User {
    /// May do everything.
    #[must_use]
    pub fn administrator() -> Self {
        Self {
            name: "kubernetes-admin".to_owned(),
            groups: vec!["system:masters".to_owned(), "system:authenticated".to_owned()],
        }
    }

    /// A service account, as its token is seen.
    #[must_use]
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

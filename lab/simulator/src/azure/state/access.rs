//! Role assignments, deny assignments and locks, as data.

use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::options::{AzureOptions, Rights};

/// A lock, inherited by everything below its scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Lock {
    pub scope: String,
    pub name: String,
    pub level: LockLevel,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LockLevel {
    CanNotDelete,
    /// Allows only reads; actions are rejected as well.
    ReadOnly,
    NotSpecified,
}

impl Lock {
    pub(crate) fn id(&self) -> String {
        format!("{}/providers/Microsoft.Authorization/locks/{}", self.scope, self.name)
    }

    pub(crate) fn body(&self) -> Value {
        let mut properties = json!({"level": self.level});
        if let Some(notes) = &self.notes {
            properties["notes"] = json!(notes);
        }
        json!({
            "id": self.id(), "name": self.name, "type": "Microsoft.Authorization/locks",
            "properties": properties,
        })
    }

    pub(crate) fn forbids(&self, method: &Method, scope: &str) -> bool {
        let inherited = is_at_or_below(scope, &self.scope);
        match self.level {
            LockLevel::NotSpecified => false,
            LockLevel::ReadOnly if *method != Method::DELETE => inherited,
            // A resource with a locked part cannot be deleted either.
            _ => *method == Method::DELETE && (inherited || is_at_or_below(&self.scope, scope)),
        }
    }
}

/// A deny assignment, inherited by everything below its scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DenyAssignment {
    pub name: String,
    pub scope: String,
    /// Denied actions; `*` matches anything.
    pub actions: Vec<String>,
    #[serde(default)]
    pub not_actions: Vec<String>,
    /// Object ids of excluded principals.
    #[serde(default)]
    pub except: Vec<String>,
}

/// A role of a principal at a scope, inherited by everything below it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Assignment {
    /// Object id; empty for the application that signs in.
    #[serde(default)]
    pub principal: String,
    pub scope: String,
    /// Allowed actions; `*` matches anything.
    pub actions: Vec<String>,
    #[serde(default)]
    pub not_actions: Vec<String>,
    /// Allowed actions in the cluster's own API.
    #[serde(default)]
    pub data_actions: Vec<String>,
}

/// An action that is removed from the roles of one principal, or of all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ActionDenial {
    /// Object id of the principal; none for all.
    pub principal: Option<String>,
    /// The action, with `*` for anything: `Microsoft.Insights/*`.
    pub action: String,
    /// Prefix of the scope, such as a resource group's id; none for all.
    pub scope: Option<String>,
}

/// Returns true if `scope` is `above` or below it, ignoring case.
pub(crate) fn is_at_or_below(scope: &str, above: &str) -> bool {
    let (scope, above) = (scope.to_lowercase(), above.to_lowercase());
    let above = above.trim_end_matches('/');
    scope.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The shipped role definitions, each with the scopes that its description names.
const SHIPPED: [(&str, &[RoleScope]); 6] = [
    (include_str!("../../../../../packaging/roles/mooring-repair.json"), &[RoleScope::Cluster]),
    (include_str!("../../../../../packaging/roles/mooring-repair-nodes.json"), &[RoleScope::Nodes]),
    (
        include_str!("../../../../../packaging/roles/mooring-repair-subscription.json"),
        &[RoleScope::Subscription],
    ),
    (
        include_str!("../../../../../packaging/roles/mooring-repair-linked.json"),
        &[RoleScope::Network],
    ),
    (
        include_str!("../../../../../packaging/roles/mooring-controller.json"),
        &[RoleScope::Cluster, RoleScope::Nodes],
    ),
    (
        include_str!("../../../../../packaging/roles/mooring-why.json"),
        &[RoleScope::Cluster, RoleScope::Nodes],
    ),
];

enum RoleScope {
    Subscription,
    Cluster,
    Nodes,
    Network,
}

pub(crate) fn initial(options: &AzureOptions) -> Vec<Assignment> {
    let subscription = format!("/subscriptions/{}", options.subscription);
    let group = |name: &str| format!("{subscription}/resourceGroups/{name}");
    let all = |principal: &str, scope: String| Assignment {
        principal: principal.to_owned(),
        scope,
        actions: vec!["*".to_owned()],
        not_actions: Vec::new(),
        data_actions: Vec::new(),
    };
    let karpenter = &options.karpenter_principal;
    let mut assignments = vec![
        all(karpenter, group(&options.node_resource_group)),
        all(karpenter, options.cluster_id()),
    ];
    match options.rights {
        Rights::Owner => assignments.push(all(&options.principal, subscription)),
        Rights::Assigned => {}
        Rights::Shipped => assignments.extend(shipped(options)),
    }
    assignments
}

fn shipped(options: &AzureOptions) -> Vec<Assignment> {
    let subscription = format!("/subscriptions/{}", options.subscription);
    let group = |name: &str| format!("{subscription}/resourceGroups/{name}");
    let mut assignments = Vec::new();
    for (definition, places) in SHIPPED {
        let role: Value = serde_json::from_str(definition).unwrap_or_default();
        let words = |name: &str| -> Vec<String> {
            serde_json::from_value(role[name].clone()).unwrap_or_default()
        };
        assignments.extend(places.iter().map(|place| Assignment {
            principal: options.principal.clone(),
            scope: match place {
                RoleScope::Subscription => subscription.clone(),
                RoleScope::Cluster => options.cluster_id(),
                RoleScope::Nodes => group(&options.node_resource_group),
                RoleScope::Network => group(&options.network_resource_group),
            },
            actions: words("Actions"),
            not_actions: words("NotActions"),
            data_actions: words("DataActions"),
        }));
    }
    assignments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_role_definitions_parse() {
        let assignments = initial(&AzureOptions::default());
        assert_eq!(assignments.len(), 2 + 8);
        assert!(assignments.iter().all(|assignment| !assignment.actions.is_empty()));
    }
}

//! Role assignments and the permissions that they grant.

use serde_json::{Value, json};

use crate::azure::api::request::{ArmCall, Reply};
use crate::azure::state::{ActionDenial, AzureState, is_at_or_below};
use crate::pattern::is_match;

impl ActionDenial {
    fn is_about(&self, principal: &str, scope: &str) -> bool {
        let starts = |under: &String| scope.to_lowercase().starts_with(&under.to_lowercase());
        self.scope.as_ref().is_none_or(starts)
            && self.principal.as_deref().is_none_or(|denied| denied == principal)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Permission {
    actions: Vec<String>,
    not_actions: Vec<String>,
}

impl Permission {
    fn grants(&self, action: &str) -> bool {
        self.actions.iter().any(|pattern| is_match(pattern, action))
            && !self.not_actions.iter().any(|pattern| is_match(pattern, action))
    }
}

impl AzureState {
    pub(crate) fn has_right(&self, principal: &str, action: &str, scope: &str) -> bool {
        let segments = scope.trim_matches('/').split('/').count();
        let below = |word: &str| is_at_or_below(scope, word);
        // Every signed-in principal may list subscriptions and tenants.
        let open = below("/tenants") || below("/subscriptions") && segments <= 2;
        // A query has no scope: it returns what the caller may read.
        let unscoped = !below("/subscriptions");
        if open || unscoped {
            let taken = |denial: &ActionDenial| {
                denial.is_about(principal, scope) && is_match(&denial.action, action)
            };
            return !self.denials.iter().any(taken);
        }
        self.permissions_of(principal, scope).any(|permission| permission.grants(action))
    }

    fn permissions_of(&self, principal: &str, scope: &str) -> impl Iterator<Item = Permission> {
        let taken = self.denials.iter().filter(|denial| denial.is_about(principal, scope));
        let taken: Vec<String> = taken.map(|denial| denial.action.clone()).collect();
        let own = self.assignments.iter().filter(move |assignment| {
            assignment.principal == principal && is_at_or_below(scope, &assignment.scope)
        });
        own.map(move |assignment| Permission {
            actions: assignment.actions.clone(),
            not_actions: [assignment.not_actions.clone(), taken.clone()].concat(),
        })
    }

    /// Returns true if Azure RBAC for Kubernetes lets a principal do everything in the cluster. Single data actions are
    /// not modelled: they allow nothing.
    pub(crate) fn administers(&self, principal: &str) -> bool {
        let cluster = self.options.cluster_id();
        let everything = |action: &String| action == "Microsoft.ContainerService/managedClusters/*";
        self.assignments.iter().any(|assignment| {
            assignment.principal == principal
                && is_at_or_below(&cluster, &assignment.scope)
                && assignment.data_actions.iter().any(everything)
        })
    }

    /// `GET {scope}/providers/Microsoft.Authorization/permissions`: the caller's own and inherited ones.
    pub(crate) fn permissions(&self, call: &ArmCall, scope: &str) -> Reply {
        let list: Vec<Value> = self
            .permissions_of(&call.principal, scope)
            .map(|permission| {
                json!({
                    "actions": permission.actions, "notActions": permission.not_actions,
                    "dataActions": [], "notDataActions": [],
                })
            })
            .collect();
        Reply::ok(json!({"value": list, "nextLink": null}))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_entry_does_not_take_a_right_away() {
        let permission = |actions: &[&str], not_actions: &[&str]| Permission {
            actions: actions.iter().map(|&word| word.to_owned()).collect(),
            not_actions: not_actions.iter().map(|&word| word.to_owned()).collect(),
        };
        let entries = [permission(&["*"], &["A/*/delete"]), permission(&["A/b/delete"], &[])];
        assert!(!entries[0].grants("A/b/delete"));
        assert!(entries.iter().any(|entry| entry.grants("A/b/delete")));
    }
}

//! Role assignments, and the rights that a principal has by them.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::access::is_at_or_below;
use super::call::Call;
use super::options::{Options, Rights};
use super::reply::Reply;
use super::world::World;

/// A role of a principal at a scope. Everything below the scope inherits it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Assignment {
    /// The object id of the principal.
    pub principal: String,
    /// The id of a subscription, resource group or resource.
    pub scope: String,
    /// What the role allows; a `*` stands for anything.
    pub actions: Vec<String>,
    /// What the role takes away again.
    #[serde(default)]
    pub not_actions: Vec<String>,
}

/// A right that is taken from the roles of a principal, or of everybody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Denial {
    /// The object id of the principal; without it, everybody.
    #[serde(default)]
    pub principal: Option<String>,
    /// The action, in which a `*` stands for anything: `Microsoft.Insights/*`.
    pub action: String,
    /// The beginning of the scope, such as a resource group's id; without it, everywhere.
    #[serde(default)]
    pub scope: Option<String>,
}

impl Denial {
    fn is_about(&self, principal: &str, scope: &str) -> bool {
        let starts = |under: &String| scope.to_lowercase().starts_with(&under.to_lowercase());
        self.scope.as_ref().is_none_or(starts)
            && self.principal.as_deref().is_none_or(|denied| denied == principal)
    }
}

/// What one role gives at one scope.
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

/// True if an action fits a pattern, in which each `*` stands for anything. Case does not matter.
pub(crate) fn is_match(pattern: &str, action: &str) -> bool {
    let (pattern, action) = (pattern.to_lowercase(), action.to_lowercase());
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == action };
    let Some(mut left) = action.strip_prefix(head) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let tail = parts.pop().unwrap_or_default();
    for part in parts {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.ends_with(tail)
}

impl World {
    /// True if a role of the principal gives the right at the scope.
    pub(crate) fn has_right(&self, principal: &str, action: &str, scope: &str) -> bool {
        let segments = scope.trim_matches('/').split('/').count();
        let below = |word: &str| is_at_or_below(scope, word);
        // Everyone who signs in may see which subscriptions and tenants there are.
        let open = below("/tenants") || below("/subscriptions") && segments <= 2;
        // A query is not at a scope: it shows what may be read.
        let unscoped = !below("/subscriptions");
        if open || unscoped {
            let taken = |denial: &Denial| {
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

    /// `GET {scope}/providers/Microsoft.Authorization/permissions`: the caller's own, inherited ones included.
    pub(crate) fn permissions(&self, call: &Call, scope: &str) -> Reply {
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

/// The shipped role definitions, each with where its description assigns it.
const SHIPPED: [(&str, &[Place]); 6] = [
    (include_str!("../../../../packaging/roles/mooring-repair.json"), &[Place::Cluster]),
    (include_str!("../../../../packaging/roles/mooring-repair-nodes.json"), &[Place::Nodes]),
    (
        include_str!("../../../../packaging/roles/mooring-repair-subscription.json"),
        &[Place::Subscription],
    ),
    (include_str!("../../../../packaging/roles/mooring-repair-linked.json"), &[Place::Network]),
    (
        include_str!("../../../../packaging/roles/mooring-controller.json"),
        &[Place::Cluster, Place::Nodes],
    ),
    (include_str!("../../../../packaging/roles/mooring-why.json"), &[Place::Cluster, Place::Nodes]),
];

enum Place {
    Subscription,
    Cluster,
    Nodes,
    Network,
}

/// The assignments that a world begins with.
pub(crate) fn initial(options: &Options) -> Vec<Assignment> {
    let subscription = format!("/subscriptions/{}", options.subscription);
    let group = |name: &str| format!("{subscription}/resourceGroups/{name}");
    let all = |principal: &str, scope: String| Assignment {
        principal: principal.to_owned(),
        scope,
        actions: vec!["*".to_owned()],
        not_actions: Vec::new(),
    };
    let karpenter = &options.karpenter_principal;
    let mut assignments = vec![
        all(karpenter, group(&options.node_resource_group)),
        all(karpenter, options.cluster_id()),
    ];
    if options.rights == Rights::Owner {
        assignments.push(all(&options.principal, subscription));
        return assignments;
    }
    for (definition, places) in SHIPPED {
        let role: Value = serde_json::from_str(definition).unwrap_or_default();
        let words = |name: &str| -> Vec<String> {
            serde_json::from_value(role[name].clone()).unwrap_or_default()
        };
        for place in places {
            let scope = match place {
                Place::Subscription => subscription.clone(),
                Place::Cluster => options.cluster_id(),
                Place::Nodes => group(&options.node_resource_group),
                Place::Network => group(&options.network_resource_group),
            };
            assignments.push(Assignment {
                principal: options.principal.clone(),
                scope,
                actions: words("Actions"),
                not_actions: words("NotActions"),
            });
        }
    }
    assignments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_anywhere_and_in_any_case() {
        for (pattern, action, fits) in [
            ("*", "A/b/read", true),
            ("*/read", "A/b/READ", true),
            ("*/read", "A/b/write", false),
            ("a/*/read", "A/b/c/read", true),
            ("a/*/read", "A/read", false),
            ("a/*", "A/b/delete", true),
            ("A/b/join/action", "a/B/join/Action", true),
            ("a/*/c/*/read", "a/b/c/d/read", true),
            ("a/*/x/*/read", "a/b/c/d/read", false),
        ] {
            assert_eq!(is_match(pattern, action), fits, "{pattern} {action}");
        }
    }

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

    #[test]
    fn every_shipped_definition_is_read() {
        let assignments = initial(&Options::default());
        assert_eq!(assignments.len(), 2 + 8);
        assert!(assignments.iter().all(|assignment| !assignment.actions.is_empty()));
    }
}

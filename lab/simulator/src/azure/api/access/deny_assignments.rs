//! Deny assignments, which override every role.

use serde_json::{Value, json};

use crate::azure::api::request::{ArmError, Reply};
use crate::azure::state::{AzureState, DenyAssignment, is_at_or_below, text};
use crate::pattern::is_match;

/// Principal id of a deny assignment for all principals.
const EVERYONE: &str = "00000000-0000-0000-0000-000000000000";

impl DenyAssignment {
    fn denies(&self, principal: &str, action: &str, scope: &str) -> bool {
        let any = |patterns: &[String]| patterns.iter().any(|pattern| is_match(pattern, action));
        is_at_or_below(scope, &self.scope)
            && any(&self.actions)
            && !any(&self.not_actions)
            && !self.except.iter().any(|id| id == principal)
    }

    fn id(&self) -> String {
        format!("{}/providers/Microsoft.Authorization/denyAssignments/{}", self.scope, self.name)
    }

    fn body(&self) -> Value {
        let excluded: Vec<Value> =
            self.except.iter().map(|id| json!({"id": id, "type": "ServicePrincipal"})).collect();
        json!({
            "id": self.id(), "name": self.name, "type": "Microsoft.Authorization/denyAssignments",
            "properties": {
                "denyAssignmentName": self.name,
                "description": null,
                "permissions": [{
                    "actions": self.actions, "notActions": self.not_actions,
                    "dataActions": [], "notDataActions": [],
                }],
                "scope": self.scope,
                "doNotApplyToChildScopes": false,
                "principals": [{"id": EVERYONE, "type": "SystemDefined"}],
                "excludePrincipals": excluded,
                "isSystemProtected": true,
            },
        })
    }
}

impl AzureState {
    /// Includes the deny assignment of a restricted node resource group.
    fn deny_assignments(&self) -> Vec<DenyAssignment> {
        let mut all = self.deny_assignments.clone();
        let clusters = self.store.all().filter(|body| {
            let level = "/properties/nodeResourceGroupProfile/restrictionLevel";
            text(body, level).eq_ignore_ascii_case("ReadOnly")
        });
        all.extend(clusters.map(|body| DenyAssignment {
            name: format!("AKS node resource group lockdown of {}", text(body, "/name")),
            scope: format!(
                "/subscriptions/{}/resourceGroups/{}",
                self.options.subscription,
                text(body, "/properties/nodeResourceGroup")
            ),
            actions: vec!["*".to_owned()],
            not_actions: vec!["*/read".to_owned()],
            except: vec![self.options.aks_principal.clone()],
        }));
        all
    }

    pub(crate) fn check_deny_assignments(
        &self,
        who: &str,
        action: &str,
        scope: &str,
    ) -> Result<(), ArmError> {
        let all = self.deny_assignments();
        let denial = all.iter().find(|denial| denial.denies(who, action, scope));
        denial.map_or(Ok(()), |denial| {
            let (name, id, at) = (&denial.name, denial.id(), &denial.scope);
            let message = format!(
                "The client '{who}' with object id '{who}' has permission to perform action '{action}' on scope '{scope}'; however, the access is denied because of the deny assignment with name '{name}' and Id '{id}' at scope '{at}'."
            );
            Err(ArmError::new(403, "DenyAssignmentAuthorizationFailed", message))
        })
    }

    pub(crate) fn list_deny_assignments(&self, scope: &str) -> Reply {
        let near = |denial: &&DenyAssignment| {
            is_at_or_below(scope, &denial.scope) || is_at_or_below(&denial.scope, scope)
        };
        let all = self.deny_assignments();
        let list: Vec<Value> = all.iter().filter(near).map(DenyAssignment::body).collect();
        Reply::ok(json!({"value": list, "nextLink": null}))
    }
}

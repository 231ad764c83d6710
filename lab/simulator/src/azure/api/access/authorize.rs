//! Authorization: role assignments, deny assignments, linked resources and locks, in Azure's order.

use crate::azure::api::access::linked::linked;
use crate::azure::api::request::{ArmCall, ArmError};
use crate::azure::state::{AzureState, is_at_or_below};

impl AzureState {
    pub(crate) fn authorize(&self, call: &ArmCall) -> Result<(), ArmError> {
        let action = action_of(call);
        let scope = format!("/{}", call.path.segments.join("/"));
        let who = &call.principal;
        let own = format!("/subscriptions/{}", self.options.subscription);
        // The subscription is checked before any permission.
        if is_at_or_below(&scope, "/subscriptions/")
            && call.path.segments.len() > 1
            && !is_at_or_below(&scope, &own)
        {
            return Ok(());
        }
        if !self.has_right(who, &action, &scope) {
            let message = format!(
                "The client '{who}' with object id '{who}' does not have authorization to perform action '{action}' over scope '{scope}' or the scope is invalid. If access was recently granted, please refresh your credentials."
            );
            return Err(ArmError::new(403, "AuthorizationFailed", message));
        }
        self.check_deny_assignments(who, &action, &scope)?;
        for (linked_action, linked_scope) in linked(call, self) {
            if !self.has_right(who, linked_action, &linked_scope) {
                let message = format!(
                    "The client '{who}' with object id '{who}' has permission to perform action '{action}' on scope '{scope}'; however, it does not have permission to perform action '{linked_action}' on the linked scope(s) '{linked_scope}' or the linked scope(s) are invalid."
                );
                return Err(ArmError::new(403, "LinkedAuthorizationFailed", message));
            }
            self.check_deny_assignments(who, linked_action, &linked_scope)?;
        }
        self.check_locks(&call.method, &scope)
    }
}

/// Returns the action of a call: resource type and verb.
pub(crate) fn action_of(call: &ArmCall) -> String {
    let segments = &call.path.segments;
    let at = call.path.lower.iter().rposition(|part| part == "providers");
    let kind = match at.and_then(|at| Some((segments.get(at + 1)?, segments.get(at + 2..)?))) {
        Some((namespace, behind)) => {
            let types: Vec<&str> = behind.iter().step_by(2).map(String::as_str).collect();
            format!("{namespace}/{}", types.join("/"))
        }
        None if segments.len() > 2 => "Microsoft.Resources/subscriptions/resourceGroups".to_owned(),
        None => "Microsoft.Resources/subscriptions".to_owned(),
    };
    if kind.to_lowercase().starts_with("microsoft.insights/eventtypes") {
        return "Microsoft.Insights/eventtypes/values/read".to_owned();
    }
    match call.method.as_str() {
        // Azure counts its queries as reads.
        _ if kind.eq_ignore_ascii_case("Microsoft.ResourceGraph/resources") => {
            format!("{kind}/read")
        }
        "GET" | "HEAD" => format!("{kind}/read"),
        "PUT" | "PATCH" => format!("{kind}/write"),
        "DELETE" => format!("{kind}/delete"),
        _ => format!("{kind}/action"),
    }
}

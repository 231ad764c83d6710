//! Rights at a scope, and what takes them away: the caller's permissions, deny assignments and locks.

use serde::Deserialize;

use super::lenient::or_default;
use crate::client::Client;
use crate::error::Error;
use crate::raw::Raw;
use crate::request::Call;
use crate::resource_id::ResourceId;

/// What one role gives to the caller at a scope, or what one deny assignment takes away.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Permission {
    /// Actions, in which a `*` stands for anything.
    #[serde(deserialize_with = "or_default")]
    pub actions: Vec<String>,
    /// Actions that are not meant all the same.
    #[serde(deserialize_with = "or_default")]
    pub not_actions: Vec<String>,
}

impl Permission {
    /// Returns true if the action is among [`actions`](Self::actions) and not among
    /// [`not_actions`](Self::not_actions).
    pub fn covers(&self, action: &str) -> bool {
        let any = |patterns: &[String]| patterns.iter().any(|pattern| is_match(pattern, action));
        any(&self.actions) && !any(&self.not_actions)
    }
}

/// Returns true if the action fits the pattern, in which each `*` stands for anything. Case does not matter.
fn is_match(pattern: &str, action: &str) -> bool {
    let (pattern, action) = (pattern.to_ascii_lowercase(), action.to_ascii_lowercase());
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == action };
    let Some(mut left) = action.strip_prefix(head) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let tail = parts.pop().unwrap_or_default();
    for part in parts {
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    left.ends_with(tail)
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Lock {
    /// Its id, which begins with the scope that it locks.
    pub id: String,
    pub name: String,
    pub properties: LockProperties,
}

/// What is inside `properties` of a lock.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct LockProperties {
    /// `CanNotDelete`, `ReadOnly` or `NotSpecified`.
    pub level: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct DenyAssignment {
    pub id: String,
    pub properties: DenyAssignmentProperties,
}

/// What is inside `properties` of a deny assignment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct DenyAssignmentProperties {
    pub deny_assignment_name: String,
    #[serde(deserialize_with = "or_default")]
    pub permissions: Vec<Permission>,
    pub scope: String,
    /// Whether it is for the scope alone.
    #[serde(deserialize_with = "or_default")]
    pub do_not_apply_to_child_scopes: bool,
    #[serde(deserialize_with = "or_default")]
    pub principals: Vec<Principal>,
    #[serde(deserialize_with = "or_default")]
    pub exclude_principals: Vec<Principal>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Principal {
    /// Its object id; all zeros for everyone.
    pub id: String,
    /// `User`, `Group`, `ServicePrincipal` or `SystemDefined`.
    #[serde(rename = "type")]
    pub kind: String,
}

impl Client {
    /// The caller's permissions at a subscription, resource group or resource, inherited ones included.
    pub async fn permissions(&self, scope: &ResourceId) -> Result<Vec<Raw<Permission>>, Error> {
        let path = format!("{scope}/providers/Microsoft.Authorization/permissions");
        self.list(Call::get(&path, self.versions.authorization)?).await
    }

    /// The deny assignments that concern a scope.
    pub async fn deny_assignments(
        &self,
        scope: &ResourceId,
    ) -> Result<Vec<Raw<DenyAssignment>>, Error> {
        let path = format!("{scope}/providers/Microsoft.Authorization/denyAssignments");
        self.list(Call::get(&path, self.versions.authorization)?).await
    }

    /// The locks that concern a scope: at it, above it and below it.
    pub async fn locks(&self, scope: &ResourceId) -> Result<Vec<Raw<Lock>>, Error> {
        let path = format!("{scope}/providers/Microsoft.Authorization/locks");
        self.list(Call::get(&path, self.versions.locks)?).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_anywhere_and_in_any_case() {
        for (pattern, action, fits) in [
            ("a*b*b", "axb", false),
            ("a*b*b", "axbb", true),
            ("*", "A/b/read", true),
            ("*/read", "A/b/READ", true),
            ("*/read", "A/b/write", false),
            ("a/*/read", "A/b/c/read", true),
            ("a/*/read", "A/read", false),
            ("a/*", "A/b/delete", true),
            ("A/b/join/action", "a/B/join/Action", true),
            ("a/*/c/*/read", "a/b/c/d/read", true),
            ("a/*/x/*/read", "a/b/c/d/read", false),
            ("", "A/read", false),
        ] {
            assert_eq!(is_match(pattern, action), fits, "{pattern} {action}");
        }
    }

    #[test]
    fn permission_does_not_cover_what_it_takes_away() {
        let text = r#"{"actions": ["Microsoft.Network/*"], "notActions": ["*/DELETE"], "dataActions": null}"#;
        let permission: Permission = serde_json::from_str(text).unwrap();
        assert!(permission.covers("microsoft.network/virtualNetworks/subnets/join/action"));
        assert!(!permission.covers("Microsoft.Network/virtualNetworks/delete"));
        let bare: Permission = serde_json::from_str(r#"{"actions": null}"#).unwrap();
        assert!(!bare.covers("a/read"));
    }
}

//! Resource groups, networks and authorization.

use serde::Deserialize;
use serde_json::Value;

use super::lists::or_default;
use crate::client::Client;
use crate::error::Error;
use crate::path::resource_id::ResourceId;
use crate::request::Call;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ResourceGroup {
    managed_by: Option<String>,
}

impl Client {
    /// Returns the resource that manages a resource group: the cluster of a node resource group.
    pub async fn managed_by(
        &self,
        subscription: &str,
        resource_group: &str,
    ) -> Result<Option<ResourceId>, Error> {
        // Parsed as an ID, so that a name cannot add segments to the path.
        let sample = ResourceId::of(subscription, resource_group, "Microsoft.Compute", "disks/x")?;
        let (path, _) = sample.as_str().split_once("/providers/").unwrap_or((sample.as_str(), ""));
        let group: ResourceGroup = self.read(Call::get(path, self.versions.resources)?).await?;
        Ok(group.managed_by.as_ref().and_then(|id| ResourceId::parse(id).ok()))
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Reference {
    pub id: Option<ResourceId>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Subnet {
    pub properties: SubnetProperties,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SubnetProperties {
    /// Set if the subnet has one range.
    pub address_prefix: Option<String>,
    /// Set if the subnet has several ranges.
    #[serde(deserialize_with = "or_default")]
    pub address_prefixes: Vec<String>,
    /// Addresses in use.
    #[serde(deserialize_with = "or_default")]
    pub ip_configurations: Vec<Reference>,
}

impl Client {
    pub async fn subnet(&self, subnet: &ResourceId) -> Result<Subnet, Error> {
        self.read(Call::get(subnet.as_str(), self.versions.network)?).await
    }

    pub async fn scale_set_nics(&self, scale_set: &ResourceId) -> Result<Vec<Value>, Error> {
        let path = format!("{scale_set}/networkInterfaces");
        self.list(Call::get(&path, self.versions.scale_set_network)?).await
    }
}

/// Actions that a role grants or a deny assignment denies.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Permission {
    /// Patterns of actions; `*` matches anything.
    #[serde(deserialize_with = "or_default")]
    pub actions: Vec<String>,
    /// Patterns that are excluded from `actions`.
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

/// Returns true if the action matches the pattern, in which each `*` matches anything, ignoring case.
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
    /// ID, which starts with the locked scope.
    pub id: String,
    pub name: String,
    pub properties: LockProperties,
}

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

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct DenyAssignmentProperties {
    pub deny_assignment_name: String,
    #[serde(deserialize_with = "or_default")]
    pub permissions: Vec<Permission>,
    pub scope: String,
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
    /// Object ID; all zeros for everyone.
    pub id: String,
    /// `User`, `Group`, `ServicePrincipal` or `SystemDefined`.
    #[serde(rename = "type")]
    pub kind: String,
}

impl Client {
    /// Returns the caller's permissions at a scope, including inherited ones.
    pub async fn permissions(&self, scope: &ResourceId) -> Result<Vec<Permission>, Error> {
        let path = format!("{scope}/providers/Microsoft.Authorization/permissions");
        self.list(Call::get(&path, self.versions.authorization)?).await
    }

    pub async fn deny_assignments(&self, scope: &ResourceId) -> Result<Vec<DenyAssignment>, Error> {
        let path = format!("{scope}/providers/Microsoft.Authorization/denyAssignments");
        self.list(Call::get(&path, self.versions.authorization)?).await
    }

    /// Returns the locks at, above and below a scope.
    pub async fn locks(&self, scope: &ResourceId) -> Result<Vec<Lock>, Error> {
        let path = format!("{scope}/providers/Microsoft.Authorization/locks");
        self.list(Call::get(&path, self.versions.locks)?).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_anywhere_and_ignore_case() {
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
    fn permission_does_not_cover_excluded_actions() {
        let text = r#"{"actions": ["Microsoft.Network/*"], "notActions": ["*/DELETE"], "dataActions": null}"#;
        let permission: Permission = serde_json::from_str(text).unwrap();
        assert!(permission.covers("microsoft.network/virtualNetworks/subnets/join/action"));
        assert!(!permission.covers("Microsoft.Network/virtualNetworks/delete"));
        let bare: Permission = serde_json::from_str(r#"{"actions": null}"#).unwrap();
        assert!(!bare.covers("a/read"));
    }
}

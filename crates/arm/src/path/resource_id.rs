//! Azure resource IDs, which are case-insensitive.

use std::fmt;

use serde::{Deserialize, Serialize};

/// `/subscriptions/…/resourceGroups/…/providers/<namespace>/<type>/<name>[/<type>/<name>…]`.
///
/// Keeps its case, and compares without regard to case as Azure does.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct ResourceId(String);

impl ResourceId {
    /// Parses an ID, also with the prefix `azure://` of a Kubernetes provider ID.
    pub fn parse(text: &str) -> Result<Self, ResourceIdError> {
        let text = text.trim().trim_end_matches('/');
        let text = text.strip_prefix("azure://").unwrap_or(text);
        let wrong = || ResourceIdError(mooring_redact::identifier(text));
        let segments = text.strip_prefix('/').ok_or_else(wrong)?.split('/');
        let segments: Vec<&str> = segments.collect();
        let is_subscription = segments[0].eq_ignore_ascii_case("subscriptions");
        let dots = |segment: &&str| matches!(*segment, "" | "." | "..");
        // `providers/<namespace>` is a pair, so every complete ID has an even number of segments.
        let is_complete = segments.len().is_multiple_of(2) && !segments.iter().any(dots);
        if !is_subscription || !is_complete || text.chars().any(is_unsafe) {
            return Err(wrong());
        }
        Ok(Self(text.to_owned()))
    }

    /// Creates the ID of a resource in a resource group; `path` is `type/name[/type/name…]`.
    pub fn of(
        subscription: &str,
        resource_group: &str,
        namespace: &str,
        path: &str,
    ) -> Result<Self, ResourceIdError> {
        Self::parse(&format!(
            "/subscriptions/{subscription}/resourceGroups/{resource_group}/providers/{namespace}/{path}"
        ))
    }

    pub fn cluster(
        subscription: &str,
        resource_group: &str,
        name: &str,
    ) -> Result<Self, ResourceIdError> {
        let path = format!("managedClusters/{name}");
        Self::of(subscription, resource_group, "Microsoft.ContainerService", &path)
    }

    pub fn child(&self, kind: &str, name: &str) -> Result<Self, ResourceIdError> {
        Self::parse(&format!("{}/{kind}/{name}", self.0))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    pub fn subscription(&self) -> &str {
        self.value("subscriptions").unwrap_or_default()
    }

    pub fn resource_group(&self) -> Option<&str> {
        self.value("resourceGroups")
    }

    /// Returns the segment after a key, such as the name after `virtualMachines`.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.segments()
            .find(|(segment, _)| segment.eq_ignore_ascii_case(key))
            .map(|(_, value)| value)
    }

    /// Returns the type with its namespace in lowercase: `microsoft.compute/virtualmachines`.
    pub fn kind(&self) -> String {
        let mut kind = String::new();
        for (key, value) in self.segments() {
            if key.eq_ignore_ascii_case("providers") {
                kind = value.to_ascii_lowercase();
            } else if !kind.is_empty() {
                kind.push('/');
                kind.push_str(&key.to_ascii_lowercase());
            }
        }
        kind
    }

    /// Returns the lowercase form, which is the same for equal IDs.
    pub fn folded(&self) -> String {
        self.0.to_ascii_lowercase()
    }

    fn segments(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut segments = self.0[1..].split('/');
        std::iter::from_fn(move || Some((segments.next()?, segments.next()?)))
    }
}

/// Returns true for characters that end the path of a URL or are invalid in names.
fn is_unsafe(character: char) -> bool {
    character.is_control()
        || character.is_whitespace()
        || matches!(character, '?' | '#' | '%' | '\\')
}

impl fmt::Display for ResourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ResourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl PartialEq for ResourceId {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }
}

impl Eq for ResourceId {}

impl std::hash::Hash for ResourceId {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.folded().hash(state);
    }
}

impl PartialOrd for ResourceId {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ResourceId {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.folded().cmp(&other.folded())
    }
}

impl TryFrom<String> for ResourceId {
    type Error = ResourceIdError;

    fn try_from(text: String) -> Result<Self, ResourceIdError> {
        Self::parse(&text)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid resource ID: {0}")]
pub struct ResourceIdError(String);

#[cfg(test)]
mod tests {
    use std::hash::{BuildHasher, DefaultHasher};

    use super::*;

    const VM: &str =
        "/subscriptions/s/resourceGroups/MC_rg/providers/Microsoft.Compute/virtualMachines/vm1";

    #[test]
    fn ids_compare_without_case_and_keep_their_case() {
        let one = ResourceId::parse(VM).unwrap();
        assert_eq!(one, ResourceId::parse(&format!("azure://{}/", VM.to_uppercase())).unwrap());
        let lower = ResourceId::parse(&format!("azure://{}", VM.to_lowercase())).unwrap();
        assert_eq!(one, lower);
        assert_eq!(one.as_str(), VM);
        assert_eq!(lower.resource_group(), Some("mc_rg"));
        let next = ResourceId::parse(&VM.to_uppercase().replace("VM1", "VM2")).unwrap();
        assert!(one < next && lower < next && one <= lower, "{one:?} {next:?}");
        assert_ne!(one, next);
        assert_eq!(format!("{one:?}"), VM);
        let hash =
            |id: &ResourceId| std::hash::BuildHasherDefault::<DefaultHasher>::new().hash_one(id);
        assert_eq!(hash(&one), hash(&lower));
        assert_ne!(hash(&one), hash(&next));
    }

    #[test]
    fn id_is_serialized_as_its_text() {
        let json = serde_json::to_string(&ResourceId::parse(VM).unwrap()).unwrap();
        assert_eq!(json, format!("\"{VM}\""));
        assert_eq!(serde_json::from_str::<ResourceId>(&json).unwrap().as_str(), VM);
        assert!(serde_json::from_str::<ResourceId>("\"vm1\"").is_err());
    }

    #[test]
    fn parts_are_found_by_name() {
        let id = ResourceId::cluster("s", "rg", "c").unwrap().child("agentPools", "p").unwrap();
        assert_eq!(id.kind(), "microsoft.containerservice/managedclusters/agentpools");
        assert_eq!((id.name(), id.value("managedclusters")), ("p", Some("c")));
    }

    #[test]
    fn id_that_could_escape_the_path_is_rejected() {
        for text in [
            "",
            "/",
            "vm1",
            "/x/y",
            "/subscriptions",
            "/subscriptions/s/resourceGroups",
            "/subscriptions/s/../x",
            "/subscriptions/s/resourceGroups/r?x=y/a",
            "/subscriptions/s/resourceGroups/a b",
            "/subscriptions//a/b",
        ] {
            assert!(ResourceId::parse(text).is_err(), "{text:?}");
        }
    }
}

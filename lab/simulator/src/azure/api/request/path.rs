//! The path of a request, split and decoded.

use crate::exchange::decode;

/// A path of Azure Resource Manager. It is case-insensitive, but names keep their case.
#[derive(Debug, Clone, Default)]
pub(crate) struct ArmPath {
    pub(crate) segments: Vec<String>,
    /// The segments in lower case, for comparison.
    pub(crate) lower: Vec<String>,
}

impl ArmPath {
    pub(crate) fn parse(path: &str) -> Self {
        let segments: Vec<String> = path
            .split('/')
            .filter(|part| !part.is_empty())
            .map(|part| decode(part, false))
            .collect();
        let lower = segments.iter().map(|part| part.to_lowercase()).collect();
        Self { segments, lower }
    }

    pub(crate) fn key(&self, count: usize) -> String {
        join(&self.lower[..count.min(self.lower.len())])
    }

    /// Returns the resource type of the path (`microsoft.compute/virtualmachines`), in lower case.
    pub(crate) fn resource_type(&self) -> Option<String> {
        let at = self.lower.iter().rposition(|part| part == "providers")?;
        let namespace = self.lower.get(at + 1)?;
        let types: Vec<&str> = self.lower[at + 2..].iter().step_by(2).map(String::as_str).collect();
        Some(if types.is_empty() {
            namespace.clone()
        } else {
            format!("{namespace}/{}", types.join("/"))
        })
    }
}

fn join(parts: &[String]) -> String {
    parts.iter().fold(String::new(), |mut key, part| {
        key.push('/');
        key.push_str(part);
        key
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_read_from_the_last_provider() {
        let kind = |path: &str| ArmPath::parse(path).resource_type();
        assert_eq!(
            kind("/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/v/extensions/e")
                .as_deref(),
            Some("microsoft.compute/virtualmachines/extensions")
        );
        assert_eq!(kind("/subscriptions/s"), None);
    }
}

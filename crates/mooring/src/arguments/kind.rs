//! Names as `kubectl get -o name` and `-o name` print them.

const NODE_CLAIM: &str = "nodeclaim.karpenter.sh/";
const NODE: &str = "node/";
const KINDS: [&str; 3] = [NODE_CLAIM, "nodepool.karpenter.sh/", NODE];

/// Returns the name of a NodeClaim, else of its Node, with the kind.
pub(crate) fn with_kind(node_claim: Option<&str>, node: Option<&str>) -> Option<String> {
    match (node_claim, node) {
        (Some(claim), _) => Some(format!("{NODE_CLAIM}{claim}")),
        (None, Some(node)) => Some(format!("{NODE}{node}")),
        (None, None) => None,
    }
}

/// Returns the name without its kind. `node/3` is the instance of a pool.
pub(crate) fn without_kind(name: &str) -> &str {
    let rest = KINDS.iter().find_map(|kind| name.strip_prefix(kind));
    rest.filter(|rest| rest.bytes().any(|byte| !byte.is_ascii_digit())).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::{with_kind, without_kind};

    #[test]
    fn kinds_of_kubectl_are_removed() {
        for (name, expected) in [
            ("nodeclaim.karpenter.sh/default-2jf98", "default-2jf98"),
            ("nodepool.karpenter.sh/default", "default"),
            ("node/aks-default-2jf98", "aks-default-2jf98"),
            ("default-2jf98", "default-2jf98"),
            ("system/3", "system/3"),
            ("node/3", "node/3"),
            ("node/", "node/"),
        ] {
            assert_eq!(without_kind(name), expected);
        }
    }

    #[test]
    fn claim_is_named_before_its_node() {
        assert_eq!(with_kind(Some("a"), Some("b")).as_deref(), Some("nodeclaim.karpenter.sh/a"));
        assert_eq!(with_kind(None, Some("b")).as_deref(), Some("node/b"));
        assert_eq!(with_kind(None, None), None);
    }
}

//! Names as `kubectl get -o name` and `-o name` print them.

const KINDS: [&str; 3] = ["nodeclaim.karpenter.sh/", "nodepool.karpenter.sh/", "node/"];

/// Returns the name without its kind. `node/3` is the instance of a pool.
pub(crate) fn without_kind(name: &str) -> &str {
    let rest = KINDS.iter().find_map(|kind| name.strip_prefix(kind));
    rest.filter(|rest| rest.bytes().any(|byte| !byte.is_ascii_digit())).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::without_kind;

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
}

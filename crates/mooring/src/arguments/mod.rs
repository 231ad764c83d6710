//! Arguments that several commands have, and parsers of their values.

mod cluster;

use std::time::Duration;

pub(crate) use cluster::{
    AzureMode, CLUSTER_HEADING, ClusterArguments, ClusterName, KubeArguments, SourceArguments,
};

const NODE_CLAIM: &str = "nodeclaim.karpenter.sh/";
const NODE: &str = "node/";
const KINDS: [&str; 3] = [NODE_CLAIM, "nodepool.karpenter.sh/", NODE];

/// Parses `90s`, `30m`, `24h` or `7d`.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a duration such as 30s, 90m, 24h or 7d");
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => return Err(wrong()),
    };
    let number: u64 = text[..text.len() - 1].parse().map_err(|_| wrong())?;
    number.checked_mul(seconds).filter(|all| *all > 0).map(Duration::from_secs).ok_or_else(wrong)
}

/// Parses a name that Kubernetes accepts for a namespace.
fn parse_namespace(text: &str) -> Result<String, String> {
    let is_end = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    let is_valid = (1..=63).contains(&bytes.len())
        && bytes.iter().all(|byte| is_end(*byte) || *byte == b'-')
        && [bytes.first(), bytes.last()].into_iter().flatten().all(|byte| is_end(*byte));
    is_valid.then(|| text.to_owned()).ok_or_else(|| {
        "the name of a namespace has at most 63 characters of a-z, 0-9 and -, and no - at its ends"
            .to_owned()
    })
}

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
    use super::*;

    #[test]
    fn durations_have_a_unit() {
        for (text, seconds) in [("30s", 30), ("2m", 120), ("24h", 86_400), ("7d", 604_800)] {
            assert_eq!(parse_duration(text), Ok(Duration::from_secs(seconds)));
        }
        for text in ["", "30", "s", "0s", "-1s", "1.5h", "1w", "99999999999999999999s", "é"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn namespaces_are_dns_labels() {
        for text in ["a", "mooring-system", "0ps", &"a".repeat(63)] {
            assert_eq!(parse_namespace(text).as_deref(), Ok(text));
        }
        for text in ["", "Bad Name!", "a_b", "a.b", "-a", "a-", "A", "é", &"a".repeat(64)] {
            assert!(parse_namespace(text).is_err(), "{text}");
        }
    }

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

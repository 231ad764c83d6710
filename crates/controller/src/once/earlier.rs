//! Earlier attempts on a node that is still there.

use super::told::{From, NodeTold};
use super::why::Looker;
use crate::record::Entry;

impl Looker {
    /// Adds what the record has of an earlier attempt on each node. Without the record there is none.
    pub async fn add_earlier(&self, told: &mut [NodeTold]) {
        let Ok(record) = self.record().await else { return };
        for one in told {
            if let Some(entry) = record.entries().find(|entry| is_earlier(one, entry)) {
                one.earlier = NodeTold::recorded(entry).verdict.failure;
            }
        }
    }
}

/// Returns true for a failure of the same node that is not the one that it shows now.
fn is_earlier(one: &NodeTold, entry: &Entry) -> bool {
    let is_same_node = one.node == entry.node || one.claim.as_deref() == Some(&*entry.node_claim);
    let now = one.verdict.failure.as_ref();
    let is_same_failure = now.is_some_and(|now| now.code == entry.code && now.cause == entry.cause);
    one.from != From::Record && one.earlier.is_none() && is_same_node && !is_same_failure
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::verdict::Verdict;
    use crate::verdict::condition::Reason;

    fn entry() -> Entry {
        serde_json::from_value(json!({
            "id": "1", "at": "2026-11-15T08:00:00Z", "uid": "u1", "nodeClaim": "c", "node": "aks-c",
            "reason": "CSEFailed", "message": "m", "note": "n", "key": "k", "code": 50, "cause": "OutboundConnFail",
        }))
        .unwrap()
    }

    #[test]
    fn failure_before_the_one_that_is_shown_is_an_earlier_attempt() {
        let same = NodeTold { from: From::Azure, ..NodeTold::recorded(&entry()) };
        assert!(!is_earlier(&same, &entry()), "Azure still shows it");
        let well =
            NodeTold { verdict: Verdict::plain(Reason::CseSucceeded, "well"), ..same.clone() };
        assert!(is_earlier(&well, &entry()));
        let other = Entry { code: Some(124), cause: "GlobalTimeout".to_owned(), ..entry() };
        assert!(is_earlier(&same, &other));
        let elsewhere = Entry { node: "aks-d".to_owned(), node_claim: "d".to_owned(), ..entry() };
        assert!(!is_earlier(&well, &elsewhere));
        assert!(!is_earlier(&NodeTold { from: From::Record, ..well }, &entry()));
    }
}

//! Earlier attempts on a node that still exists.

use mooring_nodes::record::FailureRecord;
use mooring_nodes::{NodeReport, ReportSource};

use super::why::NodeQuery;

impl NodeQuery {
    /// Adds the recorded earlier attempt to each node. Without a readable record there is none.
    pub async fn add_earlier(&self, reports: &mut [NodeReport]) {
        let Ok(record) = self.record().await else { return };
        for one in reports {
            if let Some(entry) = record.entries().find(|entry| is_earlier(one, entry)) {
                one.earlier = NodeReport::recorded(entry).verdict.failure;
            }
        }
    }
}

/// Returns true for a failure of the same node other than the one shown now.
fn is_earlier(one: &NodeReport, entry: &FailureRecord) -> bool {
    let is_same_node = one.node == entry.node || one.claim.as_deref() == Some(&*entry.node_claim);
    let now = one.verdict.failure.as_ref();
    let is_same_failure = now.is_some_and(|now| now.code == entry.code && now.cause == entry.cause);
    one.source != ReportSource::Record && one.earlier.is_none() && is_same_node && !is_same_failure
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use mooring_nodes::verdict::Verdict;
    use mooring_nodes::verdict::condition::ConditionReason;

    fn entry() -> FailureRecord {
        serde_json::from_value(json!({
            "id": "1", "at": "2026-11-15T08:00:00Z", "uid": "u1", "nodeClaim": "c", "node": "aks-c",
            "reason": "CSEFailed", "message": "m", "note": "n", "key": "k", "code": 50, "cause": "OutboundConnFail",
        }))
        .unwrap()
    }

    #[test]
    fn different_recorded_failure_is_an_earlier_attempt() {
        let same = NodeReport { source: ReportSource::Azure, ..NodeReport::recorded(&entry()) };
        assert!(!is_earlier(&same, &entry()), "Azure still shows it");
        let well = NodeReport {
            verdict: Verdict::plain(ConditionReason::CseSucceeded, "well"),
            ..same.clone()
        };
        assert!(is_earlier(&well, &entry()));
        let other = FailureRecord { code: Some(124), cause: "GlobalTimeout".to_owned(), ..entry() };
        assert!(is_earlier(&same, &other));
        let renamed = FailureRecord { node: "aks-d".to_owned(), ..entry() };
        let recreated = FailureRecord { node_claim: "d".to_owned(), ..entry() };
        assert!(is_earlier(&well, &renamed) && is_earlier(&well, &recreated));
        for other in [
            FailureRecord { code: Some(124), ..entry() },
            FailureRecord { cause: "GlobalTimeout".to_owned(), ..entry() },
        ] {
            assert!(is_earlier(&same, &other), "code or cause differs");
        }
        let known = NodeReport { earlier: same.verdict.failure.clone(), ..well.clone() };
        assert!(!is_earlier(&known, &entry()), "it has one");
        let elsewhere =
            FailureRecord { node: "aks-d".to_owned(), node_claim: "d".to_owned(), ..entry() };
        assert!(!is_earlier(&well, &elsewhere));
        assert!(!is_earlier(&NodeReport { source: ReportSource::Record, ..well }, &entry()));
    }
}

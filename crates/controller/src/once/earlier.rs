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

//! Karpenter's cache of NodeClaims: every version, and older ones for a while.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use crate::kubernetes::Kubernetes;
use crate::kubernetes::store::objects::name;

const NODE_CLAIMS: &str = "nodeclaims.karpenter.sh";
/// Versions kept of a NodeClaim: more than are written within any staleness.
const VERSIONS: usize = 32;

#[derive(Debug, Default)]
pub(super) struct Cache {
    revision: Option<u64>,
    claims: BTreeMap<String, VecDeque<(Timestamp, Value)>>,
}

impl Cache {
    /// Reads changes and returns the changed NodeClaims.
    pub(super) fn read(&mut self, kubernetes: &Kubernetes, now: Timestamp) -> Vec<String> {
        let newest = kubernetes.revision();
        if self.revision == Some(newest) {
            return Vec::new();
        }
        let mut touched: BTreeSet<String> = BTreeSet::new();
        let since =
            self.revision.and_then(|seen| kubernetes.store.changes_since(NODE_CLAIMS, seen));
        if let Some(news) = since {
            touched.extend(news.map(|change| change.key.name.clone()));
        } else {
            // At the start, or after a long gap, everything is read again.
            touched.extend(self.claims.keys().cloned());
            touched.extend(kubernetes.objects(NODE_CLAIMS, None).map(|one| name(one).to_owned()));
        }
        self.revision = Some(newest);
        for claim in &touched {
            let key = crate::kubernetes::Key::new(None, claim);
            match kubernetes.get(NODE_CLAIMS, &key) {
                Some(object) => {
                    let versions = self.claims.entry(claim.clone()).or_default();
                    versions.push_back((now, object.clone()));
                    if versions.len() > VERSIONS {
                        versions.pop_front();
                    }
                }
                None => {
                    self.claims.remove(claim);
                }
            }
        }
        touched.into_iter().collect()
    }

    pub(super) fn newest(&self, claim: &str) -> Option<&Value> {
        self.claims.get(claim)?.back().map(|(_, object)| object)
    }

    /// Returns the NodeClaim of so long ago, or its first version.
    pub(super) fn old(&self, claim: &str, age: Duration, now: Timestamp) -> Option<&Value> {
        let then = now.checked_sub(age).unwrap_or(now);
        let versions = self.claims.get(claim)?;
        let old = versions.iter().rev().find(|(at, _)| *at <= then);
        old.or(versions.front()).map(|(_, object)| object)
    }
}

//! Events of Karpenter's disruption about NodeClaims without a Node, including those that come up later.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::karpenter::client::Client;
use crate::karpenter::event;
use crate::kubernetes::store::objects::{name, text, time};

/// Seconds until disruption considers a launched NodeClaim, and for which the same event is suppressed.
pub(crate) const FIRST: u64 = 10;
pub(crate) const AGAIN: u64 = 120;

/// Events written, by NodeClaim: name and number of repetitions.
#[derive(Debug, Default)]
pub(crate) struct Blocked(BTreeMap<String, (String, u32)>);

impl Blocked {
    /// Writes the event, or increments its count.
    pub(crate) fn report(&mut self, claim: &Value, client: &mut Client<'_>) {
        if let Some((event, count)) = self.0.get_mut(name(claim)) {
            *count += 1;
            let patch = json!({"count": count, "lastTimestamp": time(client.now)});
            client.patch(&format!("{}/{event}", event::EVENTS), &patch);
            return;
        }
        let message = "Nodeclaim does not have an associated node";
        let reason = "DisruptionBlocked";
        let body = event::about("NodeClaim", claim, "Normal", reason, message, client.now);
        client.create(event::EVENTS, &body);
        let event = text(&body, &["metadata", "name"]).to_owned();
        self.0.insert(name(claim).to_owned(), (event, 1));
    }

    pub(crate) fn forget(&mut self, claim: &str) {
        self.0.remove(claim);
    }
}

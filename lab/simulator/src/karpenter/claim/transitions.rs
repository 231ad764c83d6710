//! Events about conditions, Karpenter's own and others: each transition is a Normal event with the
//! whole message, and the condition's type as reason. A missing condition counts as unknown.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use super::conditions::{ENDING, is_own};
use crate::karpenter::event;
use crate::kubernetes::store::objects::{list, name, text};

const UNKNOWN: &str = "Unknown";

/// Last statuses by NodeClaim and type, and the events to write.
#[derive(Debug, Default)]
pub(crate) struct Transitions {
    seen: BTreeMap<String, BTreeMap<String, String>>,
    events: Vec<Value>,
}

impl Transitions {
    /// Compares a NodeClaim with its last statuses.
    pub(crate) fn see(&mut self, claim: &Value, now: Timestamp) {
        let mut statuses = BTreeMap::new();
        let before = self.seen.get(name(claim));
        for condition in list(claim, &["status", "conditions"]) {
            let (kind, status) = (text(condition, &["type"]), text(condition, &["status"]));
            // No event for the deletion, nor for own conditions of a NodeClaim that exists when Karpenter starts.
            if kind == ENDING || (is_own(kind) && before.is_none()) {
                statuses.insert(kind.to_owned(), status.to_owned());
                continue;
            }
            let was = before.and_then(|before| before.get(kind)).map_or(UNKNOWN, String::as_str);
            if was != status {
                self.events.push(event::transition("NodeClaim", claim, condition, was, now));
            }
            statuses.insert(kind.to_owned(), status.to_owned());
        }
        self.seen.insert(name(claim).to_owned(), statuses);
    }

    pub(crate) fn forget(&mut self, claim: &str) {
        self.seen.remove(claim);
    }

    pub(crate) fn take_events(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.events)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn status_change_is_an_event_with_the_whole_message() {
        let claim = |conditions: Value| json!({"metadata": {"name": "c", "uid": "u"}, "status": {"conditions": conditions}});
        let ours = |status: &str| json!({"type": "CSEProvisioned", "status": status, "reason": "R", "message": "m"});
        let mut transitions = Transitions::default();
        let mut count = |conditions: Value| {
            transitions.see(&claim(conditions), Timestamp::UNIX_EPOCH);
            transitions.take_events()
        };
        let launched =
            |status: &str| json!({"type": "Launched", "status": status, "reason": "Launched"});
        assert!(count(json!([launched("Unknown")])).is_empty());
        assert_eq!(
            count(json!([launched("True")]))[0]["message"],
            "Status condition transitioned, Type: Launched, Status: Unknown -> True, Reason: Launched"
        );
        assert!(count(json!([ours("Unknown")])).is_empty());
        let events = count(json!([ours("False")]));
        assert_eq!(
            events[0]["message"],
            "Status condition transitioned, Type: CSEProvisioned, Status: Unknown -> False, Reason: R, Message: m"
        );
        assert!(count(json!([ours("False")])).is_empty());
        assert!(count(json!([])).is_empty(), "nothing is said of one that is gone");
        assert_eq!(count(json!([ours("False")])).len(), 1, "one that comes back is a change");
    }
}

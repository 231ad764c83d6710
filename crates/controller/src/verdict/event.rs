//! Events that outlive the NodeClaim: bodies of `events.k8s.io/v1`, each with a name derived from its content.
//!
//! `kubectl describe` lists the events of an object without a namespace by its kind, name and uid and by an **empty**
//! `involvedObject.namespace`. So every event has the uid of its object, and no namespace, except on servers before
//! Kubernetes 1.23, which reject that in `default` ([`requires_namespace`]).
//!
//! A name derived from uid and verdict makes creation idempotent: a controller that was killed after the write gets
//! "already exists" the next time. So events need no series and no memory of those sent.

use jiff::Timestamp;
use mooring_nodes::text::{bounded, hash, safe};
use mooring_nodes::verdict::messages::MAX_NOTE_BYTES;
use serde_json::{Value, json};

/// Namespace of events about objects without a namespace.
pub const NAMESPACE: &str = "default";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regarding {
    pub kind: RegardingKind,
    pub name: String,
    /// If unknown, read before the event is sent.
    pub uid: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RegardingKind {
    NodeClaim,
    NodePool,
    AksNodeClass,
}

impl RegardingKind {
    /// Returns group, version, kind and plural of the resource.
    pub(crate) const fn resource(self) -> [&'static str; 4] {
        match self {
            Self::NodeClaim => ["karpenter.sh", "v1", "NodeClaim", "nodeclaims"],
            Self::NodePool => ["karpenter.sh", "v1", "NodePool", "nodepools"],
            Self::AksNodeClass => {
                ["karpenter.azure.com", "v1beta1", "AKSNodeClass", "aksnodeclasses"]
            }
        }
    }

    pub const fn as_str(self) -> &'static str {
        let [_, _, kind, _] = self.resource();
        kind
    }

    fn api_version(self) -> String {
        let [group, version, ..] = self.resource();
        format!("{group}/{version}")
    }

    /// Returns the path of an object of this kind. None for an invalid name: names of node classes come from
    /// NodeClaims, where they are not validated.
    pub fn path(self, name: &str) -> Option<String> {
        let bytes = name.as_bytes();
        let inner = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
        let ends = [bytes.first(), bytes.last()];
        let valid = name.len() <= 253
            && bytes.iter().all(inner)
            && ends.iter().all(|end| end.is_some_and(u8::is_ascii_alphanumeric));
        let [group, version, _, plural] = self.resource();
        valid.then(|| format!("/apis/{group}/{version}/{plural}/{name}"))
    }
}

/// An event to create. All are warnings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub regarding: Regarding,
    /// `CSEFailed`, `CSETimedOut`, `NodeNotRegistered` or `ImageFailsBootstrap`.
    pub reason: &'static str,
    pub note: String,
    /// Identity of the event; part of its name.
    pub key: String,
    pub at: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventForm {
    /// Without a namespace, like NodeClaims, NodePools and node classes.
    Plain,
    /// With the namespace of the event, for servers before 1.23. `kubectl describe` does not show it.
    Namespaced,
}

/// Returns true if the API server rejected an event because its object has no namespace: it is older than
/// Kubernetes 1.23.
pub fn requires_namespace(status: Option<u16>, message: &str) -> bool {
    status == Some(422) && message.contains("involvedObject.namespace")
}

impl Event {
    /// Returns the same name for the same object, reason and key.
    pub fn name(&self, uid: &str) -> String {
        let Regarding { kind, name, .. } = &self.regarding;
        let hash = hash(&[kind.as_str(), uid, self.reason, &self.key]);
        // Names of objects and of events have at most 253 characters.
        let name = &name[..name.floor_char_boundary(200)];
        format!("{}.{hash:016x}", name.trim_end_matches(['.', '-']))
    }

    /// Returns the body to post to `/apis/events.k8s.io/v1/namespaces/default/events`, about the object with this uid.
    pub fn body(&self, uid: &str, instance: &str, form: EventForm) -> Value {
        let Regarding { kind, name, .. } = &self.regarding;
        let mut regarding = json!({"apiVersion": kind.api_version(), "kind": kind.as_str(), "name": name, "uid": uid});
        if form == EventForm::Namespaced {
            regarding["namespace"] = json!(NAMESPACE);
        }
        json!({
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": self.name(uid), "namespace": NAMESPACE},
            "eventTime": format!("{:.6}", self.at),
            "reportingController": "mooring",
            "reportingInstance": bounded(instance, 128),
            "action": "Bootstrap",
            "type": "Warning",
            "reason": self.reason,
            "note": safe(&self.note, MAX_NOTE_BYTES),
            "regarding": regarding,
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventResult {
    /// Created now or by an earlier attempt.
    Created,
    Rejected,
    Retry,
}

impl EventResult {
    /// Converts the status of a response; none without a response.
    #[must_use]
    pub fn of(status: Option<u16>) -> Self {
        match status {
            Some(200..=299 | 409) => Self::Created,
            Some(400 | 401 | 403 | 404 | 413 | 422) => Self::Rejected,
            _ => Self::Retry,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event() -> Event {
        Event {
            regarding: Regarding {
                kind: RegardingKind::NodeClaim,
                name: "default-2jf98".into(),
                uid: Some("u1".into()),
            },
            reason: "CSEFailed",
            note:
                "CSE exited with code 211 on node aks-default-2jf98: ERR_ORAS_PULL_NETWORK_TIMEOUT"
                    .into(),
            key: "CSEFailed/211/OrasBinaryMissing".into(),
            at: "2026-11-15T08:03:40.5Z".parse().unwrap(),
        }
    }

    #[test]
    fn event_body_matches_the_api() {
        assert_eq!(
            event().body("u1", "pod-1", EventForm::Plain),
            json!({
                "apiVersion": "events.k8s.io/v1", "kind": "Event",
                "metadata": {"name": event().name("u1"), "namespace": "default"},
                "eventTime": "2026-11-15T08:03:40.500000Z",
                "reportingController": "mooring", "reportingInstance": "pod-1",
                "action": "Bootstrap", "type": "Warning", "reason": "CSEFailed",
                "note": "CSE exited with code 211 on node aks-default-2jf98: ERR_ORAS_PULL_NETWORK_TIMEOUT",
                "regarding": {"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "name": "default-2jf98", "uid": "u1"},
            })
        );
        let old = event().body("u1", "pod-1", EventForm::Namespaced);
        assert_eq!(old["regarding"]["namespace"], "default");
    }

    #[test]
    fn rejected_namespace_identifies_an_old_server() {
        let message = "Event \"e\" is invalid: involvedObject.namespace: Invalid value: \"\": does not match event.namespace";
        assert!(requires_namespace(Some(422), message));
        assert!(!requires_namespace(Some(403), message));
        assert!(!requires_namespace(Some(422), "Event \"e\" is invalid: note: Invalid value"));
    }

    #[test]
    fn path_rejects_invalid_names() {
        assert_eq!(
            RegardingKind::AksNodeClass.path("default").as_deref(),
            Some("/apis/karpenter.azure.com/v1beta1/aksnodeclasses/default")
        );
        for name in ["", "../../secrets", "a/b", "a?b", "a b", "-a", "a.", &"a".repeat(254)] {
            assert_eq!(RegardingKind::AksNodeClass.path(name), None, "{name}");
        }
    }

    #[test]
    fn event_name_is_derived_from_the_verdict() {
        let name = event().name("u1");
        assert_eq!(Event { note: "other words".into(), ..event() }.name("u1"), name);
        let others = [
            Event { key: "CSEFailed/50/OutboundConnFail".into(), ..event() },
            Event { reason: "NodeNotRegistered", ..event() },
            Event {
                regarding: Regarding { kind: RegardingKind::NodePool, ..event().regarding },
                ..event()
            },
        ];
        assert!(others.iter().all(|other| other.name("u1") != name));
        assert_ne!(event().name("u2"), name);
        assert!(name.starts_with("default-2jf98.") && name.len() == "default-2jf98.".len() + 16);
    }

    #[test]
    fn event_name_and_note_fit_the_api_limits() {
        let long = Event {
            regarding: Regarding { name: "a".repeat(253), ..event().regarding },
            note: "é\u{1b}[2J ".repeat(2000),
            ..event()
        };
        assert!(long.name("u1").len() <= 253);
        let body = long.body("u1", &"i".repeat(500), EventForm::Plain);
        let note = body["note"].as_str().unwrap();
        assert!(note.len() <= 1024 && !note.contains('\u{1b}'));
        assert!(body["reportingInstance"].as_str().unwrap().len() <= 128);
    }

    #[test]
    fn existing_event_counts_as_created() {
        assert_eq!(EventResult::of(Some(409)), EventResult::Created);
        assert_eq!(EventResult::of(Some(201)), EventResult::Created);
        assert_eq!(EventResult::of(Some(403)), EventResult::Rejected);
        assert_eq!(EventResult::of(None), EventResult::Retry);
        assert_eq!(EventResult::of(Some(503)), EventResult::Retry);
    }
}

//! Events that survive the claim: bodies of `events.k8s.io/v1`, each with a name that is made from
//! what it says.
//!
//! `kubectl describe` lists the events of an object without a namespace by its kind, name and uid and by an **empty**
//! `involvedObject.namespace`. So every event carries the uid of its object, and no namespace of it, except on servers
//! before Kubernetes 1.23, which refuse that in `default` ([`refuses_no_namespace`]).
//!
//! A name that follows from uid and verdict makes creating an event idempotent: a controller that was
//! killed after the write gets "already exists" the next time, and that is done. So no series, and no
//! memory of what was sent.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::hash::hash;
use crate::verdict::text::{bounded, safe};
use crate::verdict::wording::LONGEST_NOTE;

/// Events about objects without a namespace live here.
pub const NAMESPACE: &str = "default";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regarding {
    /// The kind; it fixes the API group.
    pub kind: Kind,
    pub name: String,
    /// The object's uid. Where none is known, it is read before the event is sent.
    pub uid: Option<String>,
}

/// The kinds that events are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    NodeClaim,
    /// A `NodePool`.
    NodePool,
    /// An `AKSNodeClass`.
    AksNodeClass,
}

impl Kind {
    /// The kind as the API writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NodeClaim => "NodeClaim",
            Self::NodePool => "NodePool",
            Self::AksNodeClass => "AKSNodeClass",
        }
    }

    const fn api_version(self) -> &'static str {
        match self {
            Self::NodeClaim | Self::NodePool => "karpenter.sh/v1",
            Self::AksNodeClass => "karpenter.azure.com/v1beta1",
        }
    }

    /// The path of an object of this kind. None for a name that no object can have: names of node classes come from
    /// NodeClaims, where nothing checks them.
    pub fn path(self, name: &str) -> Option<String> {
        let plural = match self {
            Self::NodeClaim => "nodeclaims",
            Self::NodePool => "nodepools",
            Self::AksNodeClass => "aksnodeclasses",
        };
        let bytes = name.as_bytes();
        let inner = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
        let ends = [bytes.first(), bytes.last()];
        let valid = name.len() <= 253
            && bytes.iter().all(inner)
            && ends.iter().all(|end| end.is_some_and(u8::is_ascii_alphanumeric));
        valid.then(|| format!("/apis/{}/{plural}/{name}", self.api_version()))
    }
}

/// An event to create. All are warnings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub regarding: Regarding,
    /// The reason: `CSEFailed`, `CSETimedOut`, `NodeNotRegistered`, `ImageFailsBootstrap`.
    pub reason: &'static str,
    pub note: String,
    /// What makes it this event and no other; goes into the name.
    pub key: String,
    pub at: Timestamp,
}

/// Whether an event names a namespace of its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// It does not: NodeClaims, NodePools and node classes have none.
    Plain,
    /// It names the event's own namespace, for servers before 1.23. `kubectl describe` does not show it.
    Namespaced,
}

/// Whether the API server refused an event because its object has no namespace: it is older than Kubernetes 1.23.
pub fn refuses_no_namespace(status: Option<u16>, message: &str) -> bool {
    status == Some(422) && message.contains("involvedObject.namespace")
}

impl Event {
    /// The event's name, the same for the same object, reason and key.
    pub fn name(&self, uid: &str) -> String {
        let Regarding { kind, name, .. } = &self.regarding;
        let hash = hash(&[kind.as_str(), uid, self.reason, &self.key]);
        // An object's name has at most 253 characters, and so has an event's.
        let name = &name[..name.floor_char_boundary(200)];
        format!("{}.{hash:016x}", name.trim_end_matches(['.', '-']))
    }

    /// The body to post to `/apis/events.k8s.io/v1/namespaces/default/events`, about the object with this uid.
    pub fn body(&self, uid: &str, instance: &str, form: Form) -> Value {
        let Regarding { kind, name, .. } = &self.regarding;
        let mut regarding = json!({"apiVersion": kind.api_version(), "kind": kind.as_str(), "name": name, "uid": uid});
        if form == Form::Namespaced {
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
            "note": safe(&self.note, LONGEST_NOTE),
            "regarding": regarding,
        })
    }
}

/// What the API server made of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is there, now or since an earlier try.
    There,
    /// It will never be: the server refuses it.
    Never,
    Retry,
}

impl Answer {
    /// From the response's status; none if there was no response.
    #[must_use]
    pub fn of(status: Option<u16>) -> Self {
        match status {
            Some(200..=299 | 409) => Self::There,
            Some(400 | 401 | 403 | 404 | 413 | 422) => Self::Never,
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
                kind: Kind::NodeClaim,
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
    fn a_body_is_what_the_api_takes() {
        assert_eq!(
            event().body("u1", "pod-1", Form::Plain),
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
        let old = event().body("u1", "pod-1", Form::Namespaced);
        assert_eq!(old["regarding"]["namespace"], "default");
    }

    #[test]
    fn only_a_refused_namespace_is_an_old_server() {
        let said = "Event \"e\" is invalid: involvedObject.namespace: Invalid value: \"\": does not match event.namespace";
        assert!(refuses_no_namespace(Some(422), said));
        assert!(!refuses_no_namespace(Some(403), said));
        assert!(!refuses_no_namespace(Some(422), "Event \"e\" is invalid: note: Invalid value"));
    }

    #[test]
    fn a_path_holds_only_names_that_objects_can_have() {
        assert_eq!(
            Kind::AksNodeClass.path("default").as_deref(),
            Some("/apis/karpenter.azure.com/v1beta1/aksnodeclasses/default")
        );
        for name in ["", "../../secrets", "a/b", "a?b", "a b", "-a", "a.", &"a".repeat(254)] {
            assert_eq!(Kind::AksNodeClass.path(name), None, "{name}");
        }
    }

    #[test]
    fn the_same_verdict_has_the_same_name_and_another_has_another() {
        let name = event().name("u1");
        assert_eq!(Event { note: "other words".into(), ..event() }.name("u1"), name);
        let others = [
            Event { key: "CSEFailed/50/OutboundConnFail".into(), ..event() },
            Event { reason: "NodeNotRegistered", ..event() },
            Event { regarding: Regarding { kind: Kind::NodePool, ..event().regarding }, ..event() },
        ];
        assert!(others.iter().all(|other| other.name("u1") != name));
        assert_ne!(event().name("u2"), name);
        assert!(name.starts_with("default-2jf98.") && name.len() == "default-2jf98.".len() + 16);
    }

    #[test]
    fn a_name_and_a_note_never_outgrow_the_api() {
        let long = Event {
            regarding: Regarding { name: "a".repeat(253), ..event().regarding },
            note: "é\u{1b}[2J ".repeat(2000),
            ..event()
        };
        assert!(long.name("u1").len() <= 253);
        let body = long.body("u1", &"i".repeat(500), Form::Plain);
        let note = body["note"].as_str().unwrap();
        assert!(note.len() <= 1024 && !note.contains('\u{1b}'));
        assert!(body["reportingInstance"].as_str().unwrap().len() <= 128);
    }

    #[test]
    fn an_event_that_exists_is_done() {
        assert_eq!(Answer::of(Some(409)), Answer::There);
        assert_eq!(Answer::of(Some(201)), Answer::There);
        assert_eq!(Answer::of(Some(403)), Answer::Never);
        assert_eq!(Answer::of(None), Answer::Retry);
        assert_eq!(Answer::of(Some(503)), Answer::Retry);
    }
}

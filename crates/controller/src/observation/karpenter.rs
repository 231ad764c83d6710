//! Karpenter's events about nodes that it gives up on.
//!
//! Any client that may create events in `default` can write one, with any identity field. An event is a
//! reason to read Azure, and not evidence: VM names in its text are not used.

use jiff::Timestamp;
use mooring_nodes::text::bounded;
use serde::Deserialize;

/// Karpenter writes about 520 bytes.
const MAX_TEXT: usize = 1024;

/// `AsyncProvisioningError`: Karpenter gave up on a node and is deleting its VM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProvisioningError {
    pub uid: String,
    pub name: String,
    pub at: Timestamp,
    /// At most 500 bytes of Azure's error, which end before the exit code.
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureSubject {
    Cse,
    OtherExtension,
    /// The VM itself, quota, capacity or network.
    Else,
}

/// The fields of an event that are read, in either API group.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KarpenterEvent {
    reason: Option<String>,
    message: Option<String>,
    note: Option<String>,
    #[serde(alias = "regarding")]
    involved_object: Option<Object>,
    #[serde(alias = "deprecatedLastTimestamp")]
    last_timestamp: Option<Timestamp>,
    #[serde(rename = "eventTime")]
    at: Option<Timestamp>,
    #[serde(alias = "deprecatedSource")]
    source: Option<Source>,
    #[serde(alias = "reportingController")]
    reporting_component: Option<String>,
    #[serde(default)]
    pub(crate) metadata: EventMetadata,
}

#[derive(Clone, Debug, Deserialize)]
struct Object {
    kind: Option<String>,
    name: Option<String>,
    uid: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct Source {
    component: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EventMetadata {
    pub(crate) name: Option<String>,
    pub(crate) resource_version: Option<String>,
    creation_timestamp: Option<Timestamp>,
}

impl ProvisioningError {
    /// Parses an event of either API group; none if it is another event.
    pub fn from_json(json: &[u8]) -> Option<Self> {
        Self::of(serde_json::from_slice(json).ok()?)
    }

    pub(crate) fn of(event: KarpenterEvent) -> Option<Self> {
        let object = event.involved_object?;
        if event.reason.as_deref() != Some("AsyncProvisioningError")
            || object.kind.as_deref() != Some("NodeClaim")
        {
            return None;
        }
        // A sanity check only: the writer of an event chooses its source.
        let named = [event.source.and_then(|source| source.component), event.reporting_component];
        let mut named = named.into_iter().flatten().filter(|name| !name.is_empty());
        if named.any(|name| !name.starts_with("karpenter")) {
            return None;
        }
        let created = event.metadata.creation_timestamp;
        Some(Self {
            uid: object.uid?,
            name: object.name?,
            at: event.last_timestamp.or(event.at).or(created)?,
            text: bounded(&event.message.or(event.note).unwrap_or_default(), MAX_TEXT),
        })
    }

    pub fn about(&self) -> FailureSubject {
        let contains = |text: &str| self.text.contains(text);
        if contains("creating VM AKS identifying extension") {
            FailureSubject::OtherExtension
        } else if contains("creating VM CSE")
            || contains("VMExtensionError_")
            || contains("code=VMExtension")
            || contains("CSE failed")
        {
            FailureSubject::Cse
        } else {
            FailureSubject::Else
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(text: &str) -> ProvisioningError {
        let json = serde_json::json!({
            "apiVersion": "v1", "kind": "Event", "reason": "AsyncProvisioningError", "type": "Warning",
            "metadata": {"name": "default-2jf98.17", "namespace": "default"},
            "involvedObject": {"kind": "NodeClaim", "name": "default-2jf98", "uid": "u1"},
            "message": text, "lastTimestamp": "2026-11-15T08:03:30Z", "eventTime": null
        });
        ProvisioningError::from_json(json.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn bootstrap_failure_is_distinguished_from_others() {
        let cse = event(
            "Failed to register: creating VM CSE for VM \"aks-default-2jf98\": GET https://management.azure.com/",
        );
        assert_eq!(cse.about(), FailureSubject::Cse);
        let machine = event(
            "failed to create AKS machine \"m\" during LRO, unhandled provisioning error: code=VMExtensionProvisioningError, message=x",
        );
        assert_eq!(machine.about(), FailureSubject::Cse);
        let billing = event(
            "Failed to register: creating VM AKS identifying extension for VM \"aks-x\": VMExtensionProvisioningError",
        );
        assert_eq!(billing.about(), FailureSubject::OtherExtension);
        assert_eq!(event("Failed to register: creating VM: quota").about(), FailureSubject::Else);
        for text in ["creating VM CSE", "VMExtensionError_X", "code=VMExtensionX", "CSE failed"] {
            assert_eq!(event(text).about(), FailureSubject::Cse, "{text}");
        }
    }

    #[test]
    fn other_events_are_ignored() {
        for json in [
            r#"{"reason":"Disrupted","involvedObject":{"kind":"NodeClaim","name":"a","uid":"u"},"lastTimestamp":"2026-11-15T08:03:30Z"}"#,
            r#"{"reason":"AsyncProvisioningError","involvedObject":{"kind":"Node","name":"a","uid":"u"},"lastTimestamp":"2026-11-15T08:03:30Z"}"#,
            r#"{"reason":"AsyncProvisioningError"}"#,
            "{}",
            "",
        ] {
            assert_eq!(ProvisioningError::from_json(json.as_bytes()), None, "{json}");
        }
    }

    #[test]
    fn text_is_bounded_and_other_sources_are_ignored() {
        assert_eq!(event(&"x".repeat(100_000)).text.len(), MAX_TEXT);
        let of = |source: &str, component: &str| {
            let json = serde_json::json!({
                "reason": "AsyncProvisioningError", "lastTimestamp": "2026-11-15T08:03:30Z",
                "involvedObject": {"kind": "NodeClaim", "name": "a", "uid": "u"},
                "source": {"component": source}, "reportingComponent": component,
            });
            ProvisioningError::from_json(json.to_string().as_bytes())
        };
        assert!(of("karpenter", "karpenter").is_some() && of("", "").is_some());
        assert!(of("kubelet", "kubelet").is_none() && of("karpenter", "kubelet").is_none());
    }
}

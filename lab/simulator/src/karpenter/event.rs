//! Karpenter's events. The event about a failed bootstrap is cut before the exit code.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::azure;
use crate::kubernetes::store::objects::{name, text, time, uid};

/// Collection of all events: their objects have no namespace.
pub(super) const EVENTS: &str = "/api/v1/namespaces/default/events";
/// Bytes of an error in an event; a longer one ends with three dots.
const MAX_ERROR_BYTES: usize = 500;

/// Returns the error of a failed bootstrap, in the form of Azure's client for Go.
pub(super) fn error(
    vm: &str,
    options: &azure::AzureOptions,
    message: &str,
    operation: &str,
) -> String {
    let line = "-".repeat(80);
    let (subscription, location) = (&options.subscription, &options.location);
    let why = format!(
        "VM has reported a failure when processing extension 'cse-agent-karpenter' (publisher 'Microsoft.Azure.Extensions' and type 'CustomScript'). Error message: '{message}'."
    );
    let body = json!({
        "status": "Failed",
        "error": {"code": "VMExtensionProvisioningError", "message": why},
    });
    let body = serde_json::to_string_pretty(&body).unwrap_or_default();
    format!(
        "creating VM CSE for VM \"{vm}\": GET https://management.azure.com/subscriptions/{subscription}/providers/Microsoft.Compute/locations/{location}/operations/{operation}\n{line}\nRESPONSE 200: 200 OK\nERROR CODE: VMExtensionProvisioningError\n{line}\n{body}\n{line}\n"
    )
}

pub(super) fn machine_error(machine: &str, code: &str, message: &str) -> String {
    format!(
        "failed to create AKS machine \"{machine}\" during LRO, unhandled provisioning error: code={code}, message={message}"
    )
}

/// Returns the event about a NodeClaim whose VM did not come up.
pub(super) fn object(claim: &Value, error: &str, now: Timestamp) -> Value {
    let report = match error.as_bytes() {
        short if short.len() < MAX_ERROR_BYTES => error.to_owned(),
        long => format!("{}...", String::from_utf8_lossy(&long[..MAX_ERROR_BYTES])),
    };
    let message = format!("Failed to register: {report}");
    about("NodeClaim", claim, "Warning", "AsyncProvisioningError", &message, now)
}

/// Returns the event about a NodeClaim for which Azure has no capacity.
pub(super) fn no_capacity(claim: &Value, now: Timestamp) -> Value {
    let report = format!(
        "NodeClaim {} event: creating instance failed, all requested instance types were unavailable during launch",
        name(claim)
    );
    about("NodeClaim", claim, "Warning", "InsufficientCapacityError", &report, now)
}

/// Returns the event about a condition's transition. A missing previous status is unknown.
pub(super) fn transition(
    kind: &str,
    object: &Value,
    condition: &Value,
    was: &str,
    now: Timestamp,
) -> Value {
    let [change, status, reason, message] =
        ["type", "status", "reason", "message"].map(|member| text(condition, &[member]));
    let message = if message.is_empty() { String::new() } else { format!(", Message: {message}") };
    let report = format!(
        "Status condition transitioned, Type: {change}, Status: {was} -> {status}, Reason: {reason}{message}"
    );
    about(kind, object, "Normal", change, &report, now)
}

/// Returns an event about an object without a namespace, as Karpenter's recorder writes it.
pub(super) fn about(
    kind: &str,
    object: &Value,
    severity: &str,
    reason: &str,
    message: &str,
    now: Timestamp,
) -> Value {
    let unique = format!("{}.{reason}.{:x}", name(object), now.as_nanosecond()).to_lowercase();
    json!({
        "apiVersion": "v1", "kind": "Event",
        "metadata": {"name": unique, "namespace": "default"},
        "involvedObject": {
            "apiVersion": "karpenter.sh/v1", "kind": kind, "name": name(object), "uid": uid(object),
        },
        "type": severity,
        "reason": reason,
        "message": message,
        "source": {"component": "karpenter"},
        "reportingComponent": "karpenter",
        "reportingInstance": "",
        "count": 1,
        "firstTimestamp": time(now),
        "lastTimestamp": time(now),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::azure::{AzureOptions, Cse};

    #[test]
    fn an_error_of_500_bytes_is_cut_by_bytes_and_ends_with_dots() {
        let report = |error: &str| {
            let event = object(&json!({"metadata": {"name": "x"}}), error, Timestamp::UNIX_EPOCH);
            event["message"].as_str().unwrap().to_owned()
        };
        assert_eq!(report(&"x".repeat(499)), format!("Failed to register: {}", "x".repeat(499)));
        assert_eq!(report(&"x".repeat(500)), format!("Failed to register: {}...", "x".repeat(500)));
        // Half a character becomes a replacement character, as in Go's JSON.
        let cut = report(&format!("{}é", "x".repeat(499)));
        assert!(cut.ends_with("x\u{fffd}..."), "{cut}");
    }

    #[test]
    fn exit_code_is_after_the_cut() {
        let options = AzureOptions::default();
        let operation = "00000000-0000-4000-8000-000000000000";
        let error = error("aks-default-bad1", &options, &Cse::oras_missing().message(), operation);
        let at = error.find("exit status=").unwrap();
        assert!(at > MAX_ERROR_BYTES, "{at}");
        let event =
            object(&json!({"metadata": {"name": "default-bad1"}}), &error, Timestamp::UNIX_EPOCH);
        let message = event["message"].as_str().unwrap();
        assert!(
            message.starts_with("Failed to register: creating VM CSE for VM \"aks-default-bad1\"")
        );
        assert!(
            message.contains("VMExtensionProvisioningError") && !message.contains("211"),
            "{message}"
        );
    }
}

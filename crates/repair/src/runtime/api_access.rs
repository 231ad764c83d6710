//! Explains by the cluster's settings why its API cannot be reached.

use mooring_arm::calls::{ClusterProperties, PowerState};
use mooring_arm::{Error, ErrorKind};
use mooring_redact::printable;

const KUBECONFIG: &str = "pass a kubeconfig that works here with --kubeconfig FILE";

/// Returns the reason why no credentials can work; none if they can.
pub(crate) fn missing_credentials(cluster: &ClusterProperties) -> Option<String> {
    if cluster.power_state == Some(PowerState::Stopped) {
        return Some("it is stopped; start it with `az aks start`".to_owned());
    }
    let local_accounts = cluster.disable_local_accounts != Some(true);
    (!local_accounts && cluster.aad_profile.is_none()).then(|| {
        format!(
            "local accounts are disabled and Entra integration is off, so Azure gives no credentials; enable one of them (`az aks update --enable-local-accounts` or `--enable-aad`), or {KUBECONFIG}"
        )
    })
}

/// Returns the settings that may block access from this host.
pub(crate) fn network_restriction(cluster: &ClusterProperties) -> Option<String> {
    let profile = &cluster.api_server_access_profile;
    if profile.enable_private_cluster == Some(true) {
        let name = cluster.private_fqdn.as_deref().or(cluster.fqdn.as_deref());
        let name = name.map(|name| format!(" ({})", printable(name))).unwrap_or_default();
        return Some(format!(
            "the cluster is private: its API server{name} can be reached only from its network; run this from a VM or an agent in that network, or over a VPN or peering with its DNS zone"
        ));
    }
    let ranges = &profile.authorized_ip_ranges;
    (!ranges.is_empty()).then(|| {
        let ranges: Vec<String> = ranges.iter().map(|range| printable(range)).collect();
        format!(
            "the API server allows only {}; add the IP address of this host with `az aks update --api-server-authorized-ip-ranges`, or run this from one of them",
            ranges.join(", ")
        )
    })
}

/// Returns the next step after Azure denied listing credentials; none if its message suffices.
pub(crate) fn refusal_hint(error: &Error) -> Option<String> {
    match &error.kind {
        ErrorKind::Locked(_) => Some(format!(
            "a ReadOnly lock also blocks listing credentials; remove the lock, or {KUBECONFIG}"
        )),
        ErrorKind::Refused(refusal) if refusal.message.contains("disable local accounts") => {
            Some(format!("local accounts are disabled; use Entra integration, or {KUBECONFIG}"))
        }
        ErrorKind::Forbidden(refusal) => {
            let right = refusal.missing_permission()?;
            Some(format!(
                "{} is missing; assign a role with this action there, or {KUBECONFIG}",
                printable(&right.to_string())
            ))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use mooring_arm::{AzureError, WriteStatus};
    use serde_json::{Value, json};

    use super::*;

    fn cluster(properties: Value) -> ClusterProperties {
        serde_json::from_value(properties).unwrap()
    }

    #[test]
    fn cluster_without_credentials_is_reported_before_connecting() {
        for (properties, part) in [
            (json!({"disableLocalAccounts": true}), Some("local accounts are disabled and Entra")),
            (json!({"disableLocalAccounts": true, "aadProfile": null}), Some("Azure gives no")),
            (json!({"disableLocalAccounts": true, "aadProfile": {"managed": true}}), None),
            (json!({"disableLocalAccounts": false}), None),
            (json!({}), None),
            (json!({"powerState": {"code": "Stopped"}}), Some("az aks start")),
        ] {
            let text = missing_credentials(&cluster(properties.clone()));
            assert_eq!(text.is_some(), part.is_some(), "{properties}: {text:?}");
            assert!(text.unwrap_or_default().contains(part.unwrap_or_default()), "{properties}");
        }
    }

    #[test]
    fn private_cluster_and_authorized_ranges_are_reported() {
        for (properties, parts) in [
            (
                json!({"privateFQDN": "c.privatelink.x", "fqdn": "c.x", "apiServerAccessProfile": {"enablePrivateCluster": true}}),
                &["the cluster is private", "(c.privatelink.x)", "VPN"][..],
            ),
            (
                json!({"apiServerAccessProfile": {"authorizedIPRanges": ["203.0.113.0/24", "198.51.100.7/32"]}}),
                &["only 203.0.113.0/24, 198.51.100.7/32", "--api-server-authorized-ip-ranges"],
            ),
        ] {
            let text = network_restriction(&cluster(properties)).unwrap();
            assert!(parts.iter().all(|part| text.contains(part)), "{text}");
        }
        for open in [
            json!({}),
            json!({"apiServerAccessProfile": null}),
            json!({"apiServerAccessProfile": {"authorizedIPRanges": null, "enablePrivateCluster": false}}),
        ] {
            assert_eq!(network_restriction(&cluster(open)), None);
        }
    }

    #[test]
    fn denied_credentials_have_a_next_step() {
        let hint = |kind| {
            refusal_hint(&Error {
                kind,
                write_status: WriteStatus::NotApplied,
                call: Box::default(),
            })
        };
        let refusal = |code: &str, message: &str| AzureError {
            code: Some(code.to_owned()),
            message: message.to_owned(),
            ..AzureError::default()
        };
        let locked = hint(ErrorKind::Locked(refusal("ScopeLocked", "locked"))).unwrap();
        assert!(locked.contains("ReadOnly lock") && locked.contains("--kubeconfig"), "{locked}");
        let disabled = refusal(
            "BadRequest",
            "Getting static credential is not allowed because this cluster is set to disable local accounts.",
        );
        assert!(
            hint(ErrorKind::Refused(disabled)).unwrap().contains("local accounts are disabled")
        );
        let denied = refusal(
            "AuthorizationFailed",
            "The client 'c' does not have authorization to perform action 'M/listClusterUserCredential/action' over scope '/c' or the scope is invalid.",
        );
        let denied = hint(ErrorKind::Forbidden(denied)).unwrap();
        assert!(denied.contains("M/listClusterUserCredential/action on /c is missing"), "{denied}");
        assert_eq!(hint(ErrorKind::Server(refusal("x", "y"))), None);
    }
}

//! Certificate signing requests of kubelets that register with a bootstrap token.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::model::SimulatedCluster;
use crate::azure::{AzureNode, Join};
use crate::kubernetes::Key;

const REQUESTS: &str = "certificatesigningrequests.certificates.k8s.io";
/// Time for which the cluster keeps a decided certificate signing request, and an undecided one.
const DECIDED: SignedDuration = SignedDuration::from_hours(1);
const PENDING: SignedDuration = SignedDuration::from_hours(24);

impl SimulatedCluster {
    /// Creates a kubelet's certificate signing request.
    pub(super) fn request_certificate(&mut self, node: &AzureNode, at: Timestamp) {
        if self.options.secure_tls_bootstrapping || node.claim.is_none() {
            return;
        }
        let name = format!("csr-{}", node.vm_id.split('-').next().unwrap_or_default());
        let decision = match node.join {
            Join::CsrPending => None,
            Join::CsrDenied => Some(("Denied", "NotApproved")),
            _ => Some(("Approved", "AutoApproved")),
        };
        let _ = self.kubernetes.create(object(&name, &node.name, decision, at), at);
        let kept = if decision.is_some() { DECIDED } else { PENDING };
        self.requests.insert((at.saturating_add(kept).unwrap_or(at), name));
    }

    pub(super) fn clean_requests(&mut self, now: Timestamp) {
        while self.requests.first().is_some_and(|(at, _)| *at <= now) {
            let Some((_, name)) = self.requests.pop_first() else { break };
            let _ = self.kubernetes.delete(REQUESTS, &Key::new(None, &name), now);
        }
    }
}

fn object(name: &str, node: &str, decision: Option<(&str, &str)>, at: Timestamp) -> Value {
    let conditions: Vec<Value> = decision
        .into_iter()
        .map(|(kind, reason)| {
            json!({"type": kind, "status": "True", "reason": reason, "message": "", "lastUpdateTime": at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()})
        })
        .collect();
    json!({
        "apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest",
        "metadata": {"name": name},
        "spec": {
            "signerName": "kubernetes.io/kube-apiserver-client-kubelet",
            "username": "system:bootstrap:abcdef",
            "groups": ["system:bootstrappers", "system:authenticated"],
            "usages": ["digital signature", "client auth"],
            "request": request(node),
        },
        "status": {"conditions": conditions},
    })
}

/// Returns a request as PEM in base64, as in the API.
fn request(node: &str) -> String {
    let body = STANDARD.encode(der(node));
    let lines: Vec<&str> =
        body.as_bytes().chunks(64).filter_map(|line| std::str::from_utf8(line).ok()).collect();
    STANDARD.encode(format!(
        "-----BEGIN CERTIFICATE REQUEST-----\n{}\n-----END CERTIFICATE REQUEST-----\n",
        lines.join("\n")
    ))
}

/// Returns a certification request with the subject of a kubelet. Key and signature have a valid form only.
fn der(node: &str) -> Vec<u8> {
    const ORGANIZATION: [u8; 5] = [6, 3, 0x55, 4, 10];
    const COMMON_NAME: [u8; 5] = [6, 3, 0x55, 4, 3];
    // id-ecPublicKey with prime256v1, and ecdsa-with-SHA256.
    const KEY: [u8; 21] = [
        0x30, 0x13, 6, 7, 0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1, 6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d,
        3, 1, 7,
    ];
    const SIGNATURE: [u8; 12] = [0x30, 10, 6, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2];
    let name = |kind: &[u8], tag: u8, text: &str| {
        let value = element(tag, text.as_bytes());
        element(0x31, &element(0x30, &[kind, &value].concat()))
    };
    let subject = [
        name(&ORGANIZATION, 0x13, "system:nodes"),
        name(&COMMON_NAME, 0x13, &format!("system:node:{node}")),
    ];
    let key = element(0x30, &[&KEY[..], &element(3, &[&[0, 4][..], &[7; 64]].concat())].concat());
    let subject = element(0x30, &subject.concat());
    let info = element(0x30, &[element(2, &[0]), subject, key, element(0xa0, &[])].concat());
    element(0x30, &[&info[..], &SIGNATURE, &element(3, &[0; 65])].concat())
}

fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let [high, low] = u16::try_from(content.len()).unwrap_or(u16::MAX).to_be_bytes();
    let mut bytes = vec![tag];
    match (high, low) {
        (0, ..0x80) => bytes.push(low),
        (0, _) => bytes.extend([0x81, low]),
        _ => bytes.extend([0x82, high, low]),
    }
    bytes.extend(content);
    bytes
}

//! Answers from a line that says that something failed, and texts that say nothing of a node.

use mooring_diagnosis::{Confidence, Diagnosis, Hints, Rung, cause_page, diagnose};

fn first(text: &str) -> Option<Diagnosis> {
    diagnose(text.as_bytes(), Hints::default()).into_iter().next()
}

/// Texts that no rule knows, with the component and a part of the decisive line.
const LINES: &[(&str, &str, &str)] = &[
    (
        "I0101 10:00:00.0 1 main.go:1] kubelet starts\nE0101 10:00:01.0 1 zap.go:7] kubelet: frobnicate failed: no zeta",
        "kubelet",
        "frobnicate failed",
    ),
    ("aks-np1-vmss000001 systemd[1]: cri-o.service: Failed with result 'zeta'.", "runtime", "zeta"),
    (
        "ERROR: Failed to run `/usr/sbin/dkms build -m nvidia -v 1`: bad exit status: 2",
        "gpu",
        "dkms",
    ),
    (
        "cluster-autoscaler: W0101 clusterstate.go:1] Disabling scale-up for node group np1 until tomorrow",
        "autoscaler",
        "Disabling",
    ),
    ("aks-np1-vmss000003 azure-cns: zeta failed, node not initialized", "cni", "zeta failed"),
    ("cloud-init[9]: Failed running zeta on aks-np1-vmss000003 [2]", "cloud-init", "zeta"),
    (
        "Warning FreeDiskSpaceFailed 5m kubelet Failed to garbage collect required amount of zeta",
        "disk",
        "zeta",
    ),
    (
        "aks-np1-vmss000003 systemd-resolved[5]: Using DNS server 10.1.0.4: zeta timed out",
        "network",
        "zeta timed out",
    ),
    ("Knotenpool np1: Zeta wird nicht unterst\u{fc}tzt", "control-plane", "Zeta"),
    ("Le pool de n\u{153}uds np1 : zeta n'est pas autoris\u{e9}e", "control-plane", "zeta"),
    ("El grupo de nodos np1: zeta no est\u{e1} permitido", "control-plane", "zeta"),
    ("Pool de n\u{f3}s np1: zeta n\u{e3}o \u{e9} permitido", "control-plane", "zeta"),
    ("Pool di nodi np1: zeta non \u{e8} valida", "control-plane", "zeta"),
    (
        "\u{30ce}\u{30fc}\u{30c9} \u{30d7}\u{30fc}\u{30eb} zeta \u{3092}\u{66f4}\u{65b0}\u{3067}\u{304d}\u{307e}\u{305b}\u{3093}",
        "control-plane",
        "zeta",
    ),
    ("\u{8282}\u{70b9}\u{6c60} zeta \u{4e0d}\u{652f}\u{6301}", "control-plane", "zeta"),
];

#[test]
fn decisive_line_is_quoted_with_its_component() {
    for (text, component, part) in LINES {
        let found = first(text).unwrap_or_else(|| panic!("{text}"));
        assert_eq!((found.rung, found.component), (Rung::Sentence, Some(*component)), "{text}");
        assert_eq!(found.confidence, Confidence::Low);
        assert!(found.evidence[0].line.contains(part), "{:?}", found.evidence);
        assert_eq!(found.summary.matches("No rule of Mooring fits").count(), 1);
        let page = cause_page(&found.reason).unwrap();
        assert_eq!(found.actions, page.actions);
        assert!(mooring_diagnosis::is_unruled(&found.reason), "{}", found.reason);
    }
    assert!(!mooring_diagnosis::is_unruled("OrasBinaryMissing"));
}

#[test]
fn noise_escapes_and_quoting_keep_the_line() {
    for (text, component, part) in LINES {
        let quoted = format!("> {}", text.replace('\n', "\n> "));
        let noisy = format!("INFO begun\n\n{text}\nINFO ended\n");
        for text in [quoted, noisy] {
            let found = first(&text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(found.component, Some(*component), "{text}");
            assert!(found.evidence[0].line.contains(part), "{:?}", found.evidence);
        }
    }
}

#[test]
fn cut_lines_give_a_low_answer_or_none() {
    for (text, ..) in LINES {
        for end in 0..text.len() {
            for part in [text.get(..end), text.get(end..)].into_iter().flatten() {
                assert!(
                    first(part).is_none_or(|found| found.confidence < Confidence::High),
                    "{part}"
                );
            }
        }
    }
}

#[test]
fn pods_volumes_services_clients_and_success_are_not_answered() {
    for text in [
        "Warning FailedMount 43m kubelet MountVolume.SetUp failed for volume \"v\": timed out",
        "Warning BackOff 3s kubelet Back-off restarting failed container app in pod app-6c9",
        "Warning FailedScheduling default-scheduler 0/3 nodes are available: 3 Insufficient cpu.",
        "Failed to pull image \"r.azurecr.io/app:1\" on node aks-np1: unauthorized",
        "kubelet Liveness probe failed: HTTP probe failed with statuscode: 503",
        "nginx.service: Failed with result 'exit-code'.",
        "Unable to connect to the server: dial tcp: lookup aks1.hcp.westeurope.azmk8s.io: no such host",
        "Error from server (Forbidden): nodes is forbidden on aks-1: User \"a\" cannot list",
        "npm ERR! build failed with exit code 1",
        "kubelet[1]: Successfully registered node aks-np1-vmss000000",
        "I0101 10:00:00.0 1 kubelet.go:1] \"Starting kubelet\" err=nil",
        "The nodes of the cluster are fine.",
        "Warning Unhealthy metrics-server: Metrics API not available on aks-1",
        "deployment web on AKS: zeta was denied by the admission webhook \"zeta\"",
        "kubectl port-forward to aks-1: error: lost connection, not found",
        "Status of node pool np1: Degraded False AsExpected",
        "helm: Error: UPGRADE FAILED on aks-1: timed out waiting for the condition",
    ] {
        assert_eq!(first(text).map(|found| found.reason), None, "{text}");
    }
}

#[test]
fn rule_precedes_a_line() {
    let text = "aks-np1-vmss000000 kubelet[1]: zeta failed\naks-np1: SkuNotAvailable: Standard_D4s_v5 is not available";
    assert_eq!(first(text).unwrap().rung, Rung::Rule);
}

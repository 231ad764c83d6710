//! Identifies texts without a known failure, and suggests better input.

use crate::diagnose::error_codes::error_codes;

/// Part of a text that is read.
const HEAD: usize = 256 << 10;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recognized {
    /// Kinds of text with their article: `a kubelet log`.
    pub parts: Vec<String>,
    /// Better input, instead of the text or in addition.
    pub next: Vec<&'static str>,
}

/// Signs of a kind of text, and its name. Any sign is enough.
const KINDS: &[(&[&str], &str, Kind)] = &[
    (&["kubelet[", "kubelet.go", "kubelet_node_status.go"], "a kubelet log", Kind::Kubelet),
    (
        &["containerd[", "io.containerd", "level=error msg=\"RunPodSandbox"],
        "a containerd log",
        Kind::Kubelet,
    ),
    (
        &["cloud-init[", "cloud-init-output", "cc_scripts_user.py", "util.py["],
        "a cloud-init log",
        Kind::CloudInit,
    ),
    (&["ExtHandler", "waagent"], "a guest agent log", Kind::CloudInit),
    (
        &["cluster-provision.log", "logs_to_events", "AKS.CSE."],
        "a trace of the bootstrap scripts",
        Kind::Script,
    ),
    (&["karpenter", "NodeClaim", "nodeclaim"], "Karpenter output", Kind::Karpenter),
    (&["azurerm_", "terraform"], "Terraform output", Kind::Arm),
    (
        &["LastHeartbeatTime", "kubectl describe", "Conditions:"],
        "a description of a Kubernetes object",
        Kind::Kubernetes,
    ),
    (&["kubeadm"], "kubeadm output", Kind::Kubelet),
    (&["\"provisioningState\"", "provisioningState"], "an Azure resource", Kind::Arm),
    (&["ProvisioningState/"], "an instance view", Kind::InstanceView),
    (
        &["FailedMount", "FailedAttachVolume", "MountVolume", "AttachVolume", "persistentvolume"],
        "a message about a volume, not about a node",
        Kind::Workload,
    ),
    (
        &["CrashLoopBackOff", "Back-off restarting", "OOMKilled", "probe failed", "ErrImagePull"],
        "a message about a pod, not about a node",
        Kind::Workload,
    ),
    (&["FailedScheduling"], "a message of the scheduler about a pod", Kind::Workload),
    (
        &["Error syncing load balancer", "SyncLoadBalancerFailed", "ingress"],
        "a message about a service or an ingress, not about a node",
        Kind::Workload,
    ),
    (
        &["Unable to connect to the server", "You must be logged in", "Error from server"],
        "a message of a client of the cluster, such as kubectl",
        Kind::Workload,
    ),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Kubelet,
    CloudInit,
    Script,
    Karpenter,
    Kubernetes,
    Arm,
    InstanceView,
    /// Of the cluster's users, not of a node.
    Workload,
}

/// Better input, unless the text is already of that kind.
const NEXT: &[(Kind, &str)] = &[
    (
        Kind::InstanceView,
        "the extension message in the instance view: `az vmss get-instance-view --instance-id '*'`",
    ),
    (
        Kind::Script,
        "/var/log/azure/aks/provision.json or /var/log/azure/cluster-provision.log of the node",
    ),
    (
        Kind::Arm,
        "the failed operation: `az monitor activity-log list --resource-group <node resource group> --status Failed`",
    ),
    (
        Kind::Kubelet,
        "`journalctl -u kubelet --no-pager` of the node, starting with the first error",
    ),
    (Kind::Karpenter, "`kubectl describe nodeclaim <name>` and Karpenter's log"),
];

pub fn recognize(input: &[u8]) -> Recognized {
    let head = &input[..input.len().min(HEAD)];
    let has = |sign: &&str| memchr::memmem::find(head, sign.as_bytes()).is_some();
    let kinds: Vec<_> = KINDS.iter().filter(|(signs, ..)| signs.iter().any(has)).collect();
    let mut parts: Vec<String> = kinds.iter().map(|(_, name, _)| (*name).to_owned()).collect();
    let mut is_arm = false;
    if let Some(code) = error_codes(head).into_iter().find(|code| code.is_labeled) {
        is_arm = true;
        parts.insert(0, format!("an Azure error with the code {}", code.name));
    }
    let is_known =
        |kind: Kind| kinds.iter().any(|(.., known)| *known == kind) || is_arm && kind == Kind::Arm;
    let next = NEXT.iter().filter(|(kind, _)| !is_known(*kind)).map(|(_, text)| *text);
    Recognized { next: next.take(3).collect(), parts }
}

#[cfg(test)]
mod tests {
    use super::recognize;

    #[test]
    fn unknown_text_is_identified_with_better_input() {
        let arm = recognize(br#"{"error":{"code":"DeploymentFailed","details":[{"code":"StorageAccountAlreadyTaken"}]}}"#);
        assert_eq!(arm.parts, ["an Azure error with the code StorageAccountAlreadyTaken"]);
        let has = |text: &str, word: &str| {
            recognize(text.as_bytes()).next.iter().any(|next| next.contains(word))
        };
        assert_eq!(arm.next.len(), 3);
        assert!(!arm.next.iter().any(|next| next.contains("activity-log")), "{:?}", arm.next);
        assert!(has("hello", "activity-log"));
        let kubelet = recognize(b"Nov 1 kubelet[7]: I1101 server.go: started");
        assert_eq!(kubelet.parts, ["a kubelet log"]);
        assert!(!kubelet.next.iter().any(|next| next.contains("journalctl")), "{:?}", kubelet.next);
        assert_eq!(recognize(b"hello").parts, Vec::<String>::new());
        for (text, part) in [
            ("MountVolume.SetUp failed for volume", "a volume"),
            ("Back-off restarting failed container", "a pod"),
            ("Unable to connect to the server: EOF", "a client"),
        ] {
            let parts = recognize(text.as_bytes()).parts;
            assert!(parts.len() == 1 && parts[0].contains(part), "{text}: {parts:?}");
        }
    }

    #[test]
    fn code_of_an_azure_error_is_a_word_in_pascal_case() {
        for (code, is_name) in [
            ("Abcdef", true),
            ("Abcde", false),
            ("abcdefg", false),
            ("ABCDEFG", false),
            ("DeploymentFailed", false),
            ("Conflict", false),
        ] {
            let parts = recognize(format!("Code={code} Message=x").as_bytes()).parts;
            assert_eq!(parts.len(), usize::from(is_name), "{code}: {parts:?}");
        }
    }
}

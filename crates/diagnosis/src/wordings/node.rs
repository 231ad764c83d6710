//! kubelet, container runtime, network plugin, Windows networking.

use mooring_codes::{Os, Owner};

use super::{About, Cause, Tier, Wording};
use crate::diagnosis::Confidence;
use crate::stage::Stage;

static UNAUTHORIZED: Cause = Cause {
    reason: "KubeletUnauthorized",
    stage: Stage::Register,
    owner: Owner::Operator,
    summary: "The API server does not accept kubelet's credentials: the bootstrap token or client certificate is expired, revoked or of \
        another cluster. The node cannot register.",
    actions: &[
        "With self-hosted Karpenter, give it the cluster's current bootstrap token (KUBELET_BOOTSTRAP_TOKEN) and restart it: upgrades of \
            node images and rotations replace the token.",
        "For an old node that was stopped for long, recreate it; if many fail, rotate: `az aks rotate-certs`.",
        "See what the node asks for: `kubectl get csr`, and `journalctl -u kubelet` on the node.",
    ],
};

static SETTINGS: Cause = Cause {
    reason: "KubeletSettingsRefused",
    stage: Stage::Register,
    owner: Owner::Operator,
    summary: "kubelet does not start because it does not accept one of its flags, its configuration or a setting of the kernel.",
    actions: &[
        "Read the flag or setting in the quoted line, and correct it in the pool's custom kubelet or OS configuration.",
        "A flag that this Kubernetes version has removed comes from an older bootstrap: update Karpenter, the provider or the image.",
    ],
};

static NEVER_REGISTERED: Cause = Cause {
    reason: "NodeNotRegistered",
    stage: Stage::Register,
    owner: Owner::Operator,
    summary: "The VM was created, but no Node registered with the cluster in time. The text does not show why.",
    actions: &[
        "Run `mooring why <NodeClaim or node>`, or read provision.json and `journalctl -u kubelet` on the VM before it is deleted: 15 \
            minutes with Karpenter.",
        "Frequent reasons: failed bootstrap scripts, no way to the API server, an expired bootstrap token, an image newer than the provider.",
    ],
};

static STOPPED_REPORTING: Cause = Cause {
    reason: "KubeletStoppedReporting",
    stage: Stage::Ready,
    owner: Owner::Operator,
    summary: "A Node that was there stopped reporting: the VM is down, overloaded or cut off, or kubelet does not run.",
    actions: &[
        "Check the VM's power state and `journalctl -u kubelet`; look for memory and disk pressure before it stopped.",
        "Restart or recreate the node; AKS's auto-repair does so after some minutes.",
    ],
};

static CNI: Cause = Cause {
    reason: "CniNotReady",
    stage: Stage::Ready,
    owner: Owner::Operator,
    summary: "The network plugin on the node is not initialized, so the Node does not become ready.",
    actions: &[
        "Look at the network plugin's pods on the node: `kubectl get pods -n kube-system -o wide` (azure-cns, cilium, calico, kube-proxy).",
        "With self-hosted Karpenter, check that the network plugin, mode and dataplane in its settings are the cluster's.",
        "Check on the node that /etc/cni/net.d has a configuration, and that the subnet has free addresses.",
    ],
};

static RUNTIME: Cause = Cause {
    reason: "ContainerRuntimeDown",
    stage: Stage::Ready,
    owner: Owner::Operator,
    summary: "The container runtime on the node does not run or does not answer kubelet.",
    actions: &[
        "On the node run `systemctl status containerd` and `journalctl -u containerd`; look for a full disk, memory pressure and disk \
            throttling.",
        "Recreate the node; a larger OS disk or VM size helps where it repeats under load.",
    ],
};

static HNS: Cause = Cause {
    reason: "HnsFailed",
    stage: Stage::Ready,
    owner: Owner::Image,
    summary: "The Host Networking Service of the Windows node failed, so pods or the node itself get no network.",
    actions: &[
        "Recreate the node, and move the pool to the newest Windows node image: fixes come with it.",
        "On the node read C:\\k\\kubeproxy.err.log, C:\\k\\azure-vnet.log and `Get-HnsNetwork`; restarting the service hns helps for a while.",
    ],
};

static ADDRESS: Cause = Cause {
    reason: "AddressMissing",
    stage: Stage::Ready,
    owner: Owner::Operator,
    summary: "The cloud provider has not given the Node its addresses or provider id, so it stays uninitialized.",
    actions: &[
        "Look at cloud-node-manager on the node and at the cloud controller manager: permissions, IMDS, the node's name.",
        "Compare the Node's name with the VM's: they must be the same.",
    ],
};

static ROUTE: Cause = Cause {
    reason: "RouteNotCreated",
    stage: Stage::Ready,
    owner: Owner::Operator,
    summary: "The route to the node's pods could not be created in the cluster's route table (kubenet).",
    actions: &[
        "Read the error behind the quoted line: permissions on the route table, a lock, a policy, or more than 400 routes.",
        "Grant the cluster's identity Network Contributor on the route table, or move to Azure CNI Overlay.",
    ],
};

const REJECTED: &[&str] = &[
    "unauthorized",
    "user \"system:anonymous\"",
    "system:anonymous",
    "certificate has expired",
    "token has expired",
    "invalid bearer token",
    "certificate signed by unknown authority",
    "bootstrap token",
];

pub(super) static WORDINGS: &[Wording] = &[
    Wording {
        name: "kubelet-unauthorized",
        cause: &UNAUTHORIZED,
        phrases: &[
            "cannot create certificate signing request: unauthorized",
            "unable to register node with api server",
            "unable to register node",
            "waiting for csinode publishing: unauthorized",
            "failed while requesting a signed certificate from the control plane",
            "server rejected event",
            "error getting the current node from lister",
            "failed to ensure lease exists",
            "failed to contact api server when waiting for csinode publishing",
        ],
        near: &[REJECTED],
        codes: &[34],
        ..Wording::ANY
    },
    Wording {
        name: "kubelet-certificate-expired",
        cause: &UNAUTHORIZED,
        phrases: &[
            "part of the existing bootstrap client certificate is expired",
            "existing bootstrap client certificate",
            "unable to load bootstrap kubeconfig",
            "bootstrap token has expired",
            "bootstrap token expired",
            "token has expired or is invalid",
            "unable to authenticate the request",
            "bootstrap-kubeconfig: no such file",
        ],
        about: About::Nodes,
        ..Wording::ANY
    },
    Wording {
        name: "kubelet-log-unauthorized",
        cause: &UNAUTHORIZED,
        phrases: &["unauthorized", "you must be logged in to the server"],
        near: &[&[
            "kubelet[",
            "kubelet_node_status",
            "csi_plugin.go",
            "reflector.go",
            "certificate_manager",
        ]],
        without: &["failed to pull image", "failed to authorize", "azurecr.io", "401 unauthorized"],
        confidence: Confidence::Medium,
        ..Wording::ANY
    },
    Wording {
        name: "kubelet-settings",
        cause: &SETTINGS,
        phrases: &[
            "failed to parse kubelet flag",
            "invalid kernel flag",
            "running with swap on is not supported",
            "failed to validate kubelet flags",
            "failed to load kubelet config file",
            "failed to load kubelet config",
            "failed to validate kubelet configuration",
            "unrecognized feature gate",
            "labels specified with --node-labels",
            "misconfiguration: kubelet cgroup driver",
            "unknown flag: --",
            "failed to start containermanager",
        ],
        near: &[&[
            "kubelet",
            "kubelet[",
            "kubelet.go",
            "invalid kernel flag",
            "failed to run kubelet",
            "unrecognized feature gate",
            "--node-labels",
        ]],
        codes: &[34],
        ..Wording::ANY
    },
    Wording {
        name: "hns",
        cause: &HNS,
        phrases: &[
            "hnscall failed",
            "hns failed with error",
            "hcncreateendpoint failed",
            "hcnopennamespace failed",
            "hcnopennetwork failed",
            "failed in win32",
            "failed to remove hcn endpoint",
            "failed to create endpoint: hns",
            "new-hnsnetwork :",
            "no hns network",
            "missing hns network",
            "invoke-hnsrequest",
            "hns network not found",
            "unable to find hns network",
        ],
        os: Some(Os::Windows),
        ..Wording::ANY
    },
    Wording {
        name: "address-missing",
        cause: &ADDRESS,
        phrases: &[
            "failed to get node address from cloud provider",
            "node address not found",
            "failed to initialize node",
            "cloudprovider.kubernetes.io/uninitialized",
            "error getting instance metadata for node addresses",
            "failed to get instance metadata",
        ],
        near: &[&[
            "cloud provider",
            "cloud-node-manager",
            "node address",
            "node addresses",
            "cloudprovider.kubernetes.io/uninitialized",
            "instance not found",
            "providerid",
        ]],
        without: &["169.254.169.254/metadata", "169.254.169.254:80"],
        about: About::Nodes,
        confidence: Confidence::Medium,
        ..Wording::ANY
    },
    Wording {
        name: "route-not-created",
        cause: &ROUTE,
        phrases: &["could not create route", "failedtocreateroute", "failed to create route"],
        about: About::Nodes,
        ..Wording::ANY
    },
];

pub(super) static SYMPTOMS: &[Wording] = &[
    Wording {
        name: "runtime-down",
        cause: &RUNTIME,
        tier: Tier::Symptom,
        phrases: &[
            "container runtime is down",
            "cannot connect to the docker daemon",
            "pleg is not healthy: pleg was last seen",
            "validate cri v1 runtime api for endpoint",
            "validate service connection",
            "containerd.service: failed with result",
            "failed to start containerd",
            "containerd.sock: connect: no such file or directory",
            "containerd.sock: connect: connection refused",
            "containerd: failed to load tls",
        ],
        about: About::Nodes,
        ..Wording::ANY
    },
    Wording {
        name: "cni",
        cause: &CNI,
        tier: Tier::Symptom,
        phrases: &[
            "cni plugin not initialized",
            "cni config uninitialized",
            "kubenet does not have netconfig",
            "lack of podcidr",
            "networkpluginnotready",
            "network plugin is not ready",
            "no networks found in /etc/cni/net.d",
            "failed to load cni config",
            "failed to find plugin",
            "container runtime network not ready",
            "localhost:10090/network/requestipconfig",
            "127.0.0.1:10090: connect: connection refused",
        ],
        about: About::Nodes,
        ..Wording::ANY
    },
    Wording {
        name: "registration-timed-out",
        cause: &NEVER_REGISTERED,
        tier: Tier::Symptom,
        phrases: &[
            "node not registered with cluster",
            "terminating due to registration t",
            "removing unregistered node",
            "failed to register within",
            "timed out waiting for registration",
            "nodeclaim registration timeout",
            "nodestartuptimeout",
            "waiting for a node with spec.providerid",
        ],
        confidence: Confidence::Medium,
        ..Wording::ANY
    },
    Wording {
        name: "route-missing",
        cause: &ROUTE,
        tier: Tier::Symptom,
        phrases: &["node created without a route", "noroutecreated"],
        confidence: Confidence::Medium,
        ..Wording::ANY
    },
    Wording {
        name: "never-registered",
        cause: &NEVER_REGISTERED,
        tier: Tier::Symptom,
        phrases: &[
            "not registering nodes to the cluster",
            "fail to register with the cluster",
            "failed to register with the cluster",
            "nodes fail to join the cluster",
            "node failed to register",
            "nodes failed to join",
            "can't join the cluster",
            "cannot join the cluster",
            "not joining the cluster",
            "never registers",
            "never registered",
            "doesn't join the",
            "nodes are not ready after",
            "nodes not ready",
            "node claim not registered",
            "not yet joined cluster",
            "nodesnotready",
            "nodenotfound",
            "registrationfailed",
            "registrationtimeout",
            "registration_timeout",
        ],
        without: &["nodes \"", "(notfound): nodes"],
        about: About::Nodes,
        confidence: Confidence::Medium,
        ..Wording::ANY
    },
    Wording {
        name: "own-node-not-found",
        cause: &NEVER_REGISTERED,
        tier: Tier::Symptom,
        phrases: &["error getting node", "failed to get node info", "error updating node status"],
        near: &[&["not found"]],
        about: About::NodeLog,
        confidence: Confidence::Medium,
        ..Wording::ANY
    },
    Wording {
        name: "stopped-reporting",
        cause: &STOPPED_REPORTING,
        tier: Tier::Symptom,
        phrases: &[
            "kubelet stopped posting node status",
            "nodestatusunknown",
            "nodestatusneverupdated",
        ],
        about: About::Nodes,
        confidence: Confidence::Medium,
        ..Wording::ANY
    },
];

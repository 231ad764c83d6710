//! The cluster's own state: control plane, operations, versions, drains.

use mooring_codes::Owner;

use super::{About, Cause, Tier, Wording};
use crate::diagnosis::Confidence;
use crate::stage::Stage;

static CONTROL_PLANE: Cause = Cause {
    reason: "ControlPlaneNotHealthy",
    stage: Stage::Launch,
    owner: Owner::Platform,
    summary: "The cluster's control plane is not ready or not healthy, so nodes cannot be created or join. The nodes are not at fault.",
    actions: &[
        "Wait some minutes and check: `kubectl get --raw /readyz?verbose`, and the portal's Resource health of the cluster.",
        "Run `az aks update` without changes to reconcile, and open a support case with the correlation id if it stays.",
        "If it is your own control plane (Cluster API, kubeadm), read the logs of its API server and etcd.",
    ],
};

static CONFLICT: Cause = Cause {
    reason: "OperationInProgress",
    stage: Stage::Launch,
    owner: Owner::Operator,
    summary: "Another operation on the cluster or the pool is in progress, or failed and blocks this one.",
    actions: &[
        "Wait for it, or end it: `az aks operation-abort`, `az aks nodepool operation-abort`.",
        "If the cluster or pool is Failed, repair that first: `az aks update`, `az aks nodepool upgrade` to the version that it has.",
    ],
};

static VERSION: Cause = Cause {
    reason: "VersionNotSupported",
    stage: Stage::Launch,
    owner: Owner::Operator,
    summary: "The Kubernetes version is not offered in this region, or does not fit the control plane's.",
    actions: &[
        "List the versions: `az aks get-versions --location <region> -o table`, `az aks get-upgrades`.",
        "Upgrade the control plane first; node pools may be at most as new, and not too much older.",
    ],
};

static DRAIN: Cause = Cause {
    reason: "DrainBlocked",
    stage: Stage::Ready,
    owner: Owner::Operator,
    summary: "A pod disruption budget does not allow a pod to be evicted, so the node cannot be drained and the upgrade stops.",
    actions: &[
        "Find the budget in the quoted line: `kubectl get pdb -A`; ALLOWED DISRUPTIONS is 0.",
        "Add a replica, relax the budget, or delete the pod yourself; then repeat the upgrade.",
    ],
};

static REQUEST: Cause = Cause {
    reason: "RequestRejected",
    stage: Stage::Launch,
    owner: Owner::Operator,
    summary: "Azure rejected the request because a value in it is not valid. The quoted text names it.",
    actions: &["Correct the value that the message names, and send the request again."],
};

pub(super) static WORDINGS: &[Wording] = &[
    Wording {
        name: "drain-refused",
        cause: &DRAIN,
        phrases: &[
            "restrictive pod disruption budget",
            "eviction blocked by too many requests",
            "too many req pod",
            "poddrainfailure",
            "unsatisfiablepdb",
        ],
        ..Wording::ANY
    },
    Wording {
        name: "drain-blocked",
        cause: &DRAIN,
        phrases: &[
            "blocked by pdb",
            "violate the pod's disruption budget",
            "pods failed eviction",
            "failed when evicting pod",
        ],
        about: About::Nodes,
        ..Wording::ANY
    },
    Wording {
        name: "control-plane",
        cause: &CONTROL_PLANE,
        phrases: &[
            "timeout while polling for control plane provisioning status",
            "pods not in running status",
            "waiting for control plane to pass preflight checks",
            "does not have apiserverpodhealthy condition",
            "api server is not healthy",
            "apiserver is not healthy",
            "kube-apiserver is not healthy",
            "waiting for control plane provider to indicate the control plane has been initialized",
            "controlplaneaddonsnotready",
            "controlplanenotready",
            "controlplanenotfound",
            "provisioningcontrolplaneerror",
            "controlplaneprovisioninginternalerror",
            "controlplaneprovisioningerror",
            "reconcilecontrolplanefailed",
            "controlplaneunhealthy",
            "controlplanecomponentsunhealthy",
            "etcdclusterunhealthy",
            "waitingforcontrolplane",
            "waitingforcontrolplaneproviderinitialized",
            "overlaymgrreconcileerror",
            "failedtoreconcileoverlay",
        ],
        about: About::Anything,
        ..Wording::ANY
    },
    Wording {
        name: "control-plane-state",
        cause: &CONTROL_PLANE,
        phrases: &["control plane"],
        near: &[&[
            "is not ready",
            "is not healthy",
            "not healthy",
            "is unhealthy",
            "not in a healthy state",
            "pods not running",
            "is not running",
            "to become ready",
        ]],
        without: &["istio", "istiod", "istioctl", "linkerd"],
        about: About::Nodes,
        confidence: Confidence::Medium,
        ..Wording::ANY
    },
    Wording {
        name: "control-plane-etcd",
        cause: &CONTROL_PLANE,
        phrases: &[
            "etcdserver: request timed out",
            "etcdserver: leader changed",
            "etcdserver: no leader",
        ],
        about: About::Nodes,
        confidence: Confidence::Medium,
        ..Wording::ANY
    },
    Wording {
        name: "operation-in-progress",
        cause: &CONFLICT,
        phrases: &[
            "operation is not allowed while",
            "operation is not allowed because there's an in progress",
            "operation is not allowed because there is an in progress",
            "another operation is in progress",
            "there is an in-progress operation",
            "is not allowed: another operation",
            "needs to be in succeeded state",
            "is not in succeeded state",
            "virtualnetworknotinsucceededstate",
            "referencedresourcenotprovisioned",
            "operation is in progress",
            "anotheroperationinprogress",
            "operationpreempted",
            "etagmismatch",
            "reconcileinprogress",
        ],
        about: About::Nodes,
        ..Wording::ANY
    },
    Wording {
        name: "version-not-supported",
        cause: &VERSION,
        phrases: &[
            "is not supported in this region",
            "is not a supported version",
            "k8sversionnotsupported",
            "agentpoolk8sversionnotsupported",
            "nodepoolmcversionincompatible",
            "nodepoolversionincompatible",
        ],
        near: &[&[
            "version",
            "k8sversionnotsupported",
            "agentpoolk8sversionnotsupported",
            "nodepoolmcversionincompatible",
            "nodepoolversionincompatible",
        ]],
        about: About::Nodes,
        ..Wording::ANY
    },
    Wording {
        name: "request-rejected",
        cause: &REQUEST,
        tier: Tier::Symptom,
        phrases: &[
            "customkubeletconfig.",
            "changing property",
            "provisioning of resource(s) for agent pool",
            "invalidcustomlinuxosconfig",
            "propertychangenotallowed",
            "invalidparameter",
            "invalidagentpoolname",
            "httpproxyconfiginputerror",
            "badrequest",
        ],
        near: &[&[
            "badrequest",
            "bad request",
            "invalid",
            "must be",
            "not allowed",
            "cannot",
            "invalidparameter",
        ]],
        about: About::Nodes,
        confidence: Confidence::Medium,
        ..Wording::ANY
    },
];

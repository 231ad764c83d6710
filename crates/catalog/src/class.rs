//! Classes of error codes, with the facts that all codes of a class share.

use mooring_codes::{Owner, Transient};
use mooring_diagnosis::Stage;

pub(crate) struct Class {
    pub(crate) name: &'static str,
    pub(crate) owner: Owner,
    pub(crate) stage: Stage,
    pub(crate) retry: Transient,
    pub(crate) next: &'static str,
}

const fn operator(name: &'static str, next: &'static str) -> Class {
    Class { name, owner: Owner::Operator, stage: Stage::Launch, retry: Transient::No, next }
}

const fn platform(name: &'static str, next: &'static str) -> Class {
    Class { owner: Owner::Platform, retry: Transient::Maybe, ..operator(name, next) }
}

pub(crate) static CLASSES: &[Class] = &[
    operator("value", "Correct the value that the message names, and send the request again."),
    operator(
        "name",
        "Choose another name; the message says which letters and lengths are allowed.",
    ),
    operator(
        "pool",
        "Change the pool's mode or counts as the message says: `az aks nodepool update`.",
    ),
    operator(
        "fixed",
        "Keep the present value, or create a new pool or cluster with the other one and move the workloads.",
    ),
    operator(
        "size",
        "Choose a VM size that has what the pool needs: `az vm list-skus --location <region> --size <size> --all -o table`.",
    ),
    operator(
        "quota",
        "Compare limit and usage with `az vm list-usage --location <region> -o table`, and request more or use less.",
    ),
    platform("capacity", "Retry later, or allow more VM sizes, zones or regions."),
    platform(
        "spot",
        "Use regular VMs for what must not be interrupted, or allow more sizes and zones.",
    ),
    operator(
        "permission",
        "Grant the action in the message on that scope to the caller, and wait a few minutes.",
    ),
    operator(
        "policy",
        "Comply with the policy that the message names, or exempt the node resource group.",
    ),
    operator(
        "lock",
        "List the locks with `az lock list --resource-group <group>`, and remove the one in the way.",
    ),
    Class {
        retry: Transient::Yes,
        ..operator(
            "busy",
            "Wait until the other operation has ended, or abort it with `az aks operation-abort`, then retry.",
        )
    },
    Class {
        retry: Transient::Maybe,
        ..operator(
            "state",
            "Bring the resource into the state Succeeded first: `az aks update` without changes reconciles a cluster.",
        )
    },
    Class {
        retry: Transient::Yes,
        ..operator(
            "throttle",
            "Wait for the time in Retry-After, then retry; find the clients that send the most requests.",
        )
    },
    platform(
        "fault",
        "Retry after a few minutes; if it persists, open a support case with the correlation ID.",
    ),
    operator(
        "missing",
        "Find who deleted it in the activity log; recreate it, or change the reference to it.",
    ),
    operator(
        "feature",
        "Register the feature or provider that the message names: `az feature register`, `az provider register`.",
    ),
    operator(
        "version",
        "List the versions: `az aks get-versions --location <region> -o table`, `az aks get-upgrades`.",
    ),
    operator(
        "subnet",
        "Use a larger or another subnet for a new pool, or fewer nodes and pods per node.",
    ),
    operator(
        "network",
        "Correct the network settings that the message names; some can be set at creation only.",
    ),
    Class {
        owner: Owner::Network,
        ..operator(
            "egress",
            "Check DNS servers, routes, firewall and proxy from a VM in the subnet of the nodes.",
        )
    },
    operator(
        "identity",
        "Check that the identity exists and has its roles, then reconcile with `az aks update`.",
    ),
    operator(
        "secret",
        "Set a valid secret in the cluster: `az aks update-credentials --reset-service-principal`.",
    ),
    operator(
        "signin",
        "Check the tenant, the account and its rules for sign-in, then get a new token.",
    ),
    platform("directory", "Retry after a few minutes; check the health of Entra ID."),
    operator(
        "key",
        "Check that key and vault exist, and that the disk encryption set or the cluster may use the key.",
    ),
    operator("disk", "Use a disk of a size and type that the image and the VM size allow."),
    Class {
        owner: Owner::Image,
        ..operator(
            "image",
            "Use another node image version: `az aks nodepool get-upgrades`, `az aks nodepool upgrade --node-image-only`.",
        )
    },
    Class {
        owner: Owner::Image,
        stage: Stage::Bootstrap,
        retry: Transient::Maybe,
        ..operator(
            "extension",
            "Read the extension's message in the instance view: `az vmss get-instance-view --instance-id '*'`.",
        )
    },
    Class {
        stage: Stage::Boot,
        ..platform("boot", "Look at the VM's boot diagnostics, then replace the VM.")
    },
    Class {
        stage: Stage::Ready,
        ..operator(
            "drain",
            "Find what blocks the eviction: `kubectl get pdb -A`; relax it or add a replica, then retry.",
        )
    },
    operator(
        "billing",
        "Check state and offer of the subscription in the portal, or use another one.",
    ),
    operator(
        "template",
        "Correct the template or its API version as the message says, and deploy again.",
    ),
    Class {
        stage: Stage::Register,
        ..operator(
            "claim",
            "`kubectl describe nodeclaim <name>` and Karpenter's log show what is missing.",
        )
    },
];

pub(crate) fn find(name: &str) -> Option<&'static Class> {
    CLASSES.iter().find(|class| class.name == name)
}

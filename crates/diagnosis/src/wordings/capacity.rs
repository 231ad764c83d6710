//! VM sizes, capacity and zones.

use mooring_codes::Owner;

use super::context::OTHER_SERVICES;
use super::{About, Cause, LAUNCH, Wording};
use crate::diagnosis::Confidence;

static SIZE: Cause = Cause {
    reason: "SizeNotAvailable",
    summary: "The VM size is not offered to this subscription in that region or zone.",
    actions: &[
        "List the sizes and their restrictions: `az vm list-skus --location <region> --size <size> --all -o table`.",
        "Choose another size, region or zone, or ask Azure support to lift the restriction.",
        "With Karpenter, allow more sizes in the NodePool's requirements.",
    ],
    ..LAUNCH
};

static SIZE_UNSUITABLE: Cause = Cause {
    reason: "SizeUnsuitable",
    summary: "The VM size cannot do what the node pool asks of it.",
    actions: &[
        "Read in the quoted line which feature or minimum is missing, and choose a VM size that has it.",
        "Otherwise turn the feature off for the pool, for example ephemeral OS disks or encryption at host.",
    ],
    ..LAUNCH
};

static ALLOCATION: Cause = Cause {
    reason: "AllocationFailed",
    owner: Owner::Platform,
    summary: "Azure has no capacity for this VM size with these constraints (zone, proximity placement group, disk type) at the moment. \
        Quota and settings are fine.",
    actions: &[
        "Try again later, or use another VM size, zone or region.",
        "Drop constraints: spread over all zones, no proximity placement group, no ephemeral disk.",
        "For capacity that must be there, create an on-demand capacity reservation.",
    ],
    ..LAUNCH
};

static ZONE: Cause = Cause {
    reason: "ZoneNotSupported",
    summary: "The availability zone does not exist for this VM size in that region.",
    actions: &[
        "List the zones of the size: `az vm list-skus --location <region> --size <size> --zone -o table`.",
        "Create the node pool in zones that are listed; zones of a pool cannot be changed later.",
    ],
    ..LAUNCH
};

static NO_INSTANCE_TYPE: Cause = Cause {
    reason: "NoInstanceTypeFits",
    summary: "No VM size that the NodePool allows fits the pods that wait, so Karpenter creates no node.",
    actions: &[
        "Compare requests, node selectors and tolerations of the pods with the NodePool's requirements, taints and limits.",
        "Sizes without quota or capacity are left out for some minutes: read Karpenter's log for errors of launches before.",
    ],
    ..LAUNCH
};

pub(super) static WORDINGS: &[Wording] = &[
    Wording {
        name: "size-not-allowed",
        cause: &SIZE,
        phrases: &[
            "is not allowed in your subscription in location",
            "is not allowed in your subscription",
            "is currently not available in zone",
            "the requested vm size",
            "the vm size of agentpoolprofile",
            "is not supported for creation of aks",
            "vm sku is not supported",
            "the available vm sizes are",
            "vm size is not supported",
            "notavailableforsubscription",
            "vmsizenotsupported",
            "invalidvmsize",
            "vmskunotavailable",
        ],
        without: &[
            "was disallowed by policy",
            "requestdisallowedbypolicy",
            "do not have sufficient capacity",
            "not available in availability zone",
        ],
        ..Wording::ANY
    },
    Wording {
        name: "size-unsuitable",
        cause: &SIZE_UNSUITABLE,
        phrases: &[
            "must use vm sku with more than",
            "os disk of ephemeral vm with size greater than",
            "does not have enough temp disk",
            "is not permitted to enable accelerated networking",
            "does not support encryption at host",
            "does not support encryptionathost",
            "does not support trusted launch",
            "does not support premium storage",
            "vmsizeisnotpermittedtoenableacceleratednetworkingforvmss",
            "vmsizedoesnotsupportencryptionathost",
            "does not support ephemeral",
        ],
        about: About::Machines,
        ..Wording::ANY
    },
    Wording {
        name: "allocation",
        cause: &ALLOCATION,
        phrases: &[
            "vm(s) with the following constraints cannot be allocated",
            "do not have sufficient capacity for the requested",
            "does not have sufficient capacity for the requested",
            "unable to allocate resources in the selected zone",
            "is insufficient for the requested vm size",
            "insufficient capacity for the requested vm size",
            "capacity is not available for the requested vm size",
            "vm allocation failed",
            "all requested instance types were unavailable during launch",
            "insufficientcapacityerror",
            "insufficientcapacity",
            "zonalallocationfailure",
            "allocationfailed",
        ],
        without: &["cannot boot hypervisor generation", "exceeding approved"],
        about: About::Machines,
        ..Wording::ANY
    },
    Wording {
        name: "allocation-named",
        cause: &ALLOCATION,
        phrases: &[
            "zonalallocationfailed",
            "overconstrainedzonalallocationrequest",
            "overconstrainedallocationrequest",
        ],
        ..Wording::ANY
    },
    Wording {
        name: "allocation-sentence",
        cause: &ALLOCATION,
        phrases: &["allocation failed"],
        near: &[&["capacity", "too restrictive"]],
        about: About::Machines,
        confidence: Confidence::Medium,
        ..Wording::ANY
    },
    Wording {
        name: "zone-not-supported",
        cause: &ZONE,
        phrases: &[
            "the supported zones for location",
            "availability zone is not supported",
            "availability zones are not supported",
            "not available in availability zone",
            "does not support availability zones",
            "availabilityzonenotsupported",
            "invalidavailabilityzone",
            "invalidavailabilityzones",
            "locationnotsupportavailabilityzones",
            "standard load balancer is required for availability zone",
            "zone(s) for resource",
        ],
        also: &[&[
            "availabilityzonenotsupported",
            "virtual machine",
            "vm size",
            "node pool",
            "nodepool",
            "agent pool",
            "load balancer",
            "aks-",
            "az aks",
            "kubernetes",
        ]],
        about: About::Anything,
        ..Wording::ANY
    },
    Wording {
        name: "no-instance-type",
        cause: &NO_INSTANCE_TYPE,
        phrases: &[
            "no instance type met the scheduling requirements",
            "no instance type satisfied resources",
            "no instance type which had enough resources",
            "no instance types satisfy",
            "incompatible with nodepool",
        ],
        about: About::Nodes,
        confidence: Confidence::Medium,
        ..Wording::ANY
    },
    Wording {
        name: "size-not-available",
        cause: &SIZE,
        phrases: &[
            "the requested size for resource",
            "is currently not available in location",
            "the requested resource is currently not available",
            "the requested sku is unavailable",
            "is not supported for subscription",
            "skunotavailable",
            "skunotsupported",
        ],
        without: OTHER_SERVICES,
        ..Wording::ANY
    },
];

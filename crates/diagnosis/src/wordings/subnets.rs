//! Subnets, pod CIDRs and address ranges.

use super::context::OTHER_SERVICES;
use super::{About, Cause, LAUNCH, Wording};
use crate::diagnosis::Confidence;

static SUBNET: Cause = Cause {
    reason: "SubnetFull",
    summary: "The subnet or the pod CIDR has no addresses left for the nodes that were asked for.",
    actions: &[
        "Count: a node takes one address, with Azure CNI (node subnet) one more per pod (--max-pods), and upgrades add surge nodes.",
        "Use a larger subnet for a new node pool, a lower --max-pods or --max-count, or Azure CNI Overlay.",
        "Look for addresses that nothing uses any more, such as network interfaces of deleted VMs.",
    ],
    ..LAUNCH
};

static OVERLAP: Cause = Cause {
    reason: "AddressRangesOverlap",
    summary: "Address ranges of the cluster (pods, services, subnet) overlap.",
    actions: &[
        "Choose ranges that overlap neither each other nor networks that are peered with the cluster's.",
    ],
    ..LAUNCH
};

pub(super) static WORDINGS: &[Wording] = &[
    Wording {
        name: "subnet-too-small",
        cause: &SUBNET,
        phrases: &["exceeds ips available", "pre-allocated ips", "insufficientsubnetsize"],
        ..Wording::ANY
    },
    Wording {
        name: "subnet-full",
        cause: &SUBNET,
        phrases: &[
            "does not have enough capacity for",
            "does not have enough ip addresses",
            "there are not enough ip addresses",
            "insufficient ip addresses",
            "not enough free ip addresses",
            "secondary ipconfigurations",
            "there are no remaining cidrs left to allocate",
            "no available addresses",
            "not enough ips available",
            "no more free ips",
            "subnet is full",
            "subnetisfull",
            "cidrnotavailable",
            "nodecidrnotavailable",
            "cidrassignmentfailed",
            "insufficientfreeaddressesinsubnet",
        ],
        also: &[&[
            "ip addresses",
            "ip address",
            "ips available",
            "subnet",
            "ipconfigurations",
            "cidr",
            "cidrs",
            "addresses",
            "address",
            "subnetisfull",
            "cidrnotavailable",
        ]],
        about: About::Machines,
        ..Wording::ANY
    },
    Wording {
        name: "subnet-full-named",
        cause: &SUBNET,
        phrases: &["does not have enough capacity for", "subnetisfull"],
        near: &[&["subnetisfull", "ip addresses"]],
        without: OTHER_SERVICES,
        confidence: Confidence::Medium,
        ..Wording::ANY
    },
    Wording {
        name: "ip-configurations",
        cause: &SUBNET,
        phrases: &[
            "ip configurations",
            "ipconfigurations",
            "ip configuration limit",
            "private ip addresses",
        ],
        near: &[&[
            "exceeds the maximum",
            "exceed the maximum",
            "maximum allowed",
            "cannot have more than",
            "limit of 65536",
            "exceeds the limit",
            "limit has been reached",
        ]],
        about: About::Machines,
        ..Wording::ANY
    },
    Wording {
        name: "service-range-overlaps",
        cause: &OVERLAP,
        phrases: &[
            "the specified service cidr",
            "networkprofilecidroverlapvnet",
            "servicecidroverlapexistingsubnetscidr",
            "servicecidroverlapswithsubnet",
        ],
        ..Wording::ANY
    },
    Wording {
        name: "ranges-overlap",
        cause: &OVERLAP,
        phrases: &["overlaps with reserved", "is overlapping with", "cidr overlaps"],
        about: About::Nodes,
        ..Wording::ANY
    },
];

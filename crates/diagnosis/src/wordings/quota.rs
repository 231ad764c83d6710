//! Quota, limits of public IP addresses, and limits of requests.

use super::{About, Cause, LAUNCH, Wording};
use crate::diagnosis::Confidence;

static QUOTA: Cause = Cause {
    reason: "QuotaExceeded",
    summary: "The subscription's quota does not allow the VMs that were asked for, so Azure creates none.",
    actions: &[
        "Read the limit and the usage in the quoted line, and list them: `az vm list-usage --location <region> -o table`.",
        "Request more quota for that family or region, or use a VM family or region that has some left.",
        "Upgrades need quota for surge nodes, too: a smaller --max-surge needs less.",
    ],
    ..LAUNCH
};

static PUBLIC_IP: Cause = Cause {
    reason: "PublicIpLimitReached",
    summary: "The subscription's limit of public IP addresses does not allow another one that the cluster or its nodes need.",
    actions: &[
        "List them and delete unused ones: `az network list-usages --location <region> -o table`.",
        "Request a higher limit, or turn off public IPs per node.",
    ],
    ..LAUNCH
};

static THROTTLED: Cause = Cause {
    reason: "Throttled",
    summary: "Azure limits the requests of this subscription and rejected this one.",
    actions: &[
        "Wait for the time in Retry-After and try again.",
        "Find who sends so many requests: autoscalers, monitoring, pipelines.",
    ],
    ..LAUNCH
};

pub(super) static WORDINGS: &[Wording] = &[
    Wording {
        name: "quota-approved",
        cause: &QUOTA,
        phrases: &[
            "results in exceeding approved",
            "exceeding approved",
            "exceeds approved",
            "resource quota of cores exceeded",
            "exceeding quota limits of core",
            "exceed quota limits of core",
            "exceeds quota limits of core",
            "insufficient regional vcpu quota",
            "insufficient vcpu quota",
            "insufficient vcpus quota",
            "vcpu quota limit for subscription has been reached",
            "vcpu quota for",
            "vcpus requested",
            "quota limit of",
            "regional capacity limit for your subscription has been reached",
            "cores quota",
            "vcpu quota",
            "insufficientvcpuquota",
            "errcode_insufficientvcpuquota",
            "insufficientcoresquota",
            "subscriptionquotareached",
            "skufamilyquota",
            "totalregionalcores",
            "lowprioritycores",
            "managedclustercountexceedsquotalimit",
        ],
        also: &[&["quota", "limit"]],
        without: &["will be used", "not a quota"],
        ..Wording::ANY
    },
    Wording {
        name: "quota-named",
        cause: &QUOTA,
        phrases: &[
            "quotaexceeded",
            "quota exceeded",
            "exceeds the quota",
            "exceeded quota",
            "resourcequotaexceeded",
        ],
        without: &[
            "public ip",
            "publicipaddresses",
            "storage account",
            "exceeded quota: ",
            "pods \"",
            "requests.cpu",
        ],
        about: About::Machines,
        confidence: Confidence::Medium,
        ..Wording::ANY
    },
    Wording {
        name: "public-ip-limit",
        cause: &PUBLIC_IP,
        phrases: &[
            "cannot create more than",
            "publicipcountlimitreached",
            "standardpublicipcountlimitreached",
            "public ip count limit",
        ],
        also: &[&[
            "public ip",
            "publicipcountlimitreached",
            "publicipaddresses",
            "standardpublicipcountlimitreached",
        ]],
        about: About::Nodes,
        ..Wording::ANY
    },
    Wording {
        name: "throttled",
        cause: &THROTTLED,
        phrases: &[
            "number of requests for subscription",
            "the request is being throttled",
            "too many requests have been received for this subscription",
            "subscriptionrequeststhrottled",
            "resourcerequeststhrottled",
            "httpstatuscode: 429",
            "statuscode=429",
            "operationnotallowedthrottled",
        ],
        about: About::Machines,
        ..Wording::ANY
    },
];

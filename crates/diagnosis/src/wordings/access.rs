//! Policies, permissions, locks, identities, features, things that were deleted.

use super::{About, Cause, LAUNCH, Wording};
use crate::diagnosis::Confidence;

static POLICY: Cause = Cause {
    reason: "PolicyRefused",
    summary: "An Azure Policy denies a resource that the node or its pool needs.",
    actions: &[
        "Read in the quoted text which policy assignment denied which resource, and which rule it did not meet.",
        "Meet the rule (tags, sizes, network settings), or exempt the cluster's node resource group (MC_…) from the assignment.",
    ],
    ..LAUNCH
};

static DENY_ASSIGNMENT: Cause = Cause {
    reason: "DenyAssignment",
    summary: "A deny assignment blocks the change, whatever roles the caller has.",
    actions: &[
        "Find it by the id in the quoted text: `az role assignment list` does not show it, the portal's Access control page does.",
        "On a node resource group with lockdown, change the cluster through AKS instead, or set its restriction level to Unrestricted.",
    ],
    ..LAUNCH
};

static LOCKED: Cause = Cause {
    reason: "ResourceLocked",
    summary: "A resource lock blocks the change of the cluster, its node resource group or something in it.",
    actions: &[
        "List the locks of the scope in the quoted text: `az lock list --resource-group <group>`.",
        "Remove the lock, at least for the operation. AKS does not support locks in the node resource group.",
    ],
    ..LAUNCH
};

static PERMISSION: Cause = Cause {
    reason: "PermissionMissing",
    summary: "The identity that makes the change lacks a permission on a resource that is part of it, most often \
        subnets/join/action on the cluster's subnet.",
    actions: &[
        "Read the client, the action and the scope in the quoted text, and grant that action: for subnets the role Network Contributor.",
        "Wait some minutes for the assignment to take effect, then try again.",
    ],
    ..LAUNCH
};

static FEATURE: Cause = Cause {
    reason: "FeatureNotRegistered",
    summary: "The subscription has not registered a feature or a resource provider that the request needs.",
    actions: &[
        "Register it: `az feature register --namespace <namespace> --name <feature>`, or `az provider register --namespace <namespace>`.",
        "Wait until `az feature show` reports Registered, then register the provider again and retry.",
    ],
    ..LAUNCH
};

static DELETED: Cause = Cause {
    reason: "ResourceDeleted",
    summary: "A resource that the cluster depends on does not exist any more: its node resource group, network, identity or scale set.",
    actions: &[
        "Find who deleted it: `az monitor activity-log list --resource-id <id in the quoted text>`.",
        "Create it again under the same name where that is possible, then run `az aks update` to reconcile; a deleted node resource \
            group cannot be restored: create a new cluster.",
    ],
    ..LAUNCH
};

static CREDENTIALS: Cause = Cause {
    reason: "ServicePrincipalInvalid",
    summary: "The cluster's service principal cannot sign in: its secret expired or is wrong, or it was deleted.",
    actions: &[
        "Create a new secret and give it to the cluster: `az aks update-credentials --reset-service-principal`.",
        "Better, move the cluster to a managed identity: `az aks update --enable-managed-identity`.",
    ],
    ..LAUNCH
};

pub(super) static WORDINGS: &[Wording] = &[
    Wording {
        name: "policy",
        cause: &POLICY,
        phrases: &[
            "was disallowed by policy",
            "was disallowed by one or more policies",
            "disallowed by policy",
            "required by policies",
            "requestdisallowedbypolicy",
            "requestdisallowedbyazure",
            "ambiguouspolicyevaluationpaths",
            "policyviolation",
        ],
        about: About::Machines,
        ..Wording::ANY
    },
    Wording {
        name: "deny-assignment",
        cause: &DENY_ASSIGNMENT,
        phrases: &[
            "because of the deny assignment",
            "blocked by deny assignments",
            "denied because of a deny assignment",
            "denyassignmentauthorizationfailed",
        ],
        about: About::Machines,
        ..Wording::ANY
    },
    Wording {
        name: "locked",
        cause: &LOCKED,
        phrases: &[
            "following scope(s) are locked",
            "is locked, please remove lock",
            "please remove the lock and try again",
            "scopelocked",
            "resourcegrouplocked",
        ],
        about: About::Nodes,
        ..Wording::ANY
    },
    Wording {
        name: "permission-linked",
        cause: &PERMISSION,
        phrases: &[
            "however, it does not have permission to perform action",
            "does not have permission to perform action",
            "does not have authorization to perform action",
            "is not authorized to access linked subscription",
            "has no assignment permission over identity",
            "linkedauthorizationfailed",
            "customkubeletidentitymissingpermissionerror",
        ],
        about: About::Machines,
        ..Wording::ANY
    },
    Wording {
        name: "permission-named",
        cause: &PERMISSION,
        phrases: &["authorizationfailed"],
        about: About::Nodes,
        confidence: Confidence::Medium,
        ..Wording::ANY
    },
    Wording {
        name: "feature",
        cause: &FEATURE,
        phrases: &[
            "feature is not enabled for this subscription",
            "is not registered for this subscription",
            "subscription is not registered to use namespace",
            "is not registered with the feature",
            "preview feature",
            "feature is not registered",
            "requires the feature",
            "feature microsoft.",
            "does not enable encryptionathost",
            "featurenotregistered",
            "featurenotenabled",
            "missingsubscriptionregistration",
            "subscriptionnotregistered",
            "previewfeaturenotregistered",
            "subscriptionnotenabledencryptionathost",
        ],
        near: &[&[
            "not registered",
            "does not enable encryptionathost",
            "subscriptionnotenabledencryptionathost",
            "not enabled",
            "featurenotregistered",
            "featurenotenabled",
            "missingsubscriptionregistration",
            "subscriptionnotregistered",
            "previewfeaturenotregistered",
        ]],
        without: &["we are registering for you"],
        about: About::Machines,
        ..Wording::ANY
    },
    Wording {
        name: "credentials-of-the-cluster",
        cause: &CREDENTIALS,
        phrases: &[
            "client secret keys for app",
            "client secret keys are expired",
            "invalid client secret provided",
            "invalid client secret is provided",
            "aadsts7000222",
            "aadsts7000215",
            "aadsts700016",
            "serviceprincipalvalidationclienterror",
            "serviceprincipalnotfound",
        ],
        about: About::Nodes,
        ..Wording::ANY
    },
    Wording {
        name: "cluster-resource-deleted",
        cause: &DELETED,
        phrases: &[
            "the resource 'microsoft.containerservice/",
            "the resource 'microsoft.compute/virtualmachine",
        ],
        near: &[&["was not found"]],
        ..Wording::ANY
    },
    Wording {
        name: "group-deleted",
        cause: &DELETED,
        phrases: &["resource group", "resourcegroup", "resourcegroupnotfound"],
        near: &[&[
            "could not be found",
            "was not found",
            "does not exist",
            "resourcegroupnotfound",
        ]],
        without: &["aka.ms/armresourcenotfoundfix"],
        about: About::Nodes,
        ..Wording::ANY
    },
    Wording {
        name: "resource-deleted",
        cause: &DELETED,
        phrases: &[
            "userassignedidentities",
            "managed identity",
            "user assigned identity",
            "virtualmachinescalesets",
            "kubelet identity",
            "identity",
        ],
        near: &[&[
            "was not found",
            "could not be found",
            "does not exist",
            "has been deleted",
            "resourcenotfound",
            "not found in",
        ]],
        without: &["gallery image", "vm image", "galleryimagenotfound", "identity not found"],
        about: About::Nodes,
        confidence: Confidence::Medium,
        ..Wording::ANY
    },
    Wording {
        name: "identity-deleted",
        cause: &DELETED,
        phrases: &[
            "userassignedidentitynotfound",
            "failedidentityoperation",
            "invalididentityresourceid",
            "deleted the kubelet identity",
        ],
        about: About::Nodes,
        ..Wording::ANY
    },
];

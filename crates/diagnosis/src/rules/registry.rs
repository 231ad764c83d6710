//! oras, the bootstrap registry, its rights and names.

use mooring_codes::Owner;

use super::Rule;
use crate::clues::Clue;
use crate::diagnose::ANOTHER_IMAGE;
use crate::diagnosis::Confidence;

const ORAS: Rule = Rule {
    reason: "OrasBinaryMissing",
    effective: Some((232, "ERR_ORAS_BINARY_NOT_FOUND")),
    confidence: Confidence::High,
    owner: Owner::Image,
    summary: "The node image has no usable oras binary. Every try ended at once with \"not found\", \
        which the scripts report as a network time-out of the bootstrap registry. Neither the \
        network nor the registry is at fault.",
    actions: &[
        ANOTHER_IMAGE,
        "Try one node of that version before rolling it out.",
        "Do not change firewalls or the registry: they were never reached.",
    ],
    ..Rule::ANY
};

const IMDS_TOKEN: Rule = Rule {
    reason: "ImdsUnreachable",
    confidence: Confidence::High,
    owner: Owner::Network,
    summary: "The node could not get an answer from the instance metadata service \
        (169.254.169.254), so it has no token for the bootstrap registry.",
    actions: &[
        "Look for a host firewall, a route or a proxy that catches 169.254.169.254; it must be \
            reached directly.",
        "Recreate the node once; if it repeats without such a rule, open a support case.",
    ],
    ..Rule::ANY
};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "oras-not-found",
        codes: &[210, 211, 212, 207, 208, 231, 233, 1, 127],
        clues: &[&[Clue::OrasMissing, Clue::AcrWithout]],
        ..ORAS
    },
    Rule {
        name: "oras-response-not-found",
        codes: &[211],
        clues: &[&[Clue::AcrResponse], &[Clue::NotFound]],
        ..ORAS
    },
    Rule {
        name: "oras-named-by-agent",
        codes: &[232],
        clues: &[&[Clue::OrasNamedMissing, Clue::OrasMissing]],
        summary: "The node image has no usable oras binary. The node agent found that before any \
            script ran; Error in the report says what it found.",
        ..ORAS
    },
    Rule {
        name: "data-endpoint-dns",
        reason: "RegistryDataEndpointUnresolved",
        codes: &[205, 207, 208, 211, 231, 233, 124],
        clues: &[&[Clue::DataEndpoint], &[Clue::Dns, Clue::DnsRefused]],
        in_one_line: true,
        confidence: Confidence::High,
        owner: Owner::Network,
        summary: "The registry answers, but the name of its data endpoint does not resolve, so \
            layers cannot be fetched.",
        actions: &[
            "Add the data endpoint (<registry>.<region>.data.azurecr.io, or the blob endpoint) to \
                the private DNS zone, and link the zone to the node's virtual network.",
            "Check it from the node's subnet: `nslookup <registry>.<region>.data.azurecr.io`.",
        ],
        ..Rule::ANY
    },
    Rule {
        name: "identity-not-assigned",
        reason: "NodeIdentityMissing",
        codes: &[210, 212],
        clues: &[&[Clue::IdentityMissing]],
        confidence: Confidence::High,
        owner: Owner::Operator,
        summary: "The instance metadata service refuses a token: the identity that the node should \
            use for the bootstrap registry is not assigned to its VM.",
        actions: &[
            "Assign the cluster's kubelet identity to the pool's scale set or VM.",
            "Check that the client id in the node's config is that identity's.",
        ],
        ..Rule::ANY
    },
    Rule {
        name: "token-imds-unreachable",
        codes: &[210, 212],
        clues: &[&[Clue::Imds], &[Clue::Unreachable]],
        in_one_line: true,
        ..IMDS_TOKEN
    },
    Rule {
        name: "registry-refuses",
        reason: "RegistryPermissionMissing",
        codes: &[205, 207, 208, 212, 233],
        clues: &[&[Clue::RegistryDenied, Clue::HttpForbidden]],
        confidence: Confidence::High,
        owner: Owner::Operator,
        summary: "The bootstrap registry knows the node's identity, or nobody, and refuses it.",
        actions: &[
            "Give the kubelet identity the role AcrPull (or the reader role of repositories, where \
                permissions are by repository) on the bootstrap registry.",
            "Wait a few minutes for the assignment to take effect, then recreate one node.",
        ],
        ..Rule::ANY
    },
];

//! The same causes on Windows, where numbers and words are others. Its scripts put what went wrong
//! into the line of the result, so the line with the code is often the evidence as well.

use mooring_codes::{Os, Owner};

use super::Rule;
use crate::clues::Clue;
use crate::diagnosis::Confidence;

/// Codes of steps that download something.
const DOWNLOADS: &[i32] = &[33, 34, 35, 37, 38, 39, 40, 58, 66, 70];

/// The same, the test of the API server, and what nobody has mapped.
const NETWORK: &[i32] = &[1, 5, 33, 34, 35, 37, 38, 39, 40, 58, 59, 66, 70, 78];

const BASE: Rule = Rule {
    os: Some(Os::Windows),
    owner: Owner::Network,
    confidence: Confidence::High,
    ..Rule::ANY
};

const API_SERVER: Rule = Rule {
    reason: "ApiServerUnreachable",
    codes: &[5],
    summary: "The node cannot open a connection to the API server on port 443: 60 tries, one second \
        apart, all failed.",
    actions: &[
        "From a VM in the node's subnet run `Test-NetConnection <api server> -Port 443`.",
        "Check authorized IP ranges, the firewall, and for a private cluster the private endpoint \
            and the peering between its network and the node's.",
    ],
    ..BASE
};

const IMDS: Rule = Rule {
    reason: "ImdsUnreachable",
    codes: &[69, 74, 77],
    owner: Owner::Platform,
    summary: "The node got no usable answer from the instance metadata service (169.254.169.254).",
    actions: &[
        "Look for a proxy without an exception for 169.254.169.254; it must be reached directly.",
        "Recreate the node once; if it repeats, open a support case.",
    ],
    ..BASE
};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "windows-proxy",
        reason: "ProxyRefused",
        codes: NETWORK,
        clues: &[&[Clue::Proxy]],
        summary: "The proxy refuses the node's requests.",
        actions: &[
            "Check the proxy's address and credentials in the cluster's HTTP proxy settings, and \
                its allow list.",
            "Put hosts that must be reached directly into noProxy, the API server among them.",
        ],
        ..BASE
    },
    Rule {
        name: "windows-tls",
        reason: "TlsIntercepted",
        codes: NETWORK,
        clues: &[&[Clue::Tls]],
        summary: "A certificate on the way is not one that the node trusts. Most often a firewall \
            or proxy opens TLS connections and signs them anew.",
        actions: &["Exempt the AKS outbound names from TLS inspection."],
        ..BASE
    },
    Rule {
        name: "windows-driver-altered",
        reason: "DownloadAltered",
        codes: &[59],
        // A download that failed has no signature to verify.
        without: &[Clue::Dns, Clue::DnsRefused, Clue::Unreachable, Clue::HttpNotFound],
        confidence: Confidence::Medium,
        summary: "The GPU driver's signature does not verify: something on the way changed the \
            file, or it is not the driver.",
        actions: &["Exempt the driver's host from inspection, and compare the file's hash."],
        ..BASE
    },
    Rule {
        name: "windows-api-server-name",
        codes: &[5],
        clues: &[&[Clue::Dns, Clue::DnsRefused]],
        reason: "ApiServerNameUnresolved",
        summary: "The API server's name does not resolve on the node.",
        actions: &[
            "From a VM in the node's subnet run `Resolve-DnsName <api server>` against each DNS \
                server of the virtual network.",
            "For a private cluster link the private DNS zone to the network that the DNS servers \
                are in, and forward to 168.63.129.16.",
        ],
        ..BASE
    },
    Rule { name: "windows-api-server", clues: &[&[Clue::Unreachable]], ..API_SERVER },
    Rule { name: "windows-api-server-code", confidence: Confidence::Medium, ..API_SERVER },
    Rule {
        name: "windows-dns",
        reason: "DnsFailure",
        codes: NETWORK,
        clues: &[&[Clue::Dns, Clue::DnsRefused]],
        summary: "A name that the node needs does not resolve.",
        actions: &[
            "From a VM in the node's subnet resolve the name in the quoted line against each DNS \
                server of the virtual network.",
            "Let custom DNS servers forward to 168.63.129.16.",
        ],
        ..BASE
    },
    Rule {
        name: "windows-not-published",
        reason: "PackageNotPublished",
        codes: DOWNLOADS,
        clues: &[&[Clue::HttpNotFound]],
        owner: Owner::Operator,
        summary: "The wanted version is not where the node looks for it (404).",
        actions: &[
            "Choose a Kubernetes patch version that is published for Windows, or a newer image.",
            "If a package URL is overridden, correct it.",
        ],
        ..BASE
    },
    Rule {
        name: "windows-egress",
        reason: "EgressBlocked",
        codes: DOWNLOADS,
        clues: &[&[Clue::Unreachable, Clue::HttpForbidden]],
        summary: "A package that the node needs could not be downloaded in five tries: a firewall, \
            a route or a missing outbound path is in the way.",
        actions: &[
            "From a VM in the node's subnet try the address in the quoted line.",
            "Allow the outbound names that AKS requires in the firewall, and check the route table, \
                NAT gateway or load balancer of the subnet.",
        ],
        ..BASE
    },
    Rule {
        name: "windows-registry-unreachable",
        reason: "RegistryUnreachable",
        codes: &[78],
        clues: &[&[Clue::Unreachable]],
        summary: "The bootstrap registry does not answer.",
        actions: &[
            "From a VM in the node's subnet run `Test-NetConnection <registry> -Port 443`.",
            "Check the registry's private endpoint, its DNS zone link and its firewall.",
        ],
        ..BASE
    },
    Rule {
        name: "windows-registry-refuses",
        reason: "RegistryPermissionMissing",
        codes: &[79, 80, 81, 82, 84],
        clues: &[&[Clue::RegistryDenied, Clue::HttpForbidden]],
        owner: Owner::Operator,
        summary: "The bootstrap registry refuses the node's identity.",
        actions: &[
            "Give the kubelet identity the role AcrPull (or the reader role of repositories, where \
                permissions are by repository) on the bootstrap registry.",
            "Wait a few minutes for the assignment to take effect, then recreate one node.",
        ],
        ..BASE
    },
    Rule {
        name: "windows-oras",
        reason: "OrasBinaryMissing",
        codes: &[76],
        confidence: Confidence::Medium,
        owner: Owner::Image,
        summary: "The node image has no usable oras in its cache.",
        actions: &[
            "Give new nodes another image: `az aks nodepool rollback`, or a newer version that \
                includes oras.",
        ],
        ..BASE
    },
    Rule { name: "windows-imds", clues: &[&[Clue::Imds, Clue::ImdsFailed]], ..IMDS },
    Rule { name: "windows-imds-code", confidence: Confidence::Medium, ..IMDS },
    Rule {
        name: "windows-node-reset",
        reason: "KubeletNotStarted",
        codes: &[32],
        confidence: Confidence::Medium,
        owner: Owner::Operator,
        summary: "The task that sets the node's network up and starts kubelet did not end well \
            within 180 seconds.",
        actions: &["Read C:\\k\\windowsnodereset.log and kubelet's logs in C:\\k on the node."],
        ..BASE
    },
];

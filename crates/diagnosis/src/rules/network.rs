//! Egress, DNS, proxies, TLS. The scripts fetch before they test the network, so a blocked network
//! often shows as the code of an install step.

use mooring_codes::Owner;

use super::Rule;
use crate::clues::Clue;
use crate::diagnose::ANOTHER_IMAGE;
use crate::diagnosis::Confidence;

/// Codes of steps that fetch something, and those that run out of time over it.
const FETCHING: &[i32] = &[
    2, 9, 10, 25, 26, 28, 31, 41, 42, 70, 71, 84, 85, 96, 99, 121, 122, 124, 137, 152, 169, 205,
    207, 208, 211, 231, 233,
];

/// The same, and the scripts' own tests of the network.
const NETWORK: &[i32] = &[
    2, 9, 10, 25, 26, 28, 31, 41, 42, 50, 51, 52, 53, 70, 71, 80, 84, 85, 96, 99, 121, 122, 124,
    137, 152, 161, 169, 205, 207, 208, 210, 211, 212, 231, 233, 1,
];

const BASE: Rule = Rule { owner: Owner::Network, confidence: Confidence::High, ..Rule::ANY };

const EGRESS: Rule = Rule {
    reason: "EgressBlocked",
    effective: Some((50, "ERR_OUTBOUND_CONN_FAIL")),
    summary: "The node cannot reach a host that it needs: connections fail or never answer. A \
        firewall, a route or a missing outbound path is in the way.",
    actions: &[
        "From the node's subnet try the host in the quoted line, for example \
            `curl -v https://mcr.microsoft.com/v2/`.",
        "Allow the outbound names that AKS requires in the firewall, and check the route table, NAT \
            gateway or load balancer of the subnet.",
    ],
    ..BASE
};

const API_SERVER: Rule = Rule {
    reason: "ApiServerUnreachable",
    effective: Some((51, "ERR_K8S_API_SERVER_CONN_FAIL")),
    summary: "The node cannot connect to the API server, although its name is known.",
    actions: &[
        "From the node's subnet run `curl -vk https://<api server>:443/healthz`.",
        "Check authorized IP ranges, the firewall, and for a private cluster the private endpoint \
            and the peering between its network and the node's.",
    ],
    ..BASE
};

const API_NAME: Rule = Rule {
    reason: "ApiServerNameUnresolved",
    summary: "The API server's name does not resolve on the node.",
    actions: &[
        "From the node's subnet run `nslookup <api server>` against each DNS server of the virtual \
            network.",
        "For a private cluster link the private DNS zone to the network that the DNS servers are \
            in, and forward to 168.63.129.16.",
    ],
    ..BASE
};

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "proxy",
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
        name: "certificate-expired",
        reason: "CertificateExpired",
        codes: NETWORK,
        clues: &[&[Clue::CertificateExpired]],
        summary: "A server's certificate has expired or is not valid yet, as seen by the node's \
            clock.",
        actions: &[
            "Look at the dates of the certificate in the quoted line's host: \
                `openssl s_client -connect <host>:443 </dev/null | openssl x509 -noout -dates`.",
            "If they are right, the node's clock is wrong: recreate the node, and check its time \
                source if that repeats.",
        ],
        ..BASE
    },
    Rule {
        name: "foreign-answer",
        reason: "RegistryAnswerForeign",
        codes: &[205, 207, 208, 211, 212, 231, 233],
        clues: &[&[Clue::ForeignAnswer]],
        summary: "Something answers in the registry's place with a page: a captive portal, a proxy \
            or a firewall.",
        actions: &[
            "From the node's subnet run `curl -v https://<registry>/v2/` and see who answers.",
            "Let the registry's names through that device, or resolve them to the private \
                endpoint.",
        ],
        ..BASE
    },
    Rule {
        name: "tls",
        reason: "TlsIntercepted",
        codes: NETWORK,
        clues: &[&[Clue::Tls]],
        summary: "A certificate on the way is not one that the node trusts. Most often a firewall \
            or proxy opens TLS connections and signs them anew.",
        actions: &[
            "Exempt the AKS outbound names from TLS inspection.",
            "If inspection must stay, give the cluster the firewall's CA as a custom CA \
                certificate.",
        ],
        ..BASE
    },
    Rule {
        name: "azure-dns",
        reason: "AzureDnsFailed",
        codes: &[53],
        summary: "The API server's name does not resolve, and Azure's own resolver was asked.",
        actions: &[
            "Check that the private DNS zone is linked to the node's virtual network and has the \
                API server's A record.",
            "If both are there, wait a few minutes and recreate the node.",
        ],
        clues: &[&[Clue::Dns, Clue::DnsRefused]],
        ..BASE
    },
    Rule {
        name: "api-server-name",
        codes: &[52],
        clues: &[&[Clue::Dns, Clue::DnsRefused]],
        ..API_NAME
    },
    Rule {
        name: "api-server-name-ran-out",
        codes: &[124, 137],
        steps: &["apiserverNslookup"],
        effective: Some((52, "ERR_K8S_API_SERVER_DNS_LOOKUP_FAIL")),
        confidence: Confidence::Medium,
        ..API_NAME
    },
    Rule {
        name: "dns",
        reason: "DnsFailure",
        codes: NETWORK,
        clues: &[&[Clue::Dns, Clue::DnsRefused]],
        summary: "A name that the node needs does not resolve.",
        actions: &[
            "From the node's subnet resolve the name in the quoted line against each DNS server of \
                the virtual network.",
            "Let custom DNS servers forward to 168.63.129.16, and answer AAAA queries with an empty \
                answer instead of a refusal.",
        ],
        ..BASE
    },
    Rule {
        name: "oras-too-fast",
        reason: "OrasBinaryMissing",
        codes: &[211],
        seconds: Some((0, 15)),
        clues: &[&[Clue::AcrResponse]],
        // A refused connection, a bad certificate or a portal's page fails as fast, but with words of oras.
        without: &[
            Clue::OrasSpoke,
            Clue::ForeignAnswer,
            Clue::CertificateExpired,
            Clue::Unreachable,
        ],
        effective: Some((232, "ERR_ORAS_BINARY_NOT_FOUND")),
        confidence: Confidence::Medium,
        owner: Owner::Image,
        summary: "Ten tries failed within seconds, which no network time-out does: the oras binary \
            is most likely missing on the node image.",
        actions: &["Check for oras on one node of this image.", ANOTHER_IMAGE],
        ..BASE
    },
    Rule { name: "api-server", codes: &[51], clues: &[&[Clue::Unreachable]], ..API_SERVER },
    Rule {
        name: "api-server-ran-out",
        codes: &[124, 137],
        steps: &["apiserverCurl", "apiserverNC"],
        confidence: Confidence::Medium,
        ..API_SERVER
    },
    Rule {
        name: "not-published",
        reason: "PackageNotPublished",
        codes: &[9, 28, 31, 41, 70, 99, 121, 122, 205, 207],
        clues: &[&[Clue::HttpNotFound]],
        owner: Owner::Operator,
        summary: "The wanted version is not where the node looks for it (404).",
        actions: &[
            "Choose a Kubernetes patch version that the node image carries, or a newer image.",
            "If a package URL is overridden, correct it.",
        ],
        ..BASE
    },
    Rule {
        name: "egress",
        codes: &[50],
        clues: &[&[Clue::Unreachable, Clue::HttpForbidden]],
        ..EGRESS
    },
    Rule {
        name: "egress-ran-out",
        codes: &[124, 137, 2],
        clues: &[&[Clue::Unreachable]],
        confidence: Confidence::Medium,
        ..EGRESS
    },
    Rule {
        name: "registry-unreachable",
        codes: &[211],
        clues: &[&[Clue::Unreachable]],
        reason: "RegistryUnreachable",
        effective: None,
        summary: "The bootstrap registry does not answer.",
        actions: &[
            "From the node's subnet run `curl -v https://<registry>/v2/`.",
            "Check the registry's private endpoint, its DNS zone link and its firewall.",
        ],
        ..EGRESS
    },
    Rule {
        name: "egress-behind-install",
        codes: FETCHING,
        clues: &[&[Clue::Unreachable, Clue::HttpForbidden]],
        ..EGRESS
    },
];

//! Names, connections and proxies in a node's own log, where there is no exit code.
//!
//! The causes are those of the rules for exit codes.

use mooring_codes::Owner;

use super::{About, BOOTSTRAP, Cause, Wording};
use crate::diagnose::ANOTHER_IMAGE;
use crate::diagnosis::Confidence;
use crate::stage::Stage;

/// Hosts that every AKS node needs.
const HOSTS: &[&str] = &[
    "mcr.microsoft.com",
    "packages.microsoft.com",
    "packages.aks.azure.com",
    "acs-mirror.azureedge.net",
    "management.azure.com",
    "login.microsoftonline.com",
    "azure.archive.ubuntu.com",
    "archive.ubuntu.com",
    "security.ubuntu.com",
];

const NO_CONNECTION: &[&str] = &[
    "connection timed out",
    "connect timed out",
    "i/o timeout",
    "connection refused",
    "no route to host",
    "network is unreachable",
    "connection reset by peer",
    "context deadline exceeded",
    "tls handshake timeout",
    "operation timed out",
    "timed out waiting",
    "failed to connect",
    "(tcp) timed out",
    "(tcp) failed",
];

const NO_NAME: &[&str] = &[
    "no such host",
    "nxdomain",
    "servfail",
    "could not resolve host",
    "server misbehaving",
    "temporary failure in name resolution",
    "name or service not known",
    "can't find",
];

static PROXY_EXCEPTIONS: Cause = Cause {
    reason: "ProxyExceptionsIgnored",
    owner: Owner::Image,
    summary: "A program of the bootstrap ignores the proxy's exceptions (noProxy): it reads only the lowercase no_proxy, and the scripts set \
        only the uppercase name.",
    actions: &[
        "Let the proxy pass the hosts that apt needs (packages.microsoft.com, the Ubuntu archives), or move to a node image with the fix.",
        "Check on the node: `env | grep -i proxy` and /etc/apt/apt.conf.d/95proxy.",
    ],
    ..BOOTSTRAP
};

static AUTHORIZED_RANGES: Cause = Cause {
    reason: "AuthorizedIpRangesBlockNodes",
    stage: Stage::Register,
    owner: Owner::Operator,
    summary: "The API server accepts only authorized IP ranges, and the address from which the nodes leave is most likely not among them.",
    actions: &[
        "Find the nodes' outbound address (firewall, NAT gateway or load balancer) and add it: \
            `az aks update --api-server-authorized-ip-ranges <ranges>,<address>/32`.",
        "Confirm on a node: `curl -k https://<api server>:443/healthz` must answer.",
    ],
};

static IMDS: Cause = Cause {
    reason: "ImdsUnreachable",
    stage: Stage::Boot,
    owner: Owner::Platform,
    summary: "The node got no usable answer from the instance metadata service (169.254.169.254).",
    actions: &[
        "Look for a host firewall, a route or a proxy that catches 169.254.169.254; it must be reached directly.",
        "Recreate the node once; if it repeats without such a rule, open a support case.",
    ],
};

static ORAS: Cause = Cause {
    reason: "OrasBinaryMissing",
    owner: Owner::Image,
    summary: "The node image has no usable oras binary. Neither the network nor the registry is at fault.",
    actions: &[ANOTHER_IMAGE, "Try one node of that version before rolling it out."],
    ..BOOTSTRAP
};

static API_NAME: Cause = Cause {
    reason: "ApiServerNameUnresolved",
    stage: Stage::Register,
    summary: "The API server's name does not resolve on the node.",
    actions: &[
        "From the node's subnet run `nslookup <api server>` against each DNS server of the virtual network.",
        "For a private cluster link the private DNS zone to the network that the DNS servers are in, and forward to 168.63.129.16.",
    ],
    ..BOOTSTRAP
};

static API_SERVER: Cause = Cause {
    reason: "ApiServerUnreachable",
    stage: Stage::Register,
    summary: "The node cannot connect to the API server, although its name is known.",
    actions: &[
        "From the node's subnet run `curl -vk https://<api server>:443/healthz`.",
        "Check authorized IP ranges, the firewall, and for a private cluster the private endpoint and the peering between its network \
            and the node's.",
    ],
    ..BOOTSTRAP
};

static EGRESS: Cause = Cause {
    reason: "EgressBlocked",
    summary: "The node cannot reach a host that it needs: connections fail or never answer. A firewall, a route or a missing outbound path \
        is in the way.",
    actions: &[
        "From the node's subnet try the host in the quoted line, for example `curl -v https://mcr.microsoft.com/v2/`.",
        "Allow the outbound names that AKS requires in the firewall, and check the route table, NAT gateway or load balancer of the subnet.",
    ],
    ..BOOTSTRAP
};

pub(super) static WORDINGS: &[Wording] = &[
    Wording {
        name: "proxy-exceptions",
        cause: &PROXY_EXCEPTIONS,
        phrases: &["no_proxy", "noproxy"],
        near: &[&[
            "uppercase",
            "upper-case",
            "lowercase",
            "lower-case",
            "ignores",
            "ignored",
            "is not honored",
            "not respected",
            "has no effect",
        ]],
        about: About::Nodes,
        codes: &[99, 9, 2, 124],
        confidence: Confidence::Medium,
        ..Wording::ANY
    },
    Wording {
        name: "authorized-ranges-miss-nodes",
        cause: &AUTHORIZED_RANGES,
        phrases: &[
            "authorized ip ranges",
            "authorized ip range",
            "authorized ranges",
            "authorizedipranges",
            "api-server-authorized-ip-ranges",
        ],
        near: &[&[
            "is not in the",
            "isn't in the",
            "are not in the",
            "not in the list",
            "is not among",
            "is not part of",
            "is missing",
            "after enabling",
            "after we enabled",
            "since we enabled",
            "since we set",
        ]],
        about: About::Nodes,
        codes: &[50, 51, 124],
        confidence: Confidence::Medium,
        ..Wording::ANY
    },
    Wording {
        name: "authorized-ranges-are-set",
        cause: &AUTHORIZED_RANGES,
        phrases: &[
            "--api-server-authorized-ip-ranges",
            "authorized_ip_ranges = [\"",
            "authorizedipranges\": [\"",
        ],
        also: &[
            &["api server", "apiserver", "azmk8s.io"],
            &["timeout", "timed out", "unable to establish", "cannot reach"],
        ],
        without: &["kubectl get nodes: unable to connect", "connectex"],
        about: About::Nodes,
        codes: &[50, 51, 124],
        confidence: Confidence::Low,
        ..Wording::ANY
    },
    Wording {
        name: "imds-in-a-log",
        cause: &IMDS,
        phrases: &[
            "169.254.169.254/metadata",
            "169.254.169.254:80",
            "host='169.254.169.254'",
            "to 169.254.169.254",
            "instance metadata service",
            "imds",
        ],
        near: &[&[
            "connection timed out",
            "i/o timeout",
            "connection refused",
            "no route to host",
            "context deadline exceeded",
            "network is unreachable",
            "failed to fetch",
            "failed to query",
            "failed to get",
            "url_helper.py[warning]",
            "read timed out",
            "timed out",
            "unreachable",
            "not reachable",
        ]],
        without: &["managedidentitycredential", "defaultazurecredential", "workloadidentity"],
        about: About::NodeLog,
        ..Wording::ANY
    },
    Wording {
        name: "oras-in-a-log",
        cause: &ORAS,
        phrases: &[
            "oras: command not found",
            "failed to run command 'oras'",
            "failed to run command \"oras\"",
            "oras: not found",
            "exec: \"oras\": executable file not found",
        ],
        ..Wording::ANY
    },
    Wording {
        name: "api-server-name-in-a-log",
        cause: &API_NAME,
        phrases: &["azmk8s.io"],
        near: &[NO_NAME],
        without: &["unable to connect to the server"],
        about: About::NodeLog,
        ..Wording::ANY
    },
    Wording {
        name: "api-server-in-a-log",
        cause: &API_SERVER,
        phrases: &["unable to register node with api server", "azmk8s.io"],
        near: &[NO_CONNECTION],
        without: &["unable to connect to the server"],
        about: About::NodeLog,
        ..Wording::ANY
    },
    Wording {
        name: "egress-in-a-log",
        cause: &EGRESS,
        phrases: HOSTS,
        near: &[NO_CONNECTION],
        about: About::NodeLog,
        confidence: Confidence::Medium,
        ..Wording::ANY
    },
];

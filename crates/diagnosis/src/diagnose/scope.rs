//! What a text is about, as far as it shows.
//!
//! A text about a node, its pool or its cluster need not name one: errors of Azure often do not. So a message of Azure or
//! of a node's programs is in scope unless it shows that it is about something else.

use std::ops::Range;

use crate::cause::TextSubject;
use crate::text::ScannedText;
use crate::text::phrases::{
    AZURE, ELSEWHERE, NODE_PARTS, NODES_MORE, OTHER_RESOURCES, OTHER_SERVICES, Phrases, WORKLOADS,
};

/// Bytes of a line that are read before and after its failure.
pub(crate) const MAX_LINE: usize = 1024;
/// A longer text shows what it is about.
const MAX_PRESUMED: usize = 16 << 10;

/// Namespaces of Azure whose resources a node, its pool or its cluster has, and names that are none.
const OWN_NAMESPACES: [&[u8]; 20] = [
    b"aad",
    b"aks",
    b"authorization",
    b"azure",
    b"com",
    b"compute",
    b"containerservice",
    b"cplat",
    b"enterprisecloud",
    b"features",
    b"guestconfiguration",
    b"managedidentity",
    b"management",
    b"network",
    b"operationalinsights",
    b"operationsmanagement",
    b"ostcextensions",
    b"powershell",
    b"redhatopenshift",
    b"resources",
];

/// Returns true for a text that names a node, its pool or its cluster, also in words that no rule uses.
pub(crate) fn names_nodes(text: &ScannedText) -> bool {
    let found = &text.phrases;
    TextSubject::Nodes.holds(found) || found.has_any(NODES_MORE) || found.has_any(NODE_PARTS)
}

/// Returns true for a text from which Azure speaks, and that names nothing else than a node may have.
pub(crate) fn is_presumed(text: &ScannedText) -> bool {
    text.bytes.len() <= MAX_PRESUMED && text.phrases.has_any(AZURE) && names_nothing_else(text)
}

/// Returns true unless a text names a pod, a volume, a client, or a resource that is no part of a cluster.
pub(crate) fn names_nothing_else(text: &ScannedText) -> bool {
    let others = [WORKLOADS, OTHER_SERVICES, OTHER_RESOURCES];
    !others.iter().any(|phrases| text.phrases.has_any(phrases))
        && !is_elsewhere(text)
        && !namespaces(&text.bytes).any(|name| !is_own(name))
}

/// Returns true for a message from another cloud, or of a compiler.
pub(crate) fn is_elsewhere(text: &ScannedText) -> bool {
    text.bytes.len() <= MAX_PRESUMED && text.phrases.has_any(ELSEWHERE)
}

/// Returns true for a part of a text about a pod, a volume, a client or a service other than AKS. A pod without a sandbox
/// or an address lacks what its node must have.
pub(crate) fn is_of_others(found: &Phrases, part: &Range<usize>) -> bool {
    let is_in = |phrases: &[usize]| {
        phrases.iter().any(|phrase| found.places(*phrase).any(|at| part.contains(&at)))
    };
    is_in(WORKLOADS) && !is_in(NODE_PARTS)
        || (is_in(OTHER_SERVICES) || is_in(OTHER_RESOURCES)) && !TextSubject::Cluster.holds(found)
}

/// Returns the names after `Microsoft.`, as in `Microsoft.Compute/virtualMachines`.
fn namespaces(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    memchr::memmem::find_iter(text, b"icrosoft.").map(|at| {
        let name = &text[at + b"icrosoft.".len()..];
        &name[..name.iter().take_while(|byte| byte.is_ascii_alphabetic()).count()]
    })
}

fn is_own(name: &[u8]) -> bool {
    name.is_empty() || OWN_NAMESPACES.iter().any(|own| own.eq_ignore_ascii_case(name))
}

/// Returns the line at this position, of a bounded length.
pub(crate) fn line_around(text: &[u8], at: usize) -> Range<usize> {
    let from = at.saturating_sub(MAX_LINE);
    let start = memchr::memrchr(b'\n', &text[from..at]).map_or(from, |end| from + end + 1);
    let after = &text[at..text.len().min(at + MAX_LINE)];
    start..at + memchr::memchr(b'\n', after).unwrap_or(after.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_of_azure_is_presumed_to_be_ours_unless_it_names_something_else() {
        for (text, expected) in [
            ("Subnet snet-1 of subscription s is full", true),
            ("Microsoft.Network/virtualNetworks/v/subnets/s", true),
            ("Microsoft.Network/virtualNetworks/v: see learn.microsoft.com", true),
            ("Microsoft.Media/accounts/a of subscription s", false),
            ("subscription s: the storage account is full", false),
            ("subscription s: the volume is in use for volume pvc-1", false),
            ("subscription s: arn:aws:iam::1", false),
            ("mail: the box is full", false),
        ] {
            assert_eq!(is_presumed(&ScannedText::new(text.as_bytes())), expected, "{text}");
        }
        let long = format!("subscription s{}", " ".repeat(MAX_PRESUMED));
        assert!(!is_presumed(&ScannedText::new(long.as_bytes())));
    }

    #[test]
    fn pod_without_a_sandbox_is_a_matter_of_its_node() {
        let of_others =
            |text: &str| is_of_others(&ScannedText::new(text.as_bytes()).phrases, &(0..text.len()));
        assert!(of_others("Failed to pull image web:1"));
        assert!(!of_others("Failed to create pod sandbox: failed to pull image pause:3.6"));
        assert!(of_others("the key vault is gone"));
        assert!(!of_others("the key vault of the node pool is gone"));
    }
}

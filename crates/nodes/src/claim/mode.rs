//! Provisioning modes of a node, and the extension that runs the bootstrap.

use mooring_codes::Os;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimMode {
    /// Karpenter creates the VM, then the extension.
    Vm,
    /// AKS creates both; the NodeClaim names an AKS machine.
    Machine,
    /// Custom data runs the bootstrap; no extension can be read.
    Scriptless,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Cse(Os),
    /// Billing, monitoring and others, whose failures are not bootstrap failures.
    Other,
}

/// Known names of the bootstrap extension. Used only where neither publisher nor type is shown.
const KNOWN_NAMES: &[(&str, Os)] = &[
    ("cse-agent-karpenter", Os::Linux),
    ("windows-cse-agent-karpenter", Os::Windows),
    ("vmsscse", Os::Linux),
];

pub fn is_known_name(name: &str) -> bool {
    KNOWN_NAMES.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
}

/// Returns the role of an extension. `kind` is the type alone or, in instance views, `publisher.type`; either
/// may be missing.
pub fn role(name: &str, publisher: &str, kind: &str) -> Role {
    let full = match (publisher.is_empty(), kind.is_empty()) {
        (false, false) => format!("{publisher}.{kind}"),
        (true, false) => kind.to_owned(),
        _ => String::new(),
    };
    let is = |wanted: &str| full.eq_ignore_ascii_case(wanted);
    if is("Microsoft.Azure.Extensions.CustomScript") {
        return Role::Cse(Os::Linux);
    }
    if is("Microsoft.Compute.CustomScriptExtension") {
        return Role::Cse(Os::Windows);
    }
    if !full.is_empty() {
        return Role::Other;
    }
    let known = KNOWN_NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    known.map_or(Role::Other, |(_, os)| Role::Cse(*os))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bootstrap_extension_is_found_by_publisher_and_type() {
        for (name, publisher, kind, expected) in [
            (
                "cse-agent-karpenter",
                "Microsoft.Azure.Extensions",
                "CustomScript",
                Role::Cse(Os::Linux),
            ),
            ("whatever", "microsoft.azure.extensions", "customscript", Role::Cse(Os::Linux)),
            ("x", "", "Microsoft.Azure.Extensions.CustomScript", Role::Cse(Os::Linux)),
            ("x", "Microsoft.Compute", "CustomScriptExtension", Role::Cse(Os::Windows)),
            ("x", "", "Microsoft.Compute.CustomScriptExtension", Role::Cse(Os::Windows)),
            ("vmssCSE", "", "", Role::Cse(Os::Linux)),
            ("computeAksLinuxBilling", "Microsoft.AKS", "Compute.AKS.Linux.Billing", Role::Other),
            ("AKSLinuxExtension", "Microsoft.AKS", "Compute.AKS.Linux.AKSNode", Role::Other),
            // A name alone never identifies the bootstrap extension of another publisher.
            ("vmssCSE", "Example.Publisher", "CustomScript", Role::Other),
            ("customscript", "", "", Role::Other),
            ("", "", "", Role::Other),
        ] {
            assert_eq!(role(name, publisher, kind), expected, "{name} {publisher} {kind}");
        }
    }
}

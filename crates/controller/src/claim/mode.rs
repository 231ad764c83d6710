//! How a node is set up, and which of its extensions does it.

use mooring_codes::Os;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Karpenter creates the VM and then the extension.
    Vm,
    /// AKS creates both; the claim names an AKS machine.
    Machine,
    /// The VM's custom data does it; there is no extension to read.
    Scriptless,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It runs the bootstrap scripts.
    Cse(Os),
    /// Billing, monitoring, whatever else: its failures are not the bootstrap's.
    Other,
}

/// Names that the bootstrap's extension is known to have. Only a hint: it counts where neither the
/// publisher nor the type is shown.
const KNOWN_NAMES: &[(&str, Os)] = &[
    ("cse-agent-karpenter", Os::Linux),
    ("windows-cse-agent-karpenter", Os::Windows),
    ("vmsscse", Os::Linux),
];

/// Returns true if the bootstrap's extension is known by this name.
pub fn is_known_name(name: &str) -> bool {
    KNOWN_NAMES.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
}

/// What an extension is, by publisher and type. `kind` is the type alone, or, in instance views, the
/// publisher and the type with a dot between; either may be missing.
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
    fn the_bootstrap_is_found_by_publisher_and_type_whatever_its_name() {
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
            // A name alone never makes another publisher's extension the bootstrap.
            ("vmssCSE", "Example.Publisher", "CustomScript", Role::Other),
            ("customscript", "", "", Role::Other),
            ("", "", "", Role::Other),
        ] {
            assert_eq!(role(name, publisher, kind), expected, "{name} {publisher} {kind}");
        }
    }
}

//! Linux: codes that Mooring's agent writes itself.

use crate::catalogue::{Category, ExitCode, Os, Owner, Reach, Since, Status, Transient};

/// What the rows of this table have in common.
const ROW: ExitCode = ExitCode {
    os: Os::Linux,
    status: Status::Agent,
    reach: Reach::Node,
    category: Category::Image,
    owner: Owner::Image,
    transient: Transient::No,
    introduced: Since::Unrecorded,
    ..ExitCode::EMPTY
};

/// Sorted by number.
pub(in crate::catalogue) static AGENT: [ExitCode; 1] = [ExitCode {
    number: 232,
    name: "ERR_ORAS_BINARY_NOT_FOUND",
    meaning: "The node image lacks the oras binary, so a network-isolated node cannot fetch \
            anything from its bootstrap registry. Written by Mooring's agent, whose report starts \
            its Error with this name. The image's own scripts have no such check: without the \
            agent the same fault ends as 211 and looks like a network failure.",
    cause: "The node image was published without oras (known case: AzureLinux V3 202601.27.0). \
            Neither the network nor the registry is at fault.",
    action: "Give new nodes another image: `az aks nodepool rollback` in an AKS node pool; with \
            Karpenter another imageFamily, or spec.versions where the AKSNodeClass has it. Verify \
            with the agent's preflight on one node before rolling it out.",
    origin: "aks-node-controller (Mooring's agent), preflight",
    ..ROW
}];

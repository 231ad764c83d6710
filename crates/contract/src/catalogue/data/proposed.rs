//! Linux: names that stand only in open pull requests.

use crate::catalogue::{Category, ExitCode, Os, Owner, Reach, Since, Status, Transient};

/// What the rows of this table have in common.
const ROW: ExitCode = ExitCode {
    os: Os::Linux,
    status: Status::Proposed,
    reach: Reach::None,
    category: Category::Gpu,
    owner: Owner::Image,
    transient: Transient::No,
    introduced: Since::Unrecorded,
    cause: "Only an open pull request uses the name; no released image carries it.",
    action: "Do not read the number this way on a released image; check where it was read from.",
    ..ExitCode::EMPTY
};

/// Sorted by number.
pub(in crate::catalogue) static LINUX_PROPOSED: [ExitCode; 5] = [
    ExitCode {
        number: 244,
        name: "ERR_AMD_ROCM_UNSUPPORTED_OS",
        owner: Owner::Operator,
        meaning: "Would mean: AMD ROCm asked for on an unsupported OS.",
        origin: "PR #8824 (head 2026-07-23)",
        ..ROW
    },
    ExitCode {
        number: 245,
        name: "ERR_AMD_ROCM_GPG_KEY_DOWNLOAD_TIMEOUT",
        category: Category::Outbound,
        owner: Owner::Network,
        meaning: "Would mean: ROCm repository key could not be fetched.",
        origin: "PR #8824",
        ..ROW
    },
    ExitCode {
        number: 246,
        name: "ERR_AMD_ROCM_INSTALL_TIMEOUT",
        meaning: "Would mean: ROCm packages could not be installed.",
        origin: "PR #8824",
        ..ROW
    },
    ExitCode {
        number: 247,
        name: "ERR_AMD_ROCM_VALIDATE_FAIL",
        meaning: "Would mean: ROCm check failed after install.",
        origin: "PR #8824",
        ..ROW
    },
    ExitCode {
        number: 248,
        name: "ERR_AMD_ROCM_REPO_CONFIG_INVALID",
        category: Category::Config,
        owner: Owner::Operator,
        meaning: "Would mean: ROCm repository settings are invalid.",
        origin: "PR #8824",
        ..ROW
    },
];

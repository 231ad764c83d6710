//! Linux: constants of the image build's own scripts, which reuse node numbers.

use crate::catalogue::{Category, ExitCode, Os, Owner, Reach, Since, Status, Transient};

/// What the rows of this table have in common.
const ROW: ExitCode = ExitCode {
    os: Os::Linux,
    status: Status::ImageBuildOnly,
    reach: Reach::ImageBuild,
    category: Category::Image,
    owner: Owner::Image,
    transient: Transient::Maybe,
    introduced: Since::Unrecorded,
    cause: "A fault in the image pipeline.",
    action: "Not expected on a node. If the number has another meaning, that one is meant; \
        otherwise check where the number was read from.",
    origin: "vhdbuilder/scripts/linux/ubuntu/tool_installs_ubuntu.sh",
    ..ExitCode::EMPTY
};

/// Sorted by number.
pub(in crate::catalogue) static IMAGE_BUILD: [ExitCode; 24] = [
    ExitCode {
        number: 10,
        name: "ERR_NTP_INSTALL_TIMEOUT",
        meaning: "ntp could not be installed in time while the image was built.",
        ..ROW
    },
    ExitCode {
        number: 11,
        name: "ERR_NTP_START_TIMEOUT",
        meaning: "ntp did not start in time while the image was built.",
        ..ROW
    },
    ExitCode {
        number: 12,
        name: "ERR_STOP_OR_DISABLE_SYSTEMD_TIMESYNCD_TIMEOUT",
        meaning: "systemd-timesyncd could not be stopped or disabled in time while the image was \
            built.",
        ..ROW
    },
    ExitCode {
        number: 13,
        name: "ERR_STOP_OR_DISABLE_NTP_TIMEOUT",
        meaning: "ntp could not be stopped or disabled in time while the image was built.",
        ..ROW
    },
    ExitCode {
        number: 14,
        name: "ERR_CHRONY_INSTALL_TIMEOUT",
        meaning: "chrony could not be installed in time while the image was built.",
        ..ROW
    },
    ExitCode {
        number: 15,
        name: "ERR_CHRONY_START_TIMEOUT",
        meaning: "chrony did not start in time while the image was built.",
        ..ROW
    },
    ExitCode {
        number: 168,
        name: "ERR_IOVISOR_KEY_DOWNLOAD_TIMEOUT",
        meaning: "The IO Visor repository's key could not be downloaded in time while the image \
            was built.",
        origin: "vhdbuilder/scripts/linux/tool_installs.sh",
        ..ROW
    },
    ExitCode {
        number: 169,
        name: "ERR_IOVISOR_APT_KEY_TIMEOUT",
        meaning: "The IO Visor repository's key could not be added to apt in time while the image \
            was built.",
        origin: "vhdbuilder/scripts/linux/tool_installs.sh",
        ..ROW
    },
    ExitCode {
        number: 170,
        name: "ERR_BCC_INSTALL_TIMEOUT",
        meaning: "The bcc tools could not be installed in time while the image was built.",
        origin: "vhdbuilder/scripts/linux/tool_installs.sh",
        ..ROW
    },
    ExitCode {
        number: 171,
        name: "ERR_BPFTRACE_BIN_DOWNLOAD_FAIL",
        meaning: "The bpftrace binary could not be downloaded while the image was built.",
        origin: "vhdbuilder/scripts/linux/tool_installs.sh",
        ..ROW
    },
    ExitCode {
        number: 172,
        name: "ERR_BPFTRACE_TOOLS_DOWNLOAD_FAIL",
        meaning: "The bpftrace tools could not be downloaded while the image was built.",
        origin: "vhdbuilder/scripts/linux/tool_installs.sh",
        ..ROW
    },
    ExitCode {
        number: 173,
        name: "ERR_BPFTRACE_TOOLS_INSTALL_TIMEOUT",
        meaning: "The bpftrace tools could not be installed in time while the image was built.",
        origin: "vhdbuilder/scripts/linux/tool_installs.sh",
        ..ROW
    },
    ExitCode {
        number: 174,
        name: "ERR_AZCOPY_TOOLS_DOWNLOAD_FAIL",
        meaning: "azcopy could not be downloaded while the image was built.",
        origin: "vhdbuilder/scripts/linux/tool_installs.sh",
        ..ROW
    },
    ExitCode {
        number: 180,
        name: "ERR_UA_TOOLS_INSTALL_TIMEOUT",
        meaning: "The Ubuntu Advantage tools could not be installed in time while the image was \
            built.",
        ..ROW
    },
    ExitCode {
        number: 181,
        name: "ERR_ADD_UA_APT_REPO",
        meaning: "The Ubuntu Advantage apt repository could not be added while the image was \
            built.",
        ..ROW
    },
    ExitCode {
        number: 182,
        name: "ERR_UA_ATTACH",
        meaning: "The image could not be attached to Ubuntu Advantage while the image was built.",
        ..ROW
    },
    ExitCode {
        number: 183,
        name: "ERR_UA_DISABLE_LIVEPATCH",
        meaning: "Livepatch could not be turned off through Ubuntu Advantage while the image was \
            built.",
        ..ROW
    },
    ExitCode {
        number: 184,
        name: "ERR_UA_ENABLE_FIPS",
        meaning: "FIPS could not be turned on through Ubuntu Advantage while the image was built.",
        ..ROW
    },
    ExitCode {
        number: 185,
        name: "ERR_UA_DETACH",
        meaning: "The image could not be detached from Ubuntu Advantage while the image was built.",
        ..ROW
    },
    ExitCode {
        number: 186,
        name: "ERR_LINUX_HEADER_INSTALL_TIMEOUT",
        meaning: "The kernel headers could not be installed in time while the image was built.",
        ..ROW
    },
    ExitCode {
        number: 187,
        name: "ERR_STRONGSWAN_INSTALL_TIMEOUT",
        meaning: "strongSwan could not be installed in time while the image was built.",
        ..ROW
    },
    ExitCode {
        number: 188,
        name: "ERR_UA_ESM_HOOK_CLEANUP",
        meaning: "The Ubuntu Advantage ESM hook could not be cleaned up while the image was built.",
        ..ROW
    },
    ExitCode {
        number: 189,
        name: "ERR_UA_MASK_UNIT",
        meaning: "A Ubuntu Advantage unit could not be masked while the image was built.",
        ..ROW
    },
    ExitCode {
        number: 190,
        name: "ERR_UA_TOKEN_CLEANUP",
        meaning: "The Ubuntu Advantage token could not be cleaned up while the image was built.",
        ..ROW
    },
];

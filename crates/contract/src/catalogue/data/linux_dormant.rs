//! Linux: constants of today's scripts that do not end a node's bootstrap.
//!
//! They have no call site, belong to the image build, or their exit is lost on the way.

use crate::catalogue::date::date;
use crate::catalogue::{Category, ExitCode, Os, Owner, Reach, Since, Status, Transient};

/// What the rows of this table have in common.
const ROW: ExitCode = ExitCode {
    os: Os::Linux,
    status: Status::Current,
    reach: Reach::None,
    category: Category::Unknown,
    owner: Owner::Image,
    transient: Transient::Maybe,
    introduced: Since::By(date(2020, 2, 7)),
    cause: "An old node image or script set: none of the bootstrap scripts of August 2026 exits \
        with this number.",
    action: "Not expected on a node. Make sure the number was read from the AKS extension's own \
        report; if it was, use another image version and report the image.",
    ..ExitCode::EMPTY
};

/// Sorted by number.
pub(in crate::catalogue) static LINUX_DORMANT: [ExitCode; 65] = [
    ExitCode {
        number: 2,
        name: "ERR_SYSTEMCTL_MASK_FAIL",
        reach: Reach::ImageBuild,
        category: Category::Image,
        transient: Transient::No,
        meaning: "A systemd unit (nftables or nfs-server) could not be masked while the image was \
            hardened or its dependencies were installed. Only the image build exits with it.",
        cause: "systemd refused to mask the unit while the image was built. On a node, 2 is almost \
            always the raw code: the bootstrap's time budget was nearly spent.",
        action: "On a node, read 2 as the raw code first: look at ExecDuration in the report. Near \
            780 seconds the budget was spent; near 0 it is a shell or cloud-init error.",
        origin: "cis.sh; mariner installDeps",
        introduced: Since::On(date(2023, 5, 23)),
        ..ROW
    },
    ExitCode {
        number: 3,
        name: "ERR_SYSTEMCTL_ENABLE_FAIL",
        meaning: "A systemd unit could not be enabled. The constant is retired: it stands only as \
            a comment in the scripts.",
        cause: "A very old node (acs-engine or aks-engine style); AKS images of today cannot \
            report it.",
        action: "Check the age of the node image and move the pool to a current one.",
        origin: "commented out in cse_helpers.sh",
        introduced: Since::On(date(2023, 1, 24)),
        ..ROW
    },
    ExitCode {
        number: 5,
        name: "ERR_CLOUD_INIT_TIMEOUT",
        category: Category::Timeout,
        meaning: "cloud-init did not finish in time. No current bootstrap script exits with it.",
        action: "Compare the node image version with the newest one and move the pool to a current \
            image. Until then, read /var/log/cloud-init.log on the node.",
        origin: "No call site in the current scripts",
        ..ROW
    },
    ExitCode {
        number: 8,
        name: "ERR_RELEASE_HOLD_WALINUXAGENT",
        reach: Reach::Background,
        category: Category::Package,
        transient: Transient::Yes,
        meaning: "Ubuntu: the hold on the guest agent's package could not be released at the end \
            of provisioning. It runs in the background, so it never becomes the bootstrap's exit \
            code.",
        cause: "Another process held the dpkg lock.",
        action: "Nothing to do for the node. If a report shows 8 as its exit code, check where the \
            number was read from.",
        origin: "holdWALinuxAgent unhold &",
        ..ROW
    },
    ExitCode {
        number: 20,
        name: "ERR_DOCKER_INSTALL_TIMEOUT",
        category: Category::Package,
        meaning: "Docker could not be installed in time. No current bootstrap script exits with \
            it.",
        action: "Compare the node image version with the newest one and move the pool to a current \
            image. Until then, read the apt lines in Output.",
        origin: "No call site in the current scripts",
        ..ROW
    },
    ExitCode {
        number: 21,
        name: "ERR_DOCKER_DOWNLOAD_TIMEOUT",
        category: Category::Outbound,
        owner: Owner::Network,
        meaning: "Docker could not be downloaded in time. No current bootstrap script exits with \
            it.",
        action: "Compare the node image version with the newest one and move the pool to a current \
            image. Until then, test egress to the package hosts from the node's subnet.",
        origin: "No call site in the current scripts",
        ..ROW
    },
    ExitCode {
        number: 22,
        name: "ERR_DOCKER_KEY_DOWNLOAD_TIMEOUT",
        category: Category::Outbound,
        owner: Owner::Network,
        meaning: "The docker repository's key could not be downloaded in time. No current \
            bootstrap script exits with it.",
        action: "Compare the node image version with the newest one and move the pool to a current \
            image. Until then, test egress to the package hosts from the node's subnet.",
        origin: "No call site in the current scripts",
        ..ROW
    },
    ExitCode {
        number: 23,
        name: "ERR_DOCKER_APT_KEY_TIMEOUT",
        category: Category::Package,
        meaning: "The docker repository's key could not be added to apt in time. No current \
            bootstrap script exits with it.",
        action: "Compare the node image version with the newest one and move the pool to a current \
            image. Until then, read the apt lines in Output.",
        origin: "No call site in the current scripts",
        ..ROW
    },
    ExitCode {
        number: 24,
        name: "ERR_DOCKER_START_FAIL",
        category: Category::Containerd,
        meaning: "The docker daemon did not start. No current bootstrap script exits with it.",
        action: "Compare the node image version with the newest one and move the pool to a current \
            image. Until then, read the docker unit's journal on the node.",
        origin: "No call site in the current scripts",
        ..ROW
    },
    ExitCode {
        number: 27,
        name: "ERR_MOBY_INSTALL_TIMEOUT",
        category: Category::Package,
        meaning: "The Moby engine could not be installed in time. No current bootstrap script \
            exits with it.",
        action: "Compare the node image version with the newest one and move the pool to a current \
            image. Until then, read the apt lines in Output.",
        origin: "No call site in the current scripts",
        ..ROW
    },
    ExitCode {
        number: 29,
        name: "ERR_RUNC_INSTALL_TIMEOUT",
        reach: Reach::ImageBuild,
        category: Category::Containerd,
        meaning: "The runc package could not be installed. Only the image build exits with it.",
        cause: "A package repository problem during the image build.",
        origin: "ensureRunc (install-dependencies.sh)",
        introduced: Since::On(date(2021, 3, 30)),
        ..ROW
    },
    ExitCode {
        number: 30,
        name: "ERR_K8S_RUNNING_TIMEOUT",
        category: Category::Kubelet,
        owner: Owner::Operator,
        meaning: "The Kubernetes control plane did not become healthy on a self-hosted master. The \
            function that exits with it is never called on an AKS node.",
        cause: "The machine belongs to an aks-engine cluster, not to AKS.",
        action: "Make sure which cluster the machine belongs to; if it is aks-engine, check its \
            master.",
        origin: "ensureK8sControlPlane (never called)",
        ..ROW
    },
    ExitCode {
        number: 32,
        name: "ERR_KUBECTL_NOT_FOUND",
        category: Category::Image,
        transient: Transient::No,
        meaning: "kubectl is missing on disk. No current bootstrap script exits with it.",
        action: "Compare the node image version with the newest one and move the pool to a current \
            image. Until then, check that the node was made from an AKS image.",
        origin: "No call site in the current scripts",
        ..ROW
    },
    ExitCode {
        number: 33,
        name: "ERR_IMG_DOWNLOAD_TIMEOUT",
        category: Category::Outbound,
        owner: Owner::Network,
        meaning: "The img tool could not be downloaded in time. No current bootstrap script exits \
            with it.",
        action: "Compare the node image version with the newest one and move the pool to a current \
            image. Until then, test egress from the node's subnet.",
        origin: "No call site in the current scripts",
        ..ROW
    },
    ExitCode {
        number: 35,
        name: "ERR_DOCKER_IMG_PULL_TIMEOUT",
        category: Category::Registry,
        owner: Owner::Network,
        meaning: "A docker image could not be pulled in time (aks-engine nodes used 35 for any \
            image pull). No current bootstrap script exits with it.",
        action: "Compare the node image version with the newest one and move the pool to a current \
            image. Until then, test egress to the registry from the node's subnet.",
        origin: "No call site in the current scripts",
        introduced: Since::On(date(2020, 10, 27)),
        ..ROW
    },
    ExitCode {
        number: 36,
        name: "ERR_CONTAINERD_CTR_IMG_PULL_TIMEOUT",
        reach: Reach::ImageBuild,
        category: Category::Registry,
        meaning: "An image could not be pulled in time through ctr. Only the image build exits \
            with it.",
        cause: "A slow or unreachable registry during the image build.",
        origin: "pullContainerImage",
        introduced: Since::On(date(2020, 10, 27)),
        ..ROW
    },
    ExitCode {
        number: 37,
        name: "ERR_CONTAINERD_CRICTL_IMG_PULL_TIMEOUT",
        reach: Reach::ImageBuild,
        category: Category::Registry,
        meaning: "An image could not be pulled in time through crictl. Only the image build exits \
            with it.",
        cause: "A slow or unreachable registry during the image build.",
        origin: "pullContainerImage",
        introduced: Since::On(date(2020, 10, 27)),
        ..ROW
    },
    ExitCode {
        number: 38,
        name: "ERR_CONTAINERD_INSTALL_FILE_NOT_FOUND",
        category: Category::Containerd,
        transient: Transient::No,
        meaning: "The containerd package file is missing on disk. No current bootstrap script \
            exits with it.",
        action: "Compare the node image version with the newest one and move the pool to a current \
            image. Until then, check that the node was made from an AKS image.",
        origin: "No call site in the current scripts",
        introduced: Since::On(date(2021, 4, 30)),
        ..ROW
    },
    ExitCode {
        number: 44,
        name: "ERR_FLEXVOLUME_DOWNLOAD_TIMEOUT",
        category: Category::Outbound,
        owner: Owner::Network,
        meaning: "The flexvolume driver could not be downloaded. The constant is retired: it \
            stands only as a comment in the scripts.",
        cause: "A very old node; AKS images of today cannot report it.",
        action: "Check the age of the node image and move the pool to a current one.",
        origin: "commented out in cse_helpers.sh",
        introduced: Since::On(date(2023, 1, 24)),
        ..ROW
    },
    ExitCode {
        number: 45,
        name: "ERR_ORAS_DOWNLOAD_ERROR",
        reach: Reach::ImageBuild,
        category: Category::Registry,
        meaning: "The oras tool could not be downloaded while the image was built. A node that \
            lacks oras does not report 45.",
        cause: "A network problem during the image build. It is raised while an image is built, \
            never while a node boots.",
        action: "Not expected on a node. An image without oras shows on its nodes as 232 (with \
            Mooring's agent) or as 211 (without it).",
        origin: "installOras (install-dependencies.sh)",
        introduced: Since::On(date(2024, 8, 7)),
        ..ROW
    },
    ExitCode {
        number: 48,
        name: "ERR_SYSTEMD_INSTALL_FAIL",
        category: Category::Package,
        meaning: "The required systemd version could not be installed. No current bootstrap script \
            exits with it.",
        action: "Compare the node image version with the newest one and move the pool to a current \
            image. Until then, read the package manager's lines in Output.",
        origin: "No call site in the current scripts",
        ..ROW
    },
    ExitCode {
        number: 60,
        name: "ERR_KATA_KEY_DOWNLOAD_TIMEOUT",
        category: Category::Outbound,
        owner: Owner::Network,
        meaning: "The Kata repository's key could not be downloaded in time. No current bootstrap \
            script exits with it.",
        action: "Compare the node image version with the newest one and move the pool to a current \
            image. Until then, test egress from the node's subnet.",
        origin: "No call site in the current scripts",
        ..ROW
    },
    ExitCode {
        number: 61,
        name: "ERR_KATA_APT_KEY_TIMEOUT",
        category: Category::Package,
        meaning: "The Kata repository's key could not be added to apt in time. No current \
            bootstrap script exits with it.",
        action: "Compare the node image version with the newest one and move the pool to a current \
            image. Until then, read the apt lines in Output.",
        origin: "No call site in the current scripts",
        ..ROW
    },
    ExitCode {
        number: 62,
        name: "ERR_KATA_INSTALL_TIMEOUT",
        category: Category::Package,
        meaning: "Kata could not be installed in time. No current bootstrap script exits with it.",
        action: "Compare the node image version with the newest one and move the pool to a current \
            image. Until then, read the apt lines in Output.",
        origin: "No call site in the current scripts",
        ..ROW
    },
    ExitCode {
        number: 65,
        name: "ERR_VHD_FILE_NOT_FOUND",
        reach: Reach::Masked,
        category: Category::Image,
        transient: Transient::No,
        meaning: "The pool claims to use an AKS image, but the marker that the image build leaves, \
            /opt/azure/vhd-install.complete, is absent.",
        cause: "The node was made from a damaged image or one that is not an AKS image. In the \
            current scripts the exit is lost inside a pipeline, so such a node carries on and \
            fails later with another code.",
        action: "Check the image reference of the node's VM and redeploy with a stock AKS image.",
        origin: "getInstallModeAndCleanupContainerImages",
        introduced: Since::On(date(2023, 6, 1)),
        aks_names: &["VMExtensionError_VHDFileNotFound"],
        doc_url: Some(learn!("vmextensionerror-vhdfilenotfound")),
        ..ROW
    },
    ExitCode {
        number: 71,
        name: "ERR_RUNC_DOWNLOAD_TIMEOUT",
        reach: Reach::ImageBuild,
        category: Category::Outbound,
        meaning: "The runc package could not be downloaded from its override URL. Only the image \
            build exits with it.",
        cause: "A wrong URL or a network problem during the image build.",
        origin: "ensureRunc",
        introduced: Since::On(date(2022, 1, 27)),
        ..ROW
    },
    ExitCode {
        number: 83,
        name: "ERR_GPU_DOWNLOAD_TIMEOUT",
        category: Category::Gpu,
        owner: Owner::Network,
        meaning: "The GPU driver could not be downloaded in time. No current bootstrap script \
            exits with it.",
        action: "Compare the node image version with the newest one and move the pool to a current \
            image. Until then, test egress to the driver's host from the node's subnet.",
        origin: "No call site in the current scripts",
        introduced: Since::On(date(2022, 6, 14)),
        ..ROW
    },
    ExitCode {
        number: 90,
        name: "ERR_SGX_DRIVERS_INSTALL_TIMEOUT",
        category: Category::Package,
        meaning: "The SGX driver's prerequisites could not be installed in time. No current \
            bootstrap script exits with it.",
        action: "Compare the node image version with the newest one and move the pool to a current \
            image. Until then, read the package manager's lines in Output.",
        origin: "No call site in the current scripts",
        ..ROW
    },
    ExitCode {
        number: 91,
        name: "ERR_SGX_DRIVERS_START_FAIL",
        category: Category::Config,
        meaning: "The SGX driver could not be run. No current bootstrap script exits with it.",
        action: "Compare the node image version with the newest one and move the pool to a current \
            image. Until then, read the end of Output.",
        origin: "No call site in the current scripts",
        ..ROW
    },
    ExitCode {
        number: 98,
        name: "ERR_APT_DAILY_TIMEOUT",
        category: Category::Package,
        transient: Transient::Yes,
        meaning: "apt's daily timers did not finish in time. No current bootstrap script exits \
            with it.",
        action: "Compare the node image version with the newest one and move the pool to a current \
            image. Until then, recreate the node.",
        origin: "No call site in the current scripts",
        ..ROW
    },
    ExitCode {
        number: 100,
        name: "ERR_CSE_PROVISION_SCRIPT_NOT_READY_TIMEOUT",
        category: Category::Timeout,
        meaning: "The provision script was not on disk in time; 6 has replaced it. No current \
            bootstrap script exits with it.",
        cause: "An old node image or script set, or not an AKS extension at all: a plain custom \
            script that runs apt-get ends with apt's own 100.",
        action: "Check the extension's name and publisher; if it is the AKS one, move the pool to \
            a current node image.",
        origin: "No call site in the current scripts",
        ..ROW
    },
    ExitCode {
        number: 101,
        name: "ERR_APT_DIST_UPGRADE_TIMEOUT",
        reach: Reach::ImageBuild,
        category: Category::Package,
        meaning: "The distribution upgrade failed. Only the image build exits with it.",
        cause: "A mirror problem during the image build.",
        origin: "dnf_update / apt dist-upgrade in image build",
        ..ROW
    },
    ExitCode {
        number: 102,
        name: "ERR_APT_PURGE_FAIL",
        category: Category::Package,
        meaning: "A package could not be purged (aks-engine used it). No current bootstrap script \
            exits with it.",
        action: "Compare the node image version with the newest one and move the pool to a current \
            image. Until then, read the apt lines in Output.",
        origin: "No call site in the current scripts",
        ..ROW
    },
    ExitCode {
        number: 111,
        name: "ERR_CIS_ASSIGN_ROOT_PW",
        reach: Reach::ImageBuild,
        category: Category::Image,
        transient: Transient::No,
        meaning: "The root password could not be set during CIS hardening. Only the image build \
            exits with it.",
        cause: "A fault in the image build.",
        origin: "cis.sh",
        ..ROW
    },
    ExitCode {
        number: 112,
        name: "ERR_CIS_ASSIGN_FILE_PERMISSION",
        reach: Reach::ImageBuild,
        category: Category::Image,
        transient: Transient::No,
        meaning: "A file's mode could not be set during CIS hardening. Only the image build exits \
            with it.",
        cause: "A fault in the image build.",
        origin: "cis.sh",
        ..ROW
    },
    ExitCode {
        number: 113,
        name: "ERR_PACKER_COPY_FILE",
        reach: Reach::ImageBuild,
        category: Category::Image,
        transient: Transient::No,
        meaning: "A file could not be copied into the image. Only the image build exits with it.",
        cause: "A fault in the image build.",
        origin: "packer_source.sh",
        ..ROW
    },
    ExitCode {
        number: 115,
        name: "ERR_CIS_APPLY_PASSWORD_CONFIG",
        reach: Reach::ImageBuild,
        category: Category::Image,
        transient: Transient::No,
        meaning: "The CIS password policy could not be applied. Only the image build exits with \
            it.",
        cause: "A fault in the image build.",
        origin: "cis.sh",
        ..ROW
    },
    ExitCode {
        number: 116,
        name: "ERR_SYSTEMD_DOCKER_STOP_FAIL",
        category: Category::Containerd,
        meaning: "The docker daemon could not be stopped. No current bootstrap script exits with \
            it.",
        action: "Compare the node image version with the newest one and move the pool to a current \
            image. Until then, read the docker unit's journal on the node.",
        origin: "No call site in the current scripts",
        introduced: Since::On(date(2020, 6, 16)),
        ..ROW
    },
    ExitCode {
        number: 117,
        name: "ERR_CRICTL_DOWNLOAD_TIMEOUT",
        reach: Reach::ImageBuild,
        category: Category::Outbound,
        meaning: "crictl could not be downloaded. Only the image build exits with it.",
        cause: "A network problem during the image build.",
        origin: "downloadCrictl",
        introduced: Since::On(date(2020, 10, 28)),
        ..ROW
    },
    ExitCode {
        number: 118,
        name: "ERR_CRICTL_OPERATION_ERROR",
        category: Category::Containerd,
        meaning: "A crictl operation failed. No current bootstrap script exits with it.",
        action: "Compare the node image version with the newest one and move the pool to a current \
            image. Until then, check that containerd answers on the node.",
        origin: "No call site in the current scripts",
        introduced: Since::On(date(2020, 10, 28)),
        ..ROW
    },
    ExitCode {
        number: 120,
        name: "ERR_INVALID_CLI_TOOL",
        category: Category::Config,
        transient: Transient::No,
        meaning: "An unknown command line tool was named for pulling images. No current bootstrap \
            script exits with it.",
        action: "Compare the node image version with the newest one and move the pool to a current \
            image. Until then, note that before 2025-06-12 the number meant an Azure Stack token \
            failure.",
        origin: "No call site in the current scripts",
        introduced: Since::On(date(2025, 6, 12)),
        ..ROW
    },
    ExitCode {
        number: 125,
        name: "ERR_VHD_BUILD_ERROR",
        reach: Reach::ImageBuild,
        category: Category::Image,
        meaning: "Reserved for failures of the image build; nothing exits with it by this name.",
        cause: "On a node, 125 more likely means that nohup or timeout could not run its command.",
        action: "Read 125 as the raw code: recreate the node with another image version.",
        origin: "reserved, no call site",
        ..ROW
    },
    ExitCode {
        number: 128,
        name: "ERR_NODE_EXPORTER_START_FAIL",
        reach: Reach::Ignored,
        category: Category::Config,
        meaning: "node-exporter would not start. The caller does not check, so it costs time (up \
            to minutes) but does not fail the node.",
        cause: "A defect of the service on the image.",
        action: "Look for a very long configureNodeExporter event; if another code ended the \
            bootstrap, follow that one.",
        origin: "configureNodeExporter",
        introduced: Since::On(date(2026, 3, 6)),
        ..ROW
    },
    ExitCode {
        number: 152,
        name: "ERR_ARTIFACT_STREAMING_DOWNLOAD",
        reach: Reach::ImageBuild,
        category: Category::Image,
        meaning: "The artifact streaming packages could not be downloaded. Only the image build \
            exits with it.",
        cause: "A network or repository problem during the image build.",
        origin: "install-dependencies.sh",
        introduced: Since::On(date(2023, 10, 3)),
        ..ROW
    },
    ExitCode {
        number: 154,
        name: "ERR_ARTIFACT_STREAMING_ACR_NODEMON_START_FAIL",
        category: Category::Containerd,
        meaning: "The acr-nodemon service of artifact streaming did not start. No current \
            bootstrap script exits with it.",
        action: "Compare the node image version with the newest one and move the pool to a current \
            image. Until then, turn artifact streaming off on the pool.",
        origin: "No call site in the current scripts",
        introduced: Since::On(date(2025, 8, 6)),
        ..ROW
    },
    ExitCode {
        number: 160,
        name: "ERR_HTTP_PROXY_CA_CONVERT",
        category: Category::Config,
        owner: Owner::Operator,
        transient: Transient::No,
        meaning: "The HTTP proxy's CA certificate could not be converted. No current bootstrap \
            script exits with it; 161 reports such failures today.",
        cause: "An older node image, and a trustedCa that is not valid PEM.",
        action: "Check httpProxyConfig.trustedCa with `openssl x509`, and move the pool to a \
            current image.",
        origin: "No call site in the current scripts",
        introduced: Since::On(date(2021, 4, 12)),
        ..ROW
    },
    ExitCode {
        number: 170,
        name: "ERR_DISBALE_IPTABLES",
        reach: Reach::ImageBuild,
        category: Category::Image,
        transient: Transient::No,
        meaning: "The iptables service could not be disabled or masked (the constant is misspelt \
            in the scripts). Only the image build exits with it.",
        cause: "A fault in the image build.",
        origin: "tool_installs.sh",
        introduced: Since::On(date(2021, 4, 22)),
        ..ROW
    },
    ExitCode {
        number: 173,
        name: "ERR_PRIMARY_NIC_IP_NOT_FOUND",
        category: Category::Imds,
        owner: Owner::Platform,
        meaning: "The primary NIC's address is missing in IMDS. No current bootstrap script exits \
            with it: the check now runs before kubelet starts and shows as a kubelet start \
            problem.",
        cause: "An older script set on a node for which IMDS gave incomplete network data.",
        action: "Recreate the node and move the pool to a current image; on current images follow \
            34.",
        origin: "No call site in the current scripts",
        introduced: Since::On(date(2024, 5, 6)),
        ..ROW
    },
    ExitCode {
        number: 174,
        name: "ERR_INSERT_IMDS_RESTRICTION_RULE_INTO_MANGLE_TABLE",
        category: Category::Imds,
        owner: Owner::Platform,
        meaning: "The rule that restricts access to IMDS could not be added to the mangle table. \
            No current bootstrap script exits with it; the rule is now set before kubelet starts.",
        action: "Recreate the node and move the pool to a current image; on current images read \
            kubelet's journal, and follow 34.",
        origin: "No call site in the current scripts",
        introduced: Since::On(date(2024, 5, 6)),
        ..ROW
    },
    ExitCode {
        number: 175,
        name: "ERR_INSERT_IMDS_RESTRICTION_RULE_INTO_FILTER_TABLE",
        category: Category::Imds,
        owner: Owner::Platform,
        meaning: "The rule that restricts access to IMDS could not be added to the filter table. \
            No current bootstrap script exits with it; the rule is now set before kubelet starts.",
        action: "Recreate the node and move the pool to a current image; on current images read \
            kubelet's journal, and follow 34.",
        origin: "No call site in the current scripts",
        introduced: Since::On(date(2024, 5, 6)),
        ..ROW
    },
    ExitCode {
        number: 176,
        name: "ERR_DELETE_IMDS_RESTRICTION_RULE_FROM_MANGLE_TABLE",
        category: Category::Imds,
        owner: Owner::Platform,
        meaning: "The rule that restricts access to IMDS could not be removed from the mangle \
            table. No current bootstrap script exits with it; the rule is now set before kubelet \
            starts.",
        action: "Recreate the node and move the pool to a current image; on current images read \
            kubelet's journal, and follow 34.",
        origin: "No call site in the current scripts",
        introduced: Since::On(date(2024, 5, 6)),
        ..ROW
    },
    ExitCode {
        number: 177,
        name: "ERR_DELETE_IMDS_RESTRICTION_RULE_FROM_FILTER_TABLE",
        category: Category::Imds,
        owner: Owner::Platform,
        meaning: "The rule that restricts access to IMDS could not be removed from the filter \
            table. No current bootstrap script exits with it; the rule is now set before kubelet \
            starts.",
        action: "Recreate the node and move the pool to a current image; on current images read \
            kubelet's journal, and follow 34.",
        origin: "No call site in the current scripts",
        introduced: Since::On(date(2024, 5, 6)),
        ..ROW
    },
    ExitCode {
        number: 200,
        name: "ERR_VHD_REBOOT_REQUIRED",
        category: Category::Image,
        transient: Transient::No,
        meaning: "Reserved for the image build: a reboot is required. Nothing exits with it on a \
            node.",
        cause: "The number was reserved and never used by the bootstrap scripts.",
        action: "Not expected on a node. Make sure the number was read from the AKS extension's \
            own report.",
        origin: "reserved",
        introduced: Since::On(date(2022, 8, 15)),
        ..ROW
    },
    ExitCode {
        number: 201,
        name: "ERR_NO_PACKAGES_FOUND",
        category: Category::Package,
        transient: Transient::No,
        meaning: "Reserved for the security patch tooling: no packages were found. Nothing exits \
            with it on a node.",
        cause: "The number was reserved and never used by the bootstrap scripts.",
        action: "Not expected on a node. Make sure the number was read from the AKS extension's \
            own report.",
        origin: "reserved",
        introduced: Since::On(date(2022, 8, 31)),
        ..ROW
    },
    ExitCode {
        number: 203,
        name: "ERR_PRIVATE_K8S_PKG_ERR",
        reach: Reach::ImageBuild,
        category: Category::Package,
        meaning: "Private Kubernetes packages could not be cached. Only the image build exits with \
            it.",
        cause: "A fault in the image build.",
        origin: "install-dependencies.sh",
        introduced: Since::On(date(2024, 1, 11)),
        ..ROW
    },
    ExitCode {
        number: 214,
        name: "ERR_CLEANUP_CONTAINER_IMAGES",
        reach: Reach::Masked,
        category: Category::Image,
        meaning: "Detecting the install mode or cleaning up container images failed. In the \
            current scripts this cannot surface: the status tested is that of `tail` in the \
            pipeline.",
        cause: "An older script set: the current scripts lose this exit status.",
        action: "Recreate the node. If a current image reports it, check where the number was read \
            from.",
        origin: "basePrep",
        introduced: Since::On(date(2025, 1, 15)),
        ..ROW
    },
    ExitCode {
        number: 215,
        name: "ERR_DNS_HEALTH_FAIL",
        category: Category::Dns,
        owner: Owner::Network,
        meaning: "The DNS health check failed. The helper exists, but no current bootstrap script \
            calls it.",
        action: "Compare the node image version with the newest one and move the pool to a current \
            image. Until then, check the node's DNS servers.",
        origin: "verify_DNS_health (never called)",
        introduced: Since::On(date(2025, 2, 8)),
        ..ROW
    },
    ExitCode {
        number: 217,
        name: "ERR_LOCALDNS_COREFILE_NOTFOUND",
        reach: Reach::Service,
        category: Category::Dns,
        owner: Owner::Operator,
        transient: Transient::No,
        meaning: "localdns: its Corefile is absent or empty. The bootstrap reports this as 216.",
        cause: "The Corefile generated from the pool's localdns profile is bad or empty.",
        action: "Check the pool's localdns profile, and follow 216.",
        origin: "localdns.sh",
        introduced: Since::On(date(2025, 4, 7)),
        ..ROW
    },
    ExitCode {
        number: 218,
        name: "ERR_LOCALDNS_SLICEFILE_NOTFOUND",
        reach: Reach::Service,
        category: Category::Dns,
        transient: Transient::No,
        meaning: "localdns: its systemd slice file is absent or empty. The bootstrap reports this \
            as 216.",
        cause: "The file could not be written on the node.",
        action: "Check the free disk space of the node, recreate it, and follow 216.",
        origin: "localdns.sh",
        introduced: Since::On(date(2025, 4, 7)),
        ..ROW
    },
    ExitCode {
        number: 219,
        name: "ERR_LOCALDNS_BINARY_ERR",
        reach: Reach::Service,
        category: Category::Image,
        transient: Transient::No,
        meaning: "localdns: the coredns binary is missing or cannot be executed. The bootstrap \
            reports this as 216.",
        cause: "A defective node image.",
        action: "Change the image version and report the image; see 216.",
        origin: "localdns.sh",
        introduced: Since::On(date(2025, 4, 7)),
        ..ROW
    },
    ExitCode {
        number: 225,
        name: "ERR_NVIDIA_GPG_KEY_DOWNLOAD_TIMEOUT",
        reach: Reach::ImageBuild,
        category: Category::Gpu,
        meaning: "NVIDIA's repository key could not be downloaded. Only the image build exits with \
            it by this name; from 2025-10-10 to 2026-04-06 the same number also meant a failed \
            pull of the pause image, which is 233 today.",
        cause: "A network problem during the image build; or, on a node with scripts of that time, \
            the pause image could not be pulled from the bootstrap registry.",
        action: "On a node whose image is older than 2026-04-06, follow 233. On a newer one it is \
            not expected: check where the number was read from.",
        origin: "updateAptWithNvidiaPkg",
        introduced: Since::On(date(2025, 10, 10)),
        ..ROW
    },
    ExitCode {
        number: 226,
        name: "ERR_NVIDIA_AZURELINUX_REPO_FILE_DOWNLOAD_TIMEOUT",
        reach: Reach::ImageBuild,
        category: Category::Gpu,
        meaning: "NVIDIA's repository file for Azure Linux could not be downloaded. Only the image \
            build exits with it.",
        cause: "A network problem during the image build.",
        origin: "updateDnfWithNvidiaPkg",
        introduced: Since::On(date(2025, 10, 10)),
        ..ROW
    },
    ExitCode {
        number: 228,
        name: "ERR_NVIDIA_DCGM_FAIL",
        category: Category::Gpu,
        meaning: "NVIDIA's DCGM service failed; today that is only a warning. No current bootstrap \
            script exits with it.",
        action: "Compare the node image version with the newest one and move the pool to a current \
            image. Until then, read the DCGM service's journal on the node.",
        origin: "No call site in the current scripts",
        introduced: Since::On(date(2025, 10, 10)),
        ..ROW
    },
    ExitCode {
        number: 241,
        name: "ERR_AZNFS_RPM_DOWNLOAD_TIMEOUT",
        reach: Reach::ImageBuild,
        category: Category::Outbound,
        meaning: "The aznfs rpm package could not be downloaded. Only the image build exits with \
            it.",
        cause: "A network problem during the image build.",
        origin: "install-dependencies.sh",
        introduced: Since::On(date(2026, 4, 29)),
        ..ROW
    },
    ExitCode {
        number: 242,
        name: "ERR_AZNFS_INSTALL_FAIL",
        reach: Reach::ImageBuild,
        category: Category::Package,
        transient: Transient::No,
        meaning: "The aznfs rpm package could not be installed. Only the image build exits with \
            it.",
        cause: "A fault in the image build.",
        origin: "installAznfsPackage",
        introduced: Since::On(date(2026, 4, 29)),
        ..ROW
    },
];

//! Linux: constants that the scripts no longer have, with the time they had them.

use crate::catalogue::date::date;
use crate::catalogue::{Category, ExitCode, Os, Owner, Reach, Since, Status, Transient};

/// What the rows of this table have in common.
const ROW: ExitCode = ExitCode {
    os: Os::Linux,
    status: Status::Removed,
    reach: Reach::None,
    category: Category::Config,
    owner: Owner::Image,
    transient: Transient::Maybe,
    introduced: Since::By(date(2020, 2, 7)),
    cause: "A node image, or a script set, of the time when the number had this meaning.",
    action: "Let the node image's date choose between this meaning and the others of the number; \
        then move the pool to a current image.",
    origin: "Earlier versions of cse_helpers.sh",
    ..ExitCode::EMPTY
};

/// Sorted by number, the newest first.
pub(in crate::catalogue) static LINUX_PAST: [ExitCode; 43] = [
    ExitCode {
        number: 10,
        name: "ERR_NTP_INSTALL_TIMEOUT",
        meaning: "Time synchronisation: ntp could not be installed in time. The name lives on in \
            the image build.",
        introduced: Since::On(date(2020, 6, 24)),
        removed: Some(date(2021, 4, 21)),
        ..ROW
    },
    ExitCode {
        number: 10,
        name: "ERR_ETCD_DATA_DIR_NOT_FOUND",
        owner: Owner::Operator,
        meaning: "Self-hosted control planes only: etcd's data directory was not found.",
        removed: Some(date(2020, 6, 24)),
        ..ROW
    },
    ExitCode {
        number: 11,
        name: "ERR_NTP_START_TIMEOUT",
        meaning: "Time synchronisation: ntp did not start in time. The name lives on in the image \
            build.",
        introduced: Since::On(date(2020, 6, 24)),
        removed: Some(date(2021, 4, 21)),
        ..ROW
    },
    ExitCode {
        number: 11,
        name: "ERR_ETCD_RUNNING_TIMEOUT",
        owner: Owner::Operator,
        meaning: "Self-hosted control planes only: etcd was not running in time.",
        removed: Some(date(2020, 6, 24)),
        ..ROW
    },
    ExitCode {
        number: 12,
        name: "ERR_STOP_OR_DISABLE_SYSTEMD_TIMESYNCD_TIMEOUT",
        meaning: "Time synchronisation: systemd-timesyncd could not be stopped or disabled in \
            time. The name lives on in the image build.",
        introduced: Since::On(date(2021, 4, 8)),
        removed: Some(date(2021, 4, 21)),
        ..ROW
    },
    ExitCode {
        number: 12,
        name: "ERR_STOP_SYSTEMD_TIMESYNCD_TIMEOUT",
        meaning: "Time synchronisation: systemd-timesyncd could not be stopped in time.",
        introduced: Since::On(date(2020, 6, 30)),
        removed: Some(date(2021, 4, 8)),
        became: Some((12, "ERR_STOP_OR_DISABLE_SYSTEMD_TIMESYNCD_TIMEOUT")),
        ..ROW
    },
    ExitCode {
        number: 12,
        name: "ERR_ETCD_DOWNLOAD_TIMEOUT",
        owner: Owner::Operator,
        meaning: "Self-hosted control planes only: etcd could not be downloaded in time.",
        removed: Some(date(2020, 6, 24)),
        ..ROW
    },
    ExitCode {
        number: 13,
        name: "ERR_STOP_OR_DISABLE_NTP_TIMEOUT",
        meaning: "Time synchronisation: ntp could not be stopped or disabled in time. The name \
            lives on in the image build.",
        introduced: Since::On(date(2021, 4, 8)),
        removed: Some(date(2021, 4, 21)),
        ..ROW
    },
    ExitCode {
        number: 13,
        name: "ERR_ETCD_VOL_MOUNT_FAIL",
        owner: Owner::Operator,
        meaning: "Self-hosted control planes only: etcd's volume could not be mounted.",
        removed: Some(date(2020, 6, 24)),
        ..ROW
    },
    ExitCode {
        number: 14,
        name: "ERR_CHRONY_INSTALL_TIMEOUT",
        meaning: "Time synchronisation: chrony could not be installed in time. The name lives on \
            in the image build.",
        introduced: Since::On(date(2021, 4, 8)),
        removed: Some(date(2021, 4, 21)),
        ..ROW
    },
    ExitCode {
        number: 14,
        name: "ERR_ETCD_START_TIMEOUT",
        owner: Owner::Operator,
        meaning: "Self-hosted control planes only: etcd did not start in time.",
        removed: Some(date(2020, 6, 24)),
        ..ROW
    },
    ExitCode {
        number: 15,
        name: "ERR_CHRONY_START_TIMEOUT",
        meaning: "Time synchronisation: chrony did not start in time. The name lives on in the \
            image build.",
        introduced: Since::On(date(2021, 4, 8)),
        removed: Some(date(2021, 4, 21)),
        ..ROW
    },
    ExitCode {
        number: 15,
        name: "ERR_ETCD_CONFIG_FAIL",
        owner: Owner::Operator,
        meaning: "Self-hosted control planes only: etcd could not be configured.",
        removed: Some(date(2020, 6, 24)),
        ..ROW
    },
    ExitCode {
        number: 35,
        name: "ERR_CONTAINER_IMG_PULL_TIMEOUT",
        category: Category::Registry,
        owner: Owner::Network,
        meaning: "A container image could not be pulled in time.",
        removed: Some(date(2020, 10, 27)),
        became: Some((35, "ERR_DOCKER_IMG_PULL_TIMEOUT")),
        ..ROW
    },
    ExitCode {
        number: 86,
        name: "ERR_GPU_DEVICEPLUGIN_START_FAIL",
        category: Category::Gpu,
        meaning: "The NVIDIA device plug-in did not start.",
        introduced: Since::On(date(2020, 5, 12)),
        removed: Some(date(2020, 6, 1)),
        became: Some((86, "ERR_GPU_DEVICE_PLUGIN_START_FAIL")),
        ..ROW
    },
    ExitCode {
        number: 120,
        name: "ERR_AZURE_STACK_GET_ARM_TOKEN",
        owner: Owner::Operator,
        meaning: "Azure Stack: no token for Azure Resource Manager could be obtained.",
        removed: Some(date(2025, 6, 12)),
        ..ROW
    },
    ExitCode {
        number: 121,
        name: "ERR_KUBELET_INSTALL_TIMEOUT",
        category: Category::Package,
        owner: Owner::Network,
        meaning: "The kubelet package could not be installed.",
        introduced: Since::On(date(2025, 8, 5)),
        removed: Some(date(2025, 8, 29)),
        became: Some((121, "ERR_KUBELET_INSTALL_FAIL")),
        ..ROW
    },
    ExitCode {
        number: 121,
        name: "ERR_AZURE_STACK_GET_NETWORK_CONFIGURATION",
        owner: Owner::Operator,
        meaning: "Azure Stack: the network configuration could not be read.",
        removed: Some(date(2025, 6, 12)),
        ..ROW
    },
    ExitCode {
        number: 122,
        name: "ERR_KUBECTL_INSTALL_TIMEOUT",
        category: Category::Package,
        owner: Owner::Network,
        meaning: "The kubectl package could not be installed.",
        introduced: Since::On(date(2025, 8, 5)),
        removed: Some(date(2025, 8, 29)),
        became: Some((122, "ERR_KUBECTL_INSTALL_FAIL")),
        ..ROW
    },
    ExitCode {
        number: 122,
        name: "ERR_AZURE_STACK_GET_SUBNET_PREFIX",
        owner: Owner::Operator,
        meaning: "Azure Stack: the subnet's prefix could not be read.",
        removed: Some(date(2025, 6, 12)),
        ..ROW
    },
    ExitCode {
        number: 124,
        name: "ERR_VHD_FILE_NOT_FOUND",
        category: Category::Image,
        meaning: "The image's marker file was missing. It moved to 65, because 124 is also what \
            the `timeout` tool ends with when time is up.",
        cause: "The node was made from a damaged image or one that is not an AKS image.",
        action: "Look at ExecDuration: near 900 seconds it was the time-out; a short run means the \
            image. Then redeploy with a current AKS image.",
        removed: Some(date(2023, 6, 1)),
        became: Some((65, "ERR_VHD_FILE_NOT_FOUND")),
        ..ROW
    },
    ExitCode {
        number: 130,
        name: "ERR_SWAP_CREAT_FAIL",
        category: Category::Disk,
        owner: Owner::Operator,
        meaning: "The swap file could not be made.",
        introduced: Since::On(date(2020, 10, 23)),
        removed: Some(date(2022, 11, 3)),
        became: Some((130, "ERR_SWAP_CREATE_FAIL")),
        ..ROW
    },
    ExitCode {
        number: 131,
        name: "ERR_SWAP_CREAT_INSUFFICIENT_DISK_SPACE",
        category: Category::Disk,
        owner: Owner::Operator,
        meaning: "There was no room on disk for the swap file.",
        introduced: Since::On(date(2020, 10, 23)),
        removed: Some(date(2022, 11, 3)),
        became: Some((131, "ERR_SWAP_CREATE_INSUFFICIENT_DISK_SPACE")),
        ..ROW
    },
    ExitCode {
        number: 150,
        name: "ERR_TELEPORTD_DOWNLOAD_ERR",
        category: Category::Registry,
        owner: Owner::Network,
        meaning: "The teleport image streaming plug-in could not be downloaded.",
        introduced: Since::On(date(2020, 11, 11)),
        removed: Some(date(2026, 3, 23)),
        ..ROW
    },
    ExitCode {
        number: 151,
        name: "ERR_TELEPORTD_INSTALL_ERR",
        category: Category::Registry,
        meaning: "The teleport image streaming plug-in could not be installed.",
        introduced: Since::On(date(2020, 11, 11)),
        removed: Some(date(2026, 3, 23)),
        ..ROW
    },
    ExitCode {
        number: 152,
        name: "ERR_ARTIFACT_STREAMING_DOWNLOAD_INSTALL",
        category: Category::Registry,
        meaning: "The artifact streaming packages could not be downloaded or installed. The name \
            was split in two, 152 and 153.",
        introduced: Since::On(date(2023, 8, 9)),
        removed: Some(date(2023, 10, 3)),
        became: Some((152, "ERR_ARTIFACT_STREAMING_DOWNLOAD")),
        ..ROW
    },
    ExitCode {
        number: 161,
        name: "ERR_HTTP_PROXY_CA_UPDATE",
        owner: Owner::Operator,
        meaning: "The HTTP proxy's CA could not be added to the OS trust store.",
        introduced: Since::On(date(2021, 4, 12)),
        removed: Some(date(2022, 9, 14)),
        became: Some((161, "ERR_UPDATE_CA_CERTS")),
        ..ROW
    },
    ExitCode {
        number: 169,
        name: "ERR_DOWNLOAD_SECURE_TLS_BOOTSTRAP_KUBELET_EXEC_PLUGIN_TIMEOUT",
        category: Category::Identity,
        owner: Owner::Network,
        meaning: "Secure TLS bootstrap: the kubelet exec plug-in could not be downloaded in time.",
        introduced: Since::On(date(2023, 10, 24)),
        removed: Some(date(2025, 5, 7)),
        became: Some((169, "ERR_SECURE_TLS_BOOTSTRAP_CLIENT_DOWNLOAD_ERROR")),
        ..ROW
    },
    ExitCode {
        number: 171,
        name: "ERR_KRUSTLET_DOWNLOAD_TIMEOUT",
        category: Category::Package,
        owner: Owner::Network,
        meaning: "krustlet could not be downloaded in time.",
        introduced: Since::On(date(2021, 7, 30)),
        removed: Some(date(2025, 6, 19)),
        ..ROW
    },
    ExitCode {
        number: 180,
        name: "ERR_MIG_PARTITION_FAILURE",
        category: Category::Gpu,
        meaning: "The GPU could not be partitioned (MIG).",
        introduced: Since::On(date(2021, 7, 15)),
        removed: Some(date(2021, 11, 12)),
        ..ROW
    },
    ExitCode {
        number: 204,
        name: "ERR_PRIVATE_K8S_INSTALL_ERR",
        category: Category::Package,
        owner: Owner::Operator,
        meaning: "A private Kubernetes package could not be installed.",
        introduced: Since::On(date(2024, 1, 11)),
        removed: Some(date(2024, 1, 12)),
        became: Some((204, "ERR_K8S_INSTALL_ERR")),
        ..ROW
    },
    ExitCode {
        number: 208,
        name: "ERR_ORAS_PULL_FAIL_RESERVE_1",
        category: Category::Registry,
        meaning: "A number set aside for oras pull failures, before it got a meaning of its own.",
        introduced: Since::On(date(2024, 9, 4)),
        removed: Some(date(2025, 2, 24)),
        became: Some((208, "ERR_ORAS_PULL_CREDENTIAL_PROVIDER")),
        ..ROW
    },
    ExitCode {
        number: 209,
        name: "ERR_ORAS_PULL_CONTAINERD_WASM",
        category: Category::Registry,
        owner: Owner::Operator,
        meaning: "Network-isolated cluster: the containerd wasm shims could not be pulled with \
            oras.",
        introduced: Since::On(date(2024, 9, 10)),
        removed: Some(date(2025, 6, 19)),
        ..ROW
    },
    ExitCode {
        number: 209,
        name: "ERR_ORAS_PULL_FAIL_RESERVE_2",
        category: Category::Registry,
        meaning: "A number set aside for oras pull failures, before it got a meaning of its own.",
        introduced: Since::On(date(2024, 9, 4)),
        removed: Some(date(2024, 9, 10)),
        became: Some((209, "ERR_ORAS_PULL_CONTAINERD_WASM")),
        ..ROW
    },
    ExitCode {
        number: 210,
        name: "ERR_ORAS_PULL_FAIL_RESERVE_2",
        category: Category::Registry,
        meaning: "A number set aside for oras pull failures, before it got a meaning of its own.",
        introduced: Since::On(date(2025, 2, 8)),
        removed: Some(date(2025, 3, 29)),
        became: Some((210, "ERR_ORAS_IMDS_TIMEOUT")),
        ..ROW
    },
    ExitCode {
        number: 210,
        name: "ERR_ORAS_PULL_FAIL_RESERVE_3",
        category: Category::Registry,
        meaning: "A number set aside for oras pull failures, before it got a meaning of its own.",
        introduced: Since::On(date(2024, 9, 4)),
        removed: Some(date(2025, 2, 8)),
        became: Some((210, "ERR_ORAS_PULL_FAIL_RESERVE_2")),
        ..ROW
    },
    ExitCode {
        number: 211,
        name: "ERR_ORAS_PULL_FAIL_RESERVE_4",
        category: Category::Registry,
        meaning: "A number set aside for oras pull failures, before it got a meaning of its own.",
        introduced: Since::On(date(2024, 9, 4)),
        removed: Some(date(2025, 2, 8)),
        became: Some((211, "ERR_ORAS_PULL_NETWORK_TIMEOUT")),
        ..ROW
    },
    ExitCode {
        number: 212,
        name: "ERR_ORAS_PULL_FAIL_RESERVE_5",
        category: Category::Registry,
        meaning: "A number set aside for oras pull failures, before it got a meaning of its own.",
        introduced: Since::On(date(2024, 9, 4)),
        removed: Some(date(2025, 2, 8)),
        became: Some((212, "ERR_ORAS_PULL_UNAUTHORIZED")),
        ..ROW
    },
    ExitCode {
        number: 220,
        name: "ERR_SECURE_TLS_BOOTSTRAP_START_FAILURE",
        category: Category::Identity,
        meaning: "Secure TLS bootstrap: the unit could not be started.",
        introduced: Since::On(date(2025, 5, 28)),
        removed: Some(date(2026, 6, 9)),
        became: Some((220, "ERR_SECURE_TLS_BOOTSTRAP_ENABLE_FAILURE")),
        ..ROW
    },
    ExitCode {
        number: 221,
        name: "ERR_SECURE_TLS_BOOTSTRAP_CLIENT_FAILURE",
        category: Category::Identity,
        owner: Owner::Operator,
        meaning: "Secure TLS bootstrap: the client failed.",
        introduced: Since::On(date(2025, 5, 28)),
        removed: Some(date(2025, 6, 11)),
        ..ROW
    },
    ExitCode {
        number: 222,
        name: "ERR_SECURE_TLS_BOOTSTRAP_MISSING_KUBECONFIG",
        category: Category::Identity,
        owner: Owner::Operator,
        meaning: "Secure TLS bootstrap: the kubeconfig was missing.",
        introduced: Since::On(date(2025, 5, 28)),
        removed: Some(date(2025, 6, 11)),
        ..ROW
    },
    ExitCode {
        number: 225,
        name: "ERR_PULL_POD_INFRA_CONTAINER_IMAGE",
        category: Category::Registry,
        owner: Owner::Operator,
        meaning: "Network-isolated cluster: the pause image could not be pulled from the bootstrap \
            registry. The number was shared with the NVIDIA key download, so this meaning moved to \
            233.",
        cause: "The bootstrap registry lacked the pause image or its cache rule, or login or \
            private link was broken.",
        action: "Follow 233, and move the pool to a node image newer than 2026-04-06.",
        introduced: Since::On(date(2025, 10, 10)),
        removed: Some(date(2026, 4, 6)),
        became: Some((233, "ERR_PULL_POD_INFRA_CONTAINER_IMAGE")),
        ..ROW
    },
    ExitCode {
        number: 231,
        name: "ERR_IMDS_FETCH_FAILED",
        category: Category::Imds,
        owner: Owner::Platform,
        meaning: "The VM's metadata could not be fetched from IMDS. From 2026-02-17 the number was \
            shared with the system extension pull, so this meaning moved to 234.",
        cause: "A host firewall or a route blocked IMDS, or the platform had a hiccup.",
        action: "Follow 234, and move the pool to a node image newer than 2026-04-06.",
        introduced: Since::On(date(2026, 1, 23)),
        removed: Some(date(2026, 4, 6)),
        became: Some((234, "ERR_IMDS_FETCH_FAILED")),
        ..ROW
    },
];

//! Windows: every code of its setup scripts, and the names proposed for 85.

use crate::catalogue::date::date;
use crate::catalogue::{Category, ExitCode, Os, Owner, Reach, Since, Status, Transient};

/// What the rows of this table have in common.
const ROW: ExitCode = ExitCode {
    os: Os::Windows,
    status: Status::Current,
    reach: Reach::Node,
    category: Category::Unknown,
    owner: Owner::Image,
    transient: Transient::Maybe,
    introduced: Since::On(date(2021, 4, 8)),
    cause: "An older script set: no current setup script exits with it.",
    action: "Move the pool to a current node image; until then, read \
        C:\\AzureData\\CustomDataSetupScript.log on the node.",
    ..ExitCode::EMPTY
};

/// Sorted by number.
pub(in crate::catalogue) static WINDOWS: [ExitCode; 88] = [
    ExitCode {
        number: 0,
        name: "WINDOWS_CSE_SUCCESS",
        category: Category::None,
        owner: Owner::Operator,
        transient: Transient::No,
        meaning: "Provisioning finished without a recorded error.",
        cause: "Nothing went wrong.",
        action: "Nothing to do; check that the node actually joined.",
        origin: "WINDOWS_CSE_SUCCESS",
        introduced: Since::On(date(2024, 2, 19)),
        ..ROW
    },
    ExitCode {
        number: 1,
        name: "WINDOWS_CSE_ERROR_UNKNOWN",
        owner: Owner::Operator,
        meaning: "An exception nobody had mapped was caught by the outermost handler of the setup \
            script.",
        cause: "Any unhandled PowerShell error; read the Error field, which carries the exception \
            text.",
        action: "Read the Error text (240 characters at most), then \
            C:\\AzureData\\CustomDataSetupScript.log on the node.",
        origin: "kuberneteswindowssetup.ps1.template catch block",
        ..ROW
    },
    ExitCode {
        number: 2,
        name: "WINDOWS_CSE_ERROR_DOWNLOAD_FILE_WITH_RETRY",
        reach: Reach::None,
        category: Category::Outbound,
        owner: Owner::Network,
        meaning: "A file could not be downloaded (a generic code). No current setup script exits \
            with it.",
        action: "Test egress from the node's subnet, and move the pool to a current node image.",
        origin: "No call site in the current scripts",
        ..ROW
    },
    ExitCode {
        number: 3,
        name: "WINDOWS_CSE_ERROR_INVOKE_EXECUTABLE",
        reach: Reach::None,
        owner: Owner::Operator,
        meaning: "A program returned a failure (a generic code). No current setup script exits \
            with it.",
        origin: "No call site in the current scripts",
        ..ROW
    },
    ExitCode {
        number: 4,
        name: "WINDOWS_CSE_ERROR_FILE_NOT_EXIST",
        reach: Reach::None,
        category: Category::Image,
        transient: Transient::No,
        meaning: "A file is missing (a generic code). No current setup script exits with it.",
        origin: "No call site in the current scripts",
        ..ROW
    },
    ExitCode {
        number: 5,
        name: "WINDOWS_CSE_ERROR_CHECK_API_SERVER_CONNECTIVITY",
        category: Category::ApiServer,
        owner: Owner::Network,
        meaning: "No TCP connection to the API server on 443 after 60 tries, one second apart, \
            each with a 10 s connect limit.",
        cause: "Firewall, NSG, route, authorised IP ranges or private DNS between node subnet and \
            API server.",
        action: "From a VM in the node subnet test DNS and TCP 443 to the API server name.",
        origin: "kubernetesfunc.ps1",
        doc_url: Some(learn!("windows-cse-error-check-api-server-connectivity-error")),
        ..ROW
    },
    ExitCode {
        number: 6,
        name: "WINDOWS_CSE_ERROR_PAUSE_IMAGE_NOT_EXIST",
        reach: Reach::None,
        category: Category::Image,
        transient: Transient::No,
        meaning: "The pause image is absent. No current setup script exits with it.",
        origin: "No call site in the current scripts",
        ..ROW
    },
    ExitCode {
        number: 7,
        name: "WINDOWS_CSE_ERROR_GET_SUBNET_PREFIX",
        category: Category::Identity,
        owner: Owner::Operator,
        meaning: "The node could not read its subnet prefix from Azure Resource Manager (Azure CNI \
            set-up).",
        cause: "Identity without read rights on the subnet, or ARM unreachable.",
        action: "Check the cluster identity role on the subnet and outbound to the ARM endpoint.",
        origin: "azurecnifunc.ps1",
        ..ROW
    },
    ExitCode {
        number: 8,
        name: "WINDOWS_CSE_ERROR_GENERATE_TOKEN_FOR_ARM",
        category: Category::Identity,
        owner: Owner::Operator,
        meaning: "No token for Azure Resource Manager could be obtained.",
        cause: "Expired service principal secret, identity not bound, or login endpoint/IMDS \
            unreachable.",
        action: "Check service principal expiry or managed identity binding, then egress to the \
            login endpoint.",
        origin: "azurecnifunc.ps1",
        ..ROW
    },
    ExitCode {
        number: 9,
        name: "WINDOWS_CSE_ERROR_NETWORK_INTERFACES_NOT_EXIST",
        category: Category::Imds,
        owner: Owner::Platform,
        meaning: "Network interface data could not be read for the node (IPv4 list from ARM, or \
            the IPv6 address).",
        cause: "ARM/IMDS lookup failure or an interface without the expected address family.",
        action: "Check the NIC and its IP configurations; retry the node.",
        origin: "azurecnifunc.ps1",
        ..ROW
    },
    ExitCode {
        number: 10,
        name: "WINDOWS_CSE_ERROR_NETWORK_ADAPTER_NOT_EXIST",
        category: Category::LocalNetwork,
        owner: Owner::Platform,
        meaning: "Windows showed no physical network adapter when the host network was created.",
        cause: "Driver or host problem, slow device arrival.",
        action: "Recreate the node; if it repeats with one VM size, raise with Azure.",
        origin: "azurecnifunc.ps1",
        ..ROW
    },
    ExitCode {
        number: 11,
        name: "WINDOWS_CSE_ERROR_MANAGEMENT_IP_NOT_EXIST",
        category: Category::LocalNetwork,
        owner: Owner::Platform,
        meaning: "The node address disappeared after the HNS network was created on the adapter.",
        cause: "HNS switch creation lost the address, DHCP slow.",
        action: "Recreate the node; if it repeats, check for another agent altering the adapter.",
        origin: "azurecnifunc.ps1",
        ..ROW
    },
    ExitCode {
        number: 12,
        name: "WINDOWS_CSE_ERROR_CALICO_SERVICE_ACCOUNT_NOT_EXIST",
        category: Category::Config,
        owner: Owner::Operator,
        meaning: "The Calico service account secret could not be found in the cluster.",
        cause: "Calico not ready or service account renamed.",
        action: "Check calico-system objects, then recreate the node.",
        origin: "calicofunc.ps1",
        ..ROW
    },
    ExitCode {
        number: 13,
        name: "WINDOWS_CSE_ERROR_CONTAINERD_NOT_INSTALLED",
        category: Category::Containerd,
        meaning: "containerd did not register as a Windows service.",
        cause: "Broken package or blocked service creation.",
        action: "Read the log; recreate the node; if the image is custom, rebuild it.",
        origin: "containerdfunc.ps1",
        ..ROW
    },
    ExitCode {
        number: 14,
        name: "WINDOWS_CSE_ERROR_CONTAINERD_NOT_RUNNING",
        category: Category::Containerd,
        meaning: "The containerd service exists but is not running.",
        cause: "Bad configuration or crash at start.",
        action: "Look at containerd log under C:\\k and the event log.",
        origin: "containerdfunc.ps1",
        ..ROW
    },
    ExitCode {
        number: 15,
        name: "WINDOWS_CSE_ERROR_OPENSSH_NOT_INSTALLED",
        category: Category::Image,
        transient: Transient::No,
        meaning: "The OpenSSH feature is not present on the machine.",
        cause: "Image without OpenSSH.",
        action: "Use a standard AKS image.",
        origin: "configfunc.ps1",
        ..ROW
    },
    ExitCode {
        number: 16,
        name: "WINDOWS_CSE_ERROR_OPENSSH_FIREWALL_NOT_CONFIGURED",
        category: Category::Config,
        owner: Owner::Operator,
        transient: Transient::No,
        meaning: "No firewall rule allows the OpenSSH server.",
        cause: "Policy or image removed the rule.",
        action: "Check group policy and image hardening.",
        origin: "configfunc.ps1",
        ..ROW
    },
    ExitCode {
        number: 17,
        name: "WINDOWS_CSE_ERROR_INVALID_PARAMETER_IN_AZURE_CONFIG",
        category: Category::Config,
        owner: Owner::Platform,
        transient: Transient::No,
        meaning: "Neither an availability set nor a scale set name was given for azure.json.",
        cause: "Wrong bootstrap parameters from the caller.",
        action: "Report to the provisioner (AKS RP or Karpenter); not fixable on the node.",
        origin: "kubeletfunc.ps1",
        ..ROW
    },
    ExitCode {
        number: 18,
        name: "WINDOWS_CSE_ERROR_NO_DOCKER_TO_BUILD_PAUSE_CONTAINER",
        reach: Reach::None,
        category: Category::Containerd,
        transient: Transient::No,
        meaning: "There was no docker to build the pause image with. No current setup script exits \
            with it.",
        origin: "No call site in the current scripts",
        ..ROW
    },
    ExitCode {
        number: 19,
        name: "WINDOWS_CSE_ERROR_GET_CA_CERTIFICATES",
        reach: Reach::None,
        category: Category::Config,
        meaning: "The list of root certificates could not be read. No current setup script exits \
            with it.",
        origin: "No call site in the current scripts",
        introduced: Since::On(date(2021, 4, 14)),
        ..ROW
    },
    ExitCode {
        number: 20,
        name: "WINDOWS_CSE_ERROR_DOWNLOAD_CA_CERTIFICATES",
        reach: Reach::None,
        category: Category::Config,
        meaning: "The root certificates could not be downloaded. No current setup script exits \
            with it.",
        origin: "No call site in the current scripts",
        introduced: Since::On(date(2021, 4, 14)),
        ..ROW
    },
    ExitCode {
        number: 21,
        name: "WINDOWS_CSE_ERROR_EMPTY_CA_CERTIFICATES",
        reach: Reach::None,
        category: Category::Config,
        meaning: "The list of root certificates was empty. No current setup script exits with it.",
        origin: "No call site in the current scripts",
        introduced: Since::On(date(2021, 4, 14)),
        ..ROW
    },
    ExitCode {
        number: 22,
        name: "WINDOWS_CSE_ERROR_ENABLE_SECURE_TLS",
        category: Category::Config,
        owner: Owner::Operator,
        transient: Transient::No,
        meaning: "Turning on the secure TLS protocol set failed (Windows Server 2019 path).",
        cause: "Registry write refused.",
        action: "Check policy; move to a newer Windows SKU.",
        origin: "kuberneteswindowssetup.ps1.template",
        introduced: Since::On(date(2021, 7, 15)),
        ..ROW
    },
    ExitCode {
        number: 23,
        name: "WINDOWS_CSE_ERROR_GMSA_EXPAND_ARCHIVE",
        reach: Reach::None,
        category: Category::Config,
        transient: Transient::No,
        meaning: "The gMSA archive could not be unpacked. No current setup script exits with it.",
        origin: "No call site in the current scripts",
        introduced: Since::On(date(2021, 7, 29)),
        ..ROW
    },
    ExitCode {
        number: 24,
        name: "WINDOWS_CSE_ERROR_GMSA_ENABLE_POWERSHELL_PRIVILEGE",
        category: Category::Config,
        owner: Owner::Operator,
        transient: Transient::No,
        meaning: "The privilege needed to change the gMSA registry key could not be enabled.",
        cause: "Policy removes the privilege.",
        action: "Check group policy and image hardening.",
        origin: "configfunc.ps1",
        introduced: Since::On(date(2021, 8, 12)),
        ..ROW
    },
    ExitCode {
        number: 25,
        name: "WINDOWS_CSE_ERROR_GMSA_SET_REGISTRY_PERMISSION",
        category: Category::Config,
        owner: Owner::Operator,
        transient: Transient::No,
        meaning: "Registry permissions for the gMSA plug-in could not be set.",
        cause: "Policy or image hardening.",
        action: "Check group policy.",
        origin: "configfunc.ps1",
        introduced: Since::On(date(2021, 8, 12)),
        ..ROW
    },
    ExitCode {
        number: 26,
        name: "WINDOWS_CSE_ERROR_GMSA_SET_REGISTRY_VALUES",
        category: Category::Config,
        owner: Owner::Operator,
        transient: Transient::No,
        meaning: "Registry values for the gMSA plug-in could not be written.",
        cause: "Policy or image hardening.",
        action: "Check group policy.",
        origin: "configfunc.ps1",
        introduced: Since::On(date(2021, 8, 12)),
        ..ROW
    },
    ExitCode {
        number: 27,
        name: "WINDOWS_CSE_ERROR_GMSA_IMPORT_CCGEVENTS",
        category: Category::Config,
        transient: Transient::No,
        meaning: "The CCG event manifest could not be imported.",
        cause: "Broken gMSA package.",
        action: "Check the gMSA package version.",
        origin: "configfunc.ps1",
        introduced: Since::On(date(2021, 9, 3)),
        ..ROW
    },
    ExitCode {
        number: 28,
        name: "WINDOWS_CSE_ERROR_GMSA_IMPORT_CCGAKVPPLUGINEVENTS",
        category: Category::Config,
        transient: Transient::No,
        meaning: "The CCG key-vault plug-in event manifest could not be imported.",
        cause: "Broken gMSA package.",
        action: "Check the gMSA package version.",
        origin: "configfunc.ps1",
        introduced: Since::On(date(2021, 10, 11)),
        ..ROW
    },
    ExitCode {
        number: 29,
        name: "WINDOWS_CSE_ERROR_NOT_FOUND_MANAGEMENT_IP",
        category: Category::LocalNetwork,
        owner: Owner::Network,
        meaning: "No physical adapter had an address when the external network was to be created.",
        cause: "DHCP not answered in the virtual network.",
        action: "Check the NIC and virtual network; recreate the node.",
        origin: "azurecnifunc.ps1",
        introduced: Since::On(date(2021, 11, 18)),
        ..ROW
    },
    ExitCode {
        number: 30,
        name: "WINDOWS_CSE_ERROR_NOT_FOUND_BUILD_NUMBER",
        category: Category::Image,
        transient: Transient::No,
        meaning: "The Windows build number is not one the scripts know.",
        cause: "Image newer than the CSE package, or custom image.",
        action: "Use a matching node image version.",
        origin: "windowscsehelper.ps1",
        introduced: Since::On(date(2022, 2, 24)),
        ..ROW
    },
    ExitCode {
        number: 31,
        name: "WINDOWS_CSE_ERROR_NOT_FOUND_PROVISIONING_SCRIPTS",
        category: Category::Image,
        owner: Owner::Platform,
        meaning: "The unpacked CSE package lacks the provisioning script folder.",
        cause: "Corrupt or wrong CSE package.",
        action: "Check the CSE package URL/version and any proxy that alters downloads.",
        origin: "kubernetesfunc.ps1",
        introduced: Since::On(date(2022, 3, 15)),
        ..ROW
    },
    ExitCode {
        number: 32,
        name: "WINDOWS_CSE_ERROR_START_NODE_RESET_SCRIPT_TASK",
        category: Category::Kubelet,
        owner: Owner::Operator,
        meaning: "The node-reset scheduled task did not end within 180 s, ended badly, or kubelet \
            was not running afterwards.",
        cause: "kubelet or HNS start failing or slow.",
        action: "Read C:\\k\\windowsnodereset.log and kubelet logs.",
        origin: "windowscsehelper.ps1",
        introduced: Since::On(date(2022, 5, 19)),
        ..ROW
    },
    ExitCode {
        number: 33,
        name: "WINDOWS_CSE_ERROR_DOWNLOAD_CSE_PACKAGE",
        category: Category::Outbound,
        owner: Owner::Network,
        meaning: "The CSE script package could not be downloaded (5 tries, 10 s apart).",
        cause: "Egress to the AKS package host blocked.",
        action: "Test the package host from the node subnet.",
        origin: "kuberneteswindowssetup.ps1.template",
        introduced: Since::On(date(2022, 8, 2)),
        ..ROW
    },
    ExitCode {
        number: 34,
        name: "WINDOWS_CSE_ERROR_DOWNLOAD_KUBERNETES_PACKAGE",
        category: Category::Outbound,
        owner: Owner::Network,
        meaning: "The Kubernetes Windows zip could not be downloaded.",
        cause: "Egress blocked, or the version has no such package (404).",
        action: "Look for BlobNotFound/404 in the Error text: then the version is wrong; otherwise \
            test egress.",
        origin: "kubeletfunc.ps1",
        introduced: Since::On(date(2022, 8, 2)),
        ..ROW
    },
    ExitCode {
        number: 35,
        name: "WINDOWS_CSE_ERROR_DOWNLOAD_CNI_PACKAGE",
        category: Category::Outbound,
        owner: Owner::Network,
        meaning: "The CNI package could not be downloaded.",
        cause: "Egress blocked or TLS inspection.",
        action: "Test the package host from the node subnet.",
        origin: "azurecnifunc.ps1",
        introduced: Since::On(date(2022, 8, 2)),
        doc_url: Some(learn!("vmextensionerror-cnidownloadtimeout")),
        ..ROW
    },
    ExitCode {
        number: 36,
        name: "WINDOWS_CSE_ERROR_DOWNLOAD_HNS_MODULE",
        category: Category::Image,
        meaning: "The HNS helper module could not be copied into place.",
        cause: "Source file missing from the package or disk problem.",
        action: "Recreate the node; check the CSE package.",
        origin: "azurecnifunc.ps1",
        introduced: Since::On(date(2022, 8, 2)),
        ..ROW
    },
    ExitCode {
        number: 37,
        name: "WINDOWS_CSE_ERROR_DOWNLOAD_CALICO_PACKAGE",
        category: Category::Outbound,
        owner: Owner::Network,
        meaning: "The Calico package could not be downloaded.",
        cause: "Egress blocked.",
        action: "Test the package host from the node subnet.",
        origin: "calicofunc.ps1",
        introduced: Since::On(date(2022, 8, 2)),
        ..ROW
    },
    ExitCode {
        number: 38,
        name: "WINDOWS_CSE_ERROR_DOWNLOAD_GMSA_PACKAGE",
        category: Category::Outbound,
        owner: Owner::Network,
        meaning: "The gMSA plug-in package could not be downloaded.",
        cause: "Egress blocked.",
        action: "Test the package host from the node subnet.",
        origin: "configfunc.ps1",
        introduced: Since::On(date(2022, 8, 2)),
        ..ROW
    },
    ExitCode {
        number: 39,
        name: "WINDOWS_CSE_ERROR_DOWNLOAD_CSI_PROXY_PACKAGE",
        category: Category::Outbound,
        owner: Owner::Network,
        meaning: "The CSI proxy package could not be downloaded.",
        cause: "Egress blocked.",
        action: "Test the package host from the node subnet.",
        origin: "configfunc.ps1",
        introduced: Since::On(date(2022, 8, 2)),
        ..ROW
    },
    ExitCode {
        number: 40,
        name: "WINDOWS_CSE_ERROR_DOWNLOAD_CONTAINERD_PACKAGE",
        category: Category::Outbound,
        owner: Owner::Network,
        meaning: "The containerd package could not be downloaded.",
        cause: "Egress blocked.",
        action: "Test the package host from the node subnet.",
        origin: "containerdfunc.ps1",
        introduced: Since::On(date(2022, 8, 2)),
        ..ROW
    },
    ExitCode {
        number: 41,
        name: "WINDOWS_CSE_ERROR_SET_TCP_DYNAMIC_PORT_RANGE",
        category: Category::LocalNetwork,
        owner: Owner::Operator,
        transient: Transient::No,
        meaning: "netsh refused the TCP dynamic port range.",
        cause: "Port range already reserved by another component.",
        action: "List excluded port ranges on the node.",
        origin: "configfunc.ps1",
        introduced: Since::On(date(2022, 8, 2)),
        ..ROW
    },
    ExitCode {
        number: 42,
        name: "WINDOWS_CSE_ERROR_BUILD_DOCKER_PAUSE_CONTAINER",
        reach: Reach::None,
        category: Category::Containerd,
        transient: Transient::No,
        meaning: "The docker pause image could not be built. No current setup script exits with \
            it.",
        origin: "No call site in the current scripts",
        introduced: Since::On(date(2022, 8, 2)),
        ..ROW
    },
    ExitCode {
        number: 43,
        name: "WINDOWS_CSE_ERROR_PULL_PAUSE_IMAGE",
        reach: Reach::None,
        category: Category::Registry,
        owner: Owner::Network,
        meaning: "The pause image could not be pulled. No current setup script exits with it.",
        origin: "No call site in the current scripts",
        introduced: Since::On(date(2022, 8, 2)),
        ..ROW
    },
    ExitCode {
        number: 44,
        name: "WINDOWS_CSE_ERROR_BUILD_TAG_PAUSE_IMAGE",
        reach: Reach::None,
        category: Category::Containerd,
        transient: Transient::No,
        meaning: "The pause image could not be tagged. No current setup script exits with it.",
        origin: "No call site in the current scripts",
        introduced: Since::On(date(2022, 8, 2)),
        ..ROW
    },
    ExitCode {
        number: 45,
        name: "WINDOWS_CSE_ERROR_CONTAINERD_BINARY_EXIST",
        category: Category::Image,
        transient: Transient::No,
        meaning: "The containerd program file is missing (the constant name says the reverse).",
        cause: "Image or package defect.",
        action: "Recreate the node with another image version.",
        origin: "containerdfunc.ps1",
        introduced: Since::On(date(2022, 8, 2)),
        ..ROW
    },
    ExitCode {
        number: 46,
        name: "WINDOWS_CSE_ERROR_SET_TCP_EXCLUDE_PORT_RANGE",
        category: Category::LocalNetwork,
        owner: Owner::Operator,
        transient: Transient::No,
        meaning: "netsh refused the TCP port exclusion for NodePorts.",
        cause: "Range already taken.",
        action: "List excluded port ranges on the node.",
        origin: "configfunc.ps1",
        introduced: Since::On(date(2022, 10, 14)),
        ..ROW
    },
    ExitCode {
        number: 47,
        name: "WINDOWS_CSE_ERROR_SET_UDP_DYNAMIC_PORT_RANGE",
        category: Category::LocalNetwork,
        owner: Owner::Operator,
        transient: Transient::No,
        meaning: "netsh refused the UDP dynamic port range.",
        cause: "Range already taken.",
        action: "List excluded port ranges on the node.",
        origin: "configfunc.ps1",
        introduced: Since::On(date(2022, 10, 14)),
        ..ROW
    },
    ExitCode {
        number: 48,
        name: "WINDOWS_CSE_ERROR_SET_UDP_EXCLUDE_PORT_RANGE",
        category: Category::LocalNetwork,
        owner: Owner::Operator,
        transient: Transient::No,
        meaning: "netsh refused the UDP port exclusion.",
        cause: "Range already taken.",
        action: "List excluded port ranges on the node.",
        origin: "configfunc.ps1",
        introduced: Since::On(date(2022, 10, 14)),
        ..ROW
    },
    ExitCode {
        number: 49,
        name: "WINDOWS_CSE_ERROR_NO_CUSTOM_DATA_BIN",
        reach: Reach::Wrapper,
        category: Category::Config,
        owner: Owner::Operator,
        transient: Transient::No,
        meaning: "C:\\AzureData\\CustomData.bin is not there, so no setup script could be made.",
        cause: "Custom data missing on the VM, or a custom image whose Azure agent did not write \
            it.",
        action: "Check osProfile.customData of the VM and that the image was generalised with \
            sysprep.",
        origin: "csecmd.ps1",
        introduced: Since::On(date(2022, 11, 11)),
        ..ROW
    },
    ExitCode {
        number: 50,
        name: "WINDOWS_CSE_ERROR_NO_CSE_RESULT_LOG",
        reach: Reach::Wrapper,
        owner: Owner::Operator,
        meaning: "The setup script ended without writing its result file (provision.complete, or \
            base_prep.complete in the bake stage).",
        cause: "The script crashed, was killed, or the VM restarted.",
        action: "Read C:\\AzureData\\CustomDataSetupScript.log; look for a restart.",
        origin: "csecmd.ps1",
        introduced: Since::On(date(2022, 11, 17)),
        ..ROW
    },
    ExitCode {
        number: 51,
        name: "WINDOWS_CSE_ERROR_COPY_LOG_COLLECTION_SCRIPTS",
        category: Category::Image,
        meaning: "The log collection scripts could not be copied.",
        cause: "Incomplete CSE package or disk problem.",
        action: "Recreate the node.",
        origin: "kubernetesfunc.ps1",
        introduced: Since::On(date(2022, 12, 7)),
        ..ROW
    },
    ExitCode {
        number: 52,
        name: "WINDOWS_CSE_ERROR_RESIZE_OS_DRIVE",
        category: Category::Disk,
        transient: Transient::No,
        meaning: "diskpart could not extend the OS partition.",
        cause: "Recovery partition in the way, or disk trouble.",
        action: "Check disk layout of the image.",
        origin: "configfunc.ps1",
        introduced: Since::On(date(2023, 5, 19)),
        ..ROW
    },
    ExitCode {
        number: 53,
        name: "WINDOWS_CSE_ERROR_GPU_DRIVER_INSTALLATION_FAILED",
        category: Category::Gpu,
        owner: Owner::Operator,
        meaning: "The GPU driver installer returned a failure.",
        cause: "Driver does not fit the GPU or the OS build.",
        action: "Check driver type and VM size.",
        origin: "nvidiagpudriverfunc.ps1",
        introduced: Since::On(date(2023, 11, 20)),
        ..ROW
    },
    ExitCode {
        number: 54,
        name: "WINDOWS_CSE_ERROR_GPU_DRIVER_INSTALLATION_TIMEOUT",
        reach: Reach::None,
        category: Category::Gpu,
        meaning: "The GPU driver's installation took too long. No current setup script exits with \
            it.",
        origin: "No call site in the current scripts",
        introduced: Since::On(date(2023, 11, 20)),
        ..ROW
    },
    ExitCode {
        number: 55,
        name: "WINDOWS_CSE_ERROR_GPU_DRIVER_INSTALLATION_VM_SIZE_NOT_SUPPORTED",
        reach: Reach::None,
        category: Category::Gpu,
        owner: Owner::Operator,
        transient: Transient::No,
        meaning: "The GPU step does not support the VM size. No current setup script exits with \
            it.",
        action: "Choose a supported VM size, and move the pool to a current node image.",
        origin: "No call site in the current scripts",
        introduced: Since::On(date(2023, 11, 20)),
        ..ROW
    },
    ExitCode {
        number: 56,
        name: "WINDOWS_CSE_ERROR_GPU_DRIVER_INSTALLATION_URL_NOT_SET",
        category: Category::Gpu,
        owner: Owner::Platform,
        transient: Transient::No,
        meaning: "No driver URL was handed over although GPU install was asked for.",
        cause: "Provisioner configuration.",
        action: "Report to the provisioner.",
        origin: "nvidiagpudriverfunc.ps1",
        introduced: Since::On(date(2023, 11, 20)),
        ..ROW
    },
    ExitCode {
        number: 57,
        name: "WINDOWS_CSE_ERROR_GPU_SKU_INFO_NOT_FOUND",
        category: Category::Gpu,
        owner: Owner::Platform,
        meaning: "The GPU model could not be determined.",
        cause: "PCI device not visible or unknown model.",
        action: "Check that the VM size has a GPU.",
        origin: "nvidiagpudriverfunc.ps1",
        introduced: Since::On(date(2023, 11, 20)),
        ..ROW
    },
    ExitCode {
        number: 58,
        name: "WINDOWS_CSE_ERROR_GPU_DRIVER_INSTALLATION_DOWNLOAD_FAILURE",
        category: Category::Outbound,
        owner: Owner::Network,
        meaning: "The GPU driver could not be downloaded.",
        cause: "Egress blocked.",
        action: "Test the driver host from the node subnet.",
        origin: "nvidiagpudriverfunc.ps1",
        introduced: Since::On(date(2023, 11, 20)),
        ..ROW
    },
    ExitCode {
        number: 59,
        name: "WINDOWS_CSE_ERROR_GPU_DRIVER_INVALID_SIGNATURE",
        category: Category::Gpu,
        owner: Owner::Network,
        transient: Transient::No,
        meaning: "The driver file signature did not verify.",
        cause: "File altered in transit (inspection proxy) or wrong file.",
        action: "Check any TLS-inspecting proxy; compare the file hash.",
        origin: "nvidiagpudriverfunc.ps1",
        introduced: Since::On(date(2023, 11, 20)),
        ..ROW
    },
    ExitCode {
        number: 60,
        name: "WINDOWS_CSE_ERROR_GPU_DRIVER_INSTALLATION_EXCEPTION",
        category: Category::Gpu,
        owner: Owner::Operator,
        meaning: "An unexpected exception in the GPU driver step.",
        cause: "The Error text names the exception.",
        action: "Read the Error text and the node log.",
        origin: "nvidiagpudriverfunc.ps1",
        introduced: Since::On(date(2023, 11, 20)),
        ..ROW
    },
    ExitCode {
        number: 61,
        name: "WINDOWS_CSE_ERROR_GPU_DRIVER_INSTALLATION_URL_NOT_EXE",
        category: Category::Gpu,
        owner: Owner::Platform,
        transient: Transient::No,
        meaning: "The driver URL does not point to an .exe.",
        cause: "Provisioner configuration.",
        action: "Report to the provisioner.",
        origin: "nvidiagpudriverfunc.ps1",
        introduced: Since::On(date(2023, 11, 20)),
        ..ROW
    },
    ExitCode {
        number: 62,
        name: "WINDOWS_CSE_ERROR_UPDATING_KUBE_CLUSTER_CONFIG",
        category: Category::Config,
        owner: Owner::Platform,
        meaning: "kubeclusterconfig.json could not be updated.",
        cause: "Disk or malformed file.",
        action: "Recreate the node.",
        origin: "azurecnifunc.ps1",
        introduced: Since::On(date(2024, 3, 12)),
        ..ROW
    },
    ExitCode {
        number: 63,
        name: "WINDOWS_CSE_ERROR_GET_NODE_IPV6_IP",
        reach: Reach::None,
        category: Category::Imds,
        meaning: "The node's IPv6 address could not be read. No current setup script exits with \
            it; 9 is used now.",
        origin: "No call site in the current scripts",
        introduced: Since::On(date(2024, 3, 12)),
        ..ROW
    },
    ExitCode {
        number: 64,
        name: "WINDOWS_CSE_ERROR_GET_CONTAINERD_VERSION",
        category: Category::Containerd,
        meaning: "The containerd version could not be read.",
        cause: "Broken binary.",
        action: "Recreate the node.",
        origin: "containerdfunc.ps1",
        introduced: Since::On(date(2024, 4, 1)),
        ..ROW
    },
    ExitCode {
        number: 65,
        name: "WINDOWS_CSE_ERROR_INSTALL_CREDENTIAL_PROVIDER",
        category: Category::Registry,
        meaning: "The ACR credential provider could not be installed.",
        cause: "Corrupt package.",
        action: "Recreate the node.",
        origin: "configfunc.ps1",
        introduced: Since::On(date(2024, 4, 16)),
        ..ROW
    },
    ExitCode {
        number: 66,
        name: "WINDOWS_CSE_ERROR_DOWNLOAD_CREDEDNTIAL_PROVIDER",
        category: Category::Outbound,
        owner: Owner::Network,
        meaning: "The ACR credential provider package could not be downloaded (constant is \
            misspelt upstream; match it as is).",
        cause: "Egress blocked.",
        action: "Test the package host from the node subnet.",
        origin: "configfunc.ps1",
        introduced: Since::On(date(2024, 4, 16)),
        ..ROW
    },
    ExitCode {
        number: 67,
        name: "WINDOWS_CSE_ERROR_CREDENTIAL_PROVIDER_CONFIG",
        category: Category::Config,
        owner: Owner::Platform,
        transient: Transient::No,
        meaning: "Kubelet flags for the credential provider are missing or only half set.",
        cause: "Provisioner configuration.",
        action: "Report to the provisioner.",
        origin: "configfunc.ps1",
        introduced: Since::On(date(2024, 4, 16)),
        ..ROW
    },
    ExitCode {
        number: 68,
        name: "WINDOWS_CSE_ERROR_ADJUST_PAGEFILE_SIZE",
        category: Category::Disk,
        owner: Owner::Operator,
        meaning: "The page file size could not be changed.",
        cause: "WMI failure or policy.",
        action: "Recreate the node.",
        origin: "configfunc.ps1",
        introduced: Since::On(date(2024, 7, 8)),
        ..ROW
    },
    ExitCode {
        number: 69,
        name: "WINDOWS_CSE_ERROR_LOOKUP_INSTANCE_DATA_TAG",
        category: Category::Imds,
        owner: Owner::Platform,
        meaning: "A VM tag could not be read from IMDS.",
        cause: "IMDS unreachable (proxy without exception for 169.254.169.254) or throttled.",
        action: "Check proxy exceptions and IMDS from the node.",
        origin: "kubeletfunc.ps1",
        introduced: Since::On(date(2024, 9, 12)),
        ..ROW
    },
    ExitCode {
        number: 70,
        name: "WINDOWS_CSE_ERROR_DOWNLOAD_SECURE_TLS_BOOTSTRAP_CLIENT",
        category: Category::Outbound,
        owner: Owner::Network,
        meaning: "The secure TLS bootstrap client could not be downloaded.",
        cause: "Egress blocked.",
        action: "Test the package host from the node subnet.",
        origin: "securetlsbootstrapfunc.ps1",
        introduced: Since::On(date(2025, 8, 17)),
        ..ROW
    },
    ExitCode {
        number: 71,
        name: "WINDOWS_CSE_ERROR_INSTALL_SECURE_TLS_BOOTSTRAP_CLIENT",
        category: Category::Image,
        transient: Transient::No,
        meaning: "The secure TLS bootstrap client is missing from the cache or the install folder.",
        cause: "Image without the client.",
        action: "Use a newer node image.",
        origin: "securetlsbootstrapfunc.ps1",
        introduced: Since::On(date(2025, 8, 17)),
        ..ROW
    },
    ExitCode {
        number: 72,
        name: "WINDOWS_CSE_ERROR_WINDOWS_CILIUM_NETWORKING_INSTALL_FAILED",
        category: Category::LocalNetwork,
        meaning: "Windows Cilium networking set-up failed.",
        cause: "Package or OS build mismatch.",
        action: "Check the feature flag and image version.",
        origin: "windowsciliumnetworkingfunc.ps1",
        introduced: Since::On(date(2025, 9, 8)),
        ..ROW
    },
    ExitCode {
        number: 73,
        name: "WINDOWS_CSE_ERROR_EXTRACT_ZIP",
        category: Category::Disk,
        owner: Owner::Operator,
        meaning: "A zip file could not be unpacked; also written as a literal before the helper \
            file is loaded, in which case Output is empty.",
        cause: "Truncated download or full disk.",
        action: "Check disk space; recreate the node.",
        origin: "windowscsehelper.ps1",
        introduced: Since::On(date(2025, 9, 13)),
        ..ROW
    },
    ExitCode {
        number: 74,
        name: "WINDOWS_CSE_ERROR_LOAD_METADATA",
        category: Category::Imds,
        owner: Owner::Platform,
        meaning: "IMDS content for the network interfaces could not be loaded.",
        cause: "IMDS unreachable.",
        action: "Check IMDS from the node and proxy exceptions.",
        origin: "azurecnifunc.ps1",
        introduced: Since::On(date(2025, 10, 10)),
        ..ROW
    },
    ExitCode {
        number: 75,
        name: "WINDOWS_CSE_ERROR_PARSE_METADATA",
        category: Category::Imds,
        owner: Owner::Operator,
        meaning: "IMDS answered but held no usable IPv4 or IPv6 address.",
        cause: "NIC without the address family asked for (dual stack).",
        action: "Check the NIC IP configurations.",
        origin: "azurecnifunc.ps1",
        introduced: Since::On(date(2025, 10, 10)),
        ..ROW
    },
    ExitCode {
        number: 76,
        name: "WINDOWS_CSE_ERROR_ORAS_NOT_FOUND",
        category: Category::Image,
        transient: Transient::No,
        meaning: "The image's cache holds no usable oras: its folder or archive is missing, \
            unpacking failed, or the program is absent afterwards.",
        cause: "Image without oras.",
        action: "Use a node image that carries oras.",
        origin: "networkisolatedclusterfunc.ps1",
        introduced: Since::On(date(2026, 3, 9)),
        ..ROW
    },
    ExitCode {
        number: 77,
        name: "WINDOWS_CSE_ERROR_ORAS_IMDS_TIMEOUT",
        category: Category::Imds,
        owner: Owner::Platform,
        meaning: "No identity token came from IMDS for the bootstrap registry.",
        cause: "IMDS unreachable or identity not assigned to the VM.",
        action: "Check the kubelet identity binding and IMDS.",
        origin: "networkisolatedclusterfunc.ps1",
        introduced: Since::On(date(2026, 3, 9)),
        ..ROW
    },
    ExitCode {
        number: 78,
        name: "WINDOWS_CSE_ERROR_ORAS_PULL_NETWORK_TIMEOUT",
        category: Category::Registry,
        owner: Owner::Network,
        meaning: "The bootstrap registry could not be reached or did not answer in time.",
        cause: "Private endpoint, private DNS zone link or route missing.",
        action: "Resolve and connect to the registry name from the node subnet.",
        origin: "networkisolatedclusterfunc.ps1",
        introduced: Since::On(date(2026, 3, 9)),
        ..ROW
    },
    ExitCode {
        number: 79,
        name: "WINDOWS_CSE_ERROR_ORAS_PULL_UNAUTHORIZED",
        category: Category::Identity,
        owner: Owner::Operator,
        meaning: "The bootstrap registry refused the kubelet identity.",
        cause: "AcrPull role missing or not yet effective.",
        action: "Grant AcrPull (or repository reader on ABAC registries) to the kubelet identity.",
        origin: "networkisolatedclusterfunc.ps1",
        introduced: Since::On(date(2026, 3, 9)),
        ..ROW
    },
    ExitCode {
        number: 80,
        name: "WINDOWS_CSE_ERROR_ORAS_PULL_WINDOWSZIP_FAIL",
        category: Category::Registry,
        owner: Owner::Operator,
        meaning: "The Kubernetes Windows zip could not be pulled from the bootstrap registry.",
        cause: "Cache rule or artifact missing.",
        action: "Check the registry cache rules and the tag.",
        origin: "kubeletfunc.ps1/networkisolatedclusterfunc.ps1",
        introduced: Since::On(date(2026, 3, 9)),
        ..ROW
    },
    ExitCode {
        number: 81,
        name: "WINDOWS_CSE_ERROR_ORAS_PULL_CREDENTIAL_PROVIDER",
        category: Category::Registry,
        owner: Owner::Operator,
        meaning: "The credential provider could not be pulled from the bootstrap registry.",
        cause: "Cache rule or artifact missing.",
        action: "Check the registry cache rules and the tag.",
        origin: "configfunc.ps1",
        introduced: Since::On(date(2026, 3, 9)),
        ..ROW
    },
    ExitCode {
        number: 82,
        name: "WINDOWS_CSE_ERROR_ORAS_PULL_POD_INFRA_CONTAINER",
        category: Category::Registry,
        owner: Owner::Operator,
        meaning: "The pause image could not be recognised, pulled from the bootstrap registry, \
            imported, tagged or pinned.",
        cause: "Cache rule or artifact missing.",
        action: "Check the registry cache rules and the tag.",
        origin: "networkisolatedclusterfunc.ps1",
        introduced: Since::On(date(2026, 3, 9)),
        ..ROW
    },
    ExitCode {
        number: 83,
        name: "WINDOWS_CSE_ERROR_NETWORK_ISOLATED_CLUSTER_CSE_NOT_CACHED",
        category: Category::Image,
        transient: Transient::No,
        meaning: "In a network-isolated cluster the CSE package must be in the image cache and is \
            not.",
        cause: "Image too old for the CSE version asked for.",
        action: "Use a matching node image.",
        origin: "kuberneteswindowssetup.ps1.template",
        introduced: Since::On(date(2026, 3, 19)),
        ..ROW
    },
    ExitCode {
        number: 84,
        name: "WINDOWS_CSE_ERROR_ORAS_PULL_CONTAINERD",
        category: Category::Registry,
        owner: Owner::Operator,
        meaning: "containerd could not be pulled from the bootstrap registry, or its version could \
            not be read from the URL.",
        cause: "Cache rule or artifact missing, odd URL.",
        action: "Check the registry cache rules and the containerd URL.",
        origin: "containerdfunc.ps1",
        introduced: Since::On(date(2026, 4, 8)),
        ..ROW
    },
    ExitCode {
        number: 85,
        name: "WINDOWS_CSE_ERROR_ORAS_PULL_PACKAGE",
        status: Status::Proposed,
        reach: Reach::None,
        transient: Transient::No,
        meaning: "Would mean: a package pull with oras failed.",
        cause: "Three different names compete for 85; none of them is on the main line.",
        action: "Decode by the name in the report's Output, not by the number.",
        origin: "PR #8545 and #8465 (June 2026)",
        introduced: Since::Unrecorded,
        ..ROW
    },
    ExitCode {
        number: 85,
        name: "WINDOWS_CSE_ERROR_WINDOWS_EXPORTER_START_FAIL",
        status: Status::Proposed,
        reach: Reach::None,
        transient: Transient::No,
        meaning: "Would mean: the metrics exporter did not start.",
        cause: "Three different names compete for 85; none of them is on the main line.",
        action: "Decode by the name in the report's Output, not by the number.",
        origin: "PR #8516 (head 2026-08-14)",
        introduced: Since::Unrecorded,
        ..ROW
    },
    ExitCode {
        number: 85,
        name: "WINDOWS_CSE_ERROR_LOAD_BOOTSTRAP_CONFIG",
        status: Status::Proposed,
        reach: Reach::None,
        category: Category::Config,
        owner: Owner::Operator,
        transient: Transient::No,
        meaning: "The gzip/JSON bootstrap configuration could not be read or has an unknown schema \
            version.",
        cause: "Three different names compete for 85; none of them is on the main line.",
        action: "Decode by the name in the report's Output, not by the number.",
        origin: "newer public AgentBaker files; literal 85 written before helpers load",
        introduced: Since::Unrecorded,
        ..ROW
    },
];

//! Linux: the codes that can end a node's bootstrap today.

use crate::catalogue::date::date;
use crate::catalogue::{Category, ExitCode, Os, Owner, Reach, Since, Status, Transient};

/// What the rows of this table have in common.
const ROW: ExitCode = ExitCode {
    os: Os::Linux,
    status: Status::Current,
    reach: Reach::Node,
    category: Category::Unknown,
    owner: Owner::Image,
    transient: Transient::Maybe,
    introduced: Since::By(date(2020, 2, 7)),
    ..ExitCode::EMPTY
};

/// Sorted by number.
pub(in crate::catalogue) static LINUX_NODE: [ExitCode; 65] = [
    ExitCode {
        number: 4,
        name: "ERR_SYSTEMCTL_START_FAIL",
        category: Category::Containerd,
        meaning: "A required service could not be started, restarted or enabled, or containerd was \
            found failed just before kubelet was to be started.",
        cause: "A bad containerd configuration or a containerd crash; a broken unit on the image; \
            or one of the dhcpv6, ensure-no-dup, reconcile-private-hosts, swap, \
            transparent-huge-page or nvidia-gridd units failing.",
        action: "Find the unit's name at the end of Output and read \
            /var/log/azure/<unit>-status.log on the node. Recreate the node once; if it fails \
            again, suspect the image or the pool's custom containerd or OS settings.",
        origin: "ensureContainerd, checkServiceHealth containerd, configPrivateClusterHosts, \
            ensureDHCPv6, ensureNoDupOnPromiscuBridge, THP/swap services, nvidia-gridd, \
            dnf-automatic timer",
        ..ROW
    },
    ExitCode {
        number: 6,
        name: "ERR_FILE_WATCH_TIMEOUT",
        category: Category::Config,
        owner: Owner::Operator,
        meaning: "Either the bootstrap helper script never appeared complete on disk within 120 \
            seconds, or the containerd configuration could not be decoded from base64 and written.",
        cause: "cloud-init did not write the bootstrap scripts (or wrote a truncated file), the \
            containerd configuration in the node's settings is malformed, or the root disk is \
            full.",
        action: "Run `cloud-init status --long` on the node and list /opt/azure/containers. If the \
            files are whole, check the containerd configuration that the pool was given, and the \
            free disk space.",
        origin: "cse_main.sh start loop; ensureContainerd",
        ..ROW
    },
    ExitCode {
        number: 7,
        name: "ERR_HOLD_WALINUXAGENT",
        category: Category::Package,
        transient: Transient::Yes,
        meaning: "Ubuntu: the Azure guest agent's package could not be put on hold through dpkg, \
            after 120 tries.",
        cause: "The dpkg database is locked or corrupt; often an unattended upgrade holds the lock \
            while the node boots.",
        action: "Recreate the node. If it repeats, look for apt or dpkg activity early in the \
            boot, or a broken dpkg state on the image.",
        origin: "holdWALinuxAgent hold",
        ..ROW
    },
    ExitCode {
        number: 9,
        name: "ERR_APT_INSTALL_TIMEOUT",
        category: Category::Package,
        owner: Owner::Network,
        meaning: "A package could not be installed, downloaded or unpacked with apt, dnf or tdnf. \
            Also used when kubelet or kubectl cannot be taken out of its deb or rpm package.",
        cause: "packages.microsoft.com or the distribution's mirrors are blocked or broken. Less \
            often: a package lock, a pinned version that does not exist, a full disk, or no GPU \
            package for the running kernel.",
        action: "From the node's subnet, test HTTPS to packages.microsoft.com and the \
            distribution's mirrors; read the apt, dpkg or dnf lines near the end of Output for the \
            package's name.",
        origin: "aptGetBatchInstallPackagesWithFallback, installPkgWithAptGet, \
            downloadPkgFromVersion, dnf_install of NVIDIA/toolkit packages",
        aks_names: &["AptInstallTimeoutVMExtensionError"],
        ..ROW
    },
    ExitCode {
        number: 10,
        name: "ERR_MISSING_CUDA_PACKAGE",
        category: Category::Gpu,
        transient: Transient::No,
        meaning: "Azure Linux or ACL: no NVIDIA driver package (or system extension) matches the \
            running kernel or the VM size.",
        cause: "The image's kernel is newer than the published driver package. Less often: the \
            repository's metadata is unreachable, or the VM size could not be read from IMDS.",
        action: "Give new nodes another image: `az aks nodepool rollback` in an AKS node pool; with \
            Karpenter another imageFamily, or spec.versions where the AKSNodeClass has it. Report \
            the gap between kernel and driver. If other images fail too, test egress to the Azure \
            Linux NVIDIA repository.",
        origin: "downloadGPUDrivers, downloadGridDrivers, installGPUDriverSysext",
        introduced: Since::On(date(2025, 10, 28)),
        ..ROW
    },
    ExitCode {
        number: 25,
        name: "ERR_MOBY_APT_LIST_TIMEOUT",
        category: Category::Outbound,
        owner: Owner::Network,
        meaning: "Ubuntu: Microsoft's apt source list could not be fetched or copied while a \
            containerd that is not on the image was being installed.",
        cause: "packages.microsoft.com is blocked, or a proxy or TLS inspection breaks the \
            download.",
        action: "Allow HTTPS to packages.microsoft.com from the node's subnet. An image that \
            already carries the wanted containerd skips this step.",
        origin: "updateAptWithMicrosoftPkg",
        ..ROW
    },
    ExitCode {
        number: 26,
        name: "ERR_MS_GPG_KEY_DOWNLOAD_TIMEOUT",
        category: Category::Outbound,
        owner: Owner::Network,
        meaning: "Ubuntu: Microsoft's package signing key could not be fetched or stored while a \
            containerd that is not on the image was being installed.",
        cause: "packages.microsoft.com is blocked, or a proxy or TLS inspection alters the \
            download.",
        action: "Allow HTTPS to packages.microsoft.com from the node's subnet. An image that \
            already carries the wanted containerd skips this step.",
        origin: "updateAptWithMicrosoftPkg",
        ..ROW
    },
    ExitCode {
        number: 28,
        name: "ERR_CONTAINERD_INSTALL_TIMEOUT",
        category: Category::Containerd,
        owner: Owner::Network,
        meaning: "containerd had to be installed or replaced, and its package could not be found, \
            downloaded or installed.",
        cause: "The wanted containerd version is not on the image and packages.microsoft.com is \
            unreachable, or a containerd package URL override is wrong.",
        action: "Test HTTPS to packages.microsoft.com from the node's subnet; remove any \
            containerd URL override, or use an image that carries the wanted version.",
        origin: "installContainerRuntime (full install or CONTAINERD_PACKAGE_URL override)",
        introduced: Since::On(date(2020, 10, 28)),
        ..ROW
    },
    ExitCode {
        number: 31,
        name: "ERR_K8S_DOWNLOAD_TIMEOUT",
        category: Category::Outbound,
        owner: Owner::Network,
        meaning: "The kubelet and kubectl archive for the wanted Kubernetes version is not on the \
            image and could not be downloaded (up to 120 tries of 60 seconds within a 300 second \
            budget).",
        cause: "packages.aks.azure.com or acs-mirror.azureedge.net is blocked by a firewall or \
            proxy, or the patch version is no longer published (404).",
        action: "Look in Output for curl's 403, 404 or time-out. For 404 choose a Kubernetes patch \
            that the image carries; otherwise allow HTTPS to packages.aks.azure.com from the \
            node's subnet.",
        origin: "installKubeletKubectlFromURL.extractKubeBinaries",
        aks_names: &["VMExtensionError_K8SDownloadTimeout"],
        doc_url: Some(learn!("vmextensionerror-k8sdownloadtimeout")),
        ..ROW
    },
    ExitCode {
        number: 34,
        name: "ERR_KUBELET_START_FAIL",
        category: Category::Kubelet,
        owner: Owner::Operator,
        meaning: "kubelet's unit could not be queued or enabled, systemd could not reload, or the \
            kube-reserved cgroup slice could not be set up.",
        cause: "Bad kubelet flags or custom kubelet configuration; a failing pre-start script (for \
            example no primary NIC address); or node memory hardening asked for on a cgroup v1 \
            node.",
        action: "Read the kubelet lines in Output and the pool's custom kubelet configuration; \
            recreate the node once. If it repeats without custom settings, check the network data \
            that IMDS gives.",
        origin: "ensureKubelet; ensureContainerd (cgroup hierarchy)",
        ..ROW
    },
    ExitCode {
        number: 39,
        name: "ERR_CONTAINERD_VERSION_INVALID",
        category: Category::Image,
        transient: Transient::No,
        meaning: "The component list on the image is unreadable, or lists an unexpected number of \
            versions for containerd or the reference CNI plug-ins.",
        cause: "/opt/azure/components.json is damaged, or does not fit the bootstrap scripts in \
            use.",
        action: "Give new nodes another image: `az aks nodepool rollback` in an AKS node pool; with \
            Karpenter another imageFamily, or spec.versions where the AKSNodeClass has it. Report \
            the image.",
        origin: "installContainerdWithComponentsJson; installCNILegacy",
        introduced: Since::On(date(2024, 7, 12)),
        ..ROW
    },
    ExitCode {
        number: 41,
        name: "ERR_CNI_DOWNLOAD_TIMEOUT",
        category: Category::Outbound,
        owner: Owner::Network,
        meaning: "The Azure CNI or reference CNI plug-ins are not on the image and could not be \
            downloaded (up to 120 tries of 60 seconds within a 300 second budget).",
        cause: "packages.aks.azure.com or acs-mirror.azureedge.net is blocked, or TLS inspection \
            breaks the download.",
        action: "Allow HTTPS to packages.aks.azure.com from the node's subnet, without TLS \
            inspection. An image that carries the CNI version skips the download.",
        origin: "installAzureCNI.downloadAzureCNI; installCNILegacy",
        aks_names: &[
            "VMExtensionError_CniDownloadTimeout",
            "VMExtensionError_CNIDownloadTimeout",
            "CniDownloadTimeoutVMExtensionError",
        ],
        doc_url: Some(learn!("vmextensionerror-cnidownloadtimeout")),
        ..ROW
    },
    ExitCode {
        number: 42,
        name: "ERR_MS_PROD_DEB_DOWNLOAD_TIMEOUT",
        category: Category::Outbound,
        owner: Owner::Network,
        meaning: "Ubuntu, full install: packages-microsoft-prod.deb could not be downloaded.",
        cause: "packages.microsoft.com is blocked. A full install runs only when the node is not \
            made from an AKS image, or the SkipBinaryCleanup tag forces it.",
        action: "Allow HTTPS to packages.microsoft.com; remove the SkipBinaryCleanup tag; use an \
            AKS image.",
        origin: "installDeps",
        ..ROW
    },
    ExitCode {
        number: 43,
        name: "ERR_MS_PROD_DEB_PKG_ADD_FAIL",
        category: Category::Package,
        owner: Owner::Network,
        meaning: "Ubuntu, full install: packages-microsoft-prod.deb was downloaded but dpkg could \
            not install it.",
        cause: "A proxy answered with an HTML page instead of the package, the download is \
            corrupt, or dpkg is locked.",
        action: "Fetch the same URL from the node's subnet and look at what comes back; recreate \
            the node if it is a valid package.",
        origin: "installDeps",
        ..ROW
    },
    ExitCode {
        number: 49,
        name: "ERR_MODPROBE_FAIL",
        category: Category::Image,
        transient: Transient::No,
        meaning: "A kernel module (br_netfilter, nf_conntrack, ip6_tables) would not load, or \
            stale module deny rules could not be removed from /etc/modprobe.d.",
        cause: "Kernel and modules out of step on a custom image, module signing or kernel \
            lockdown, or a read-only /etc/modprobe.d.",
        action: "Try the stock AKS image. On a custom image check that the kernel and its \
            modules-extra package have the same version.",
        origin: "configureCNI; ensureDHCPv6; reconcileVulnerableKernelModuleMitigation",
        ..ROW
    },
    ExitCode {
        number: 50,
        name: "ERR_OUTBOUND_CONN_FAIL",
        category: Category::Outbound,
        owner: Owner::Network,
        meaning: "The node could not reach the internet: HTTPS to mcr.microsoft.com/v2/ (through \
            the proxy, if one is set) failed 20 times, 15 seconds each.",
        cause: "A firewall, NSG, route table, NAT or proxy stops HTTPS to mcr.microsoft.com; DNS \
            is broken; or the way out was not ready yet when the node booted.",
        action: "From the node's subnet run `curl -v https://mcr.microsoft.com/v2/` and fix the \
            path that it shows broken. If it passes now, recreate the node once.",
        origin: "cse_main nodePrep outbound check",
        aks_names: &[
            "VMExtensionError_OutboundConnFail",
            "VMExtensionError_OutBoundConnFail",
            "OutboundConnFailVMExtensionError",
        ],
        doc_url: Some(learn!("vmextensionerror-outboundconnfail")),
        ..ROW
    },
    ExitCode {
        number: 51,
        name: "ERR_K8S_API_SERVER_CONN_FAIL",
        category: Category::ApiServer,
        owner: Owner::Network,
        meaning: "The API server's name resolved, but no connection to port 443 ever succeeded (34 \
            tries of 15 seconds; 68 for private link; 300 of 10 seconds for an IP endpoint).",
        cause: "An NSG, route or firewall in between; authorized IP ranges that lack the node's \
            egress address; TLS inspection (the probe verifies the cluster's CA); a broken private \
            endpoint; or an API server that is not up yet.",
        action: "From the node's subnet run `curl -v --cacert <cluster CA> https://<api \
            server>:443`; check the authorized IP ranges and the firewall's log.",
        origin: "apiserverCurl / apiserverNC",
        introduced: Since::On(date(2020, 3, 27)),
        aks_names: &[
            "VMExtensionError_K8SAPIServerConnFail",
            "K8SAPIServerConnFailVMExtensionError",
        ],
        doc_url: Some(learn!("vmextensionerror-k8sapiserverconnfail")),
        ..ROW
    },
    ExitCode {
        number: 52,
        name: "ERR_K8S_API_SERVER_DNS_LOOKUP_FAIL",
        category: Category::Dns,
        owner: Owner::Network,
        meaning: "The API server's name did not resolve within 300 seconds (600 for private link), \
            and the resolver was not Azure's 168.63.129.16.",
        cause: "A custom DNS server without a forwarder for the private zone, a private DNS zone \
            that is not linked, or a record that is not published yet after a cluster start.",
        action: "From the node's subnet run `nslookup <api server> <server>` against each of the \
            virtual network's DNS servers; fix the forwarder or the zone link.",
        origin: "apiserverNslookup",
        introduced: Since::On(date(2020, 4, 29)),
        aks_names: &[
            "VMExtensionError_K8SAPIServerDNSLookupFail",
            "K8SAPIServerDNSLookupFailVMExtensionError",
            "LookupNoSuchHost",
        ],
        doc_url: Some(learn!("vmextensionerror-k8sapiserverdnslookupfail")),
        ..ROW
    },
    ExitCode {
        number: 53,
        name: "ERR_K8S_API_SERVER_AZURE_DNS_LOOKUP_FAIL",
        category: Category::Dns,
        owner: Owner::Network,
        meaning: "The API server's name did not resolve, and the resolver was Azure's own, \
            168.63.129.16.",
        cause: "The private DNS zone lacks the record or is not linked to the node's virtual \
            network, or the record is still on its way after a cluster start. Rarely an Azure DNS \
            incident.",
        action: "Check the private DNS zone's virtual network link and its A record for the API \
            server; if both are there, wait a few minutes and recreate the node.",
        origin: "apiserverNslookup",
        introduced: Since::On(date(2020, 4, 29)),
        ..ROW
    },
    ExitCode {
        number: 70,
        name: "ERR_CONTAINERD_DOWNLOAD_TIMEOUT",
        category: Category::Outbound,
        owner: Owner::Operator,
        meaning: "Ubuntu: the containerd package could not be downloaded from the override URL.",
        cause: "The override URL is wrong, or its host is blocked.",
        action: "Remove the containerd package URL override, or correct it and test it from the \
            node's subnet.",
        origin: "downloadContainerdFromURL",
        ..ROW
    },
    ExitCode {
        number: 80,
        name: "ERR_CUSTOM_SEARCH_DOMAINS_FAIL",
        category: Category::Dns,
        owner: Owner::Operator,
        meaning: "The custom search domain script failed: its packages could not be installed, or \
            the realm join did not work.",
        cause: "Wrong domain join credentials, an unreachable domain controller, or packages \
            (realmd, sssd, python2.7) that the OS does not offer.",
        action: "Read /opt/azure/containers/setup-custom-search-domain.log on the node; test the \
            credentials and the way to the domain controller.",
        origin: "setup-custom-search-domains.sh",
        ..ROW
    },
    ExitCode {
        number: 84,
        name: "ERR_GPU_DRIVERS_START_FAIL",
        category: Category::Gpu,
        meaning: "The NVIDIA driver could not be installed or started: its container image is \
            missing or cannot be pulled, the driver container failed, nvidia-modprobe, nvidia-smi \
            or ldconfig do not work, fabric manager does not start, or containerd did not answer.",
        cause: "Driver and kernel do not match, MCR is blocked for the driver image, the GPU is \
            faulty, the CDI refresh unit fails, or the bootstrap ran out of time.",
        action: "Recreate the node to rule out a bad host. If it repeats, compare the driver \
            image's tag with the node image version and test egress to mcr.microsoft.com; to get \
            nodes up, skip the driver install.",
        origin: "configGPUDrivers, validateGPUDrivers, ensureGPUDrivers, nvidia-fabricmanager",
        ..ROW
    },
    ExitCode {
        number: 85,
        name: "ERR_GPU_DRIVERS_INSTALL_TIMEOUT",
        category: Category::Gpu,
        meaning: "containerd would not restart after the GPU runtime was configured.",
        cause: "A bad nvidia runtime entry in containerd's configuration, or a containerd crash.",
        action: "Read containerd's status in /var/log/azure and its journal; recreate the node; \
            try without custom containerd settings.",
        origin: "configGPUDrivers tail",
        ..ROW
    },
    ExitCode {
        number: 86,
        name: "ERR_GPU_DEVICE_PLUGIN_START_FAIL",
        category: Category::Gpu,
        meaning: "The managed NVIDIA device plug-in service did not start.",
        cause: "Its package is missing or broken on the image, or the driver is not loaded.",
        action: "Read the nvidia-device-plugin service's journal on the node. Turning the managed \
            GPU experience off gets the node up.",
        origin: "startNvidiaManagedExpServices",
        introduced: Since::On(date(2020, 6, 1)),
        away: Some((date(2020, 6, 9), date(2020, 6, 18))),
        ..ROW
    },
    ExitCode {
        number: 87,
        name: "ERR_GPU_INFO_ROM_CORRUPTED",
        category: Category::Gpu,
        owner: Owner::Platform,
        transient: Transient::Yes,
        meaning: "nvidia-smi reports that the GPU's info ROM is corrupt.",
        cause: "A faulty GPU in the host.",
        action: "Delete the node so that it lands on other hardware; open a support case if the \
            next one fails too.",
        origin: "validateGPUDrivers",
        introduced: Since::On(date(2020, 5, 12)),
        away: Some((date(2020, 6, 9), date(2020, 6, 18))),
        ..ROW
    },
    ExitCode {
        number: 95,
        name: "ERR_AMDAMA_DRIVER_NOT_FOUND",
        category: Category::Gpu,
        transient: Transient::No,
        meaning: "No AMD AMA (MA35D) driver or firmware package fits the running kernel.",
        cause: "The image's kernel is ahead of the published AMD packages.",
        action: "Use a node image whose kernel has AMD packages, and report the gap between kernel \
            and driver.",
        origin: "setupAmdAma",
        introduced: Since::On(date(2026, 2, 23)),
        ..ROW
    },
    ExitCode {
        number: 96,
        name: "ERR_AMDAMA_INSTALL_FAIL",
        category: Category::Gpu,
        owner: Owner::Network,
        meaning: "An AMD AMA repository, firmware, driver, core or device plug-in package would \
            not install.",
        cause: "Egress to the AMD and Azure Linux repositories or download.microsoft.com is \
            blocked. Network-isolated clusters are not supported.",
        action: "From the node's subnet test HTTPS to the hosts named in Output; recreate the node \
            when they answer.",
        origin: "setupAmdAma",
        introduced: Since::On(date(2026, 2, 23)),
        ..ROW
    },
    ExitCode {
        number: 99,
        name: "ERR_APT_UPDATE_TIMEOUT",
        category: Category::Package,
        owner: Owner::Network,
        meaning: "The apt or dnf metadata could not be refreshed: 10 tries of up to 180 seconds, \
            where any W: or E: line counts as a failure. Also used when no Microsoft apt source \
            file exists.",
        cause: "packages.microsoft.com or the Ubuntu mirrors are unreachable, a proxy denies them, \
            a repository's signature or metadata is bad, or a custom-cloud image lacks the source \
            file.",
        action: "Test the hosts named in Output from the node's subnet, through the proxy if one \
            is set, and check no_proxy. A Kubernetes version that the image carries needs no \
            refresh.",
        origin: "updatePMCRepository (kubelet >=1.34 not cached), updateAptWithMicrosoftPkg, \
            installDeps",
        aks_names: &["VMExtensionError_AptUpdateTimeout"],
        ..ROW
    },
    ExitCode {
        number: 103,
        name: "ERR_SYSCTL_RELOAD",
        category: Category::Config,
        owner: Owner::Operator,
        transient: Transient::No,
        meaning: "Kernel settings (sysctl) or transparent-huge-page values could not be applied.",
        cause: "A value in the pool's linuxOSConfig is not valid for this kernel, or needs a \
            module that is not loaded.",
        action: "Find the refused key near the end of Output, compare the pool's linuxOSConfig \
            with what the kernel accepts, and correct or remove it.",
        origin: "ensureSysctl; ensureContainerd; configureTransparentHugePage",
        ..ROW
    },
    ExitCode {
        number: 119,
        name: "ERR_CTR_OPERATION_ERROR",
        category: Category::Containerd,
        meaning: "Azure China: containerd did not answer within about 24 seconds when the cached \
            images had to be retagged.",
        cause: "containerd is slow or dead while the node boots.",
        action: "Read containerd's status log on the node and recreate the node once; if it \
            repeats, try another image version.",
        origin: "retagMCRImagesForChina",
        introduced: Since::On(date(2020, 10, 28)),
        ..ROW
    },
    ExitCode {
        number: 121,
        name: "ERR_KUBELET_INSTALL_FAIL",
        category: Category::Package,
        owner: Owner::Network,
        meaning: "The kubelet package for the wanted version is not on the image and could not be \
            found in, or fetched from, the package repository.",
        cause: "The version is not published for this OS release, or the package repository is \
            unreachable.",
        action: "Check that the version exists for the OS release; then test egress to \
            packages.microsoft.com from the node's subnet. An image that carries the version needs \
            neither.",
        origin: "installKubeletKubectlFromPkg",
        introduced: Since::On(date(2025, 8, 29)),
        ..ROW
    },
    ExitCode {
        number: 122,
        name: "ERR_KUBECTL_INSTALL_FAIL",
        category: Category::Package,
        owner: Owner::Network,
        meaning: "The kubectl package for the wanted version is not on the image and could not be \
            found in, or fetched from, the package repository.",
        cause: "The version is not published for this OS release, or the package repository is \
            unreachable.",
        action: "Check that the version exists for the OS release; then test egress to \
            packages.microsoft.com from the node's subnet. An image that carries the version needs \
            neither.",
        origin: "installKubeletKubectlFromPkg",
        introduced: Since::On(date(2025, 8, 29)),
        ..ROW
    },
    ExitCode {
        number: 123,
        name: "ERR_ENABLE_MANAGED_GPU_EXPERIENCE",
        category: Category::Gpu,
        owner: Owner::Operator,
        transient: Transient::No,
        meaning: "Setting up the managed GPU experience failed, or its device plug-in mode and DRA \
            mode were both asked for.",
        cause: "Conflicting pool settings or tags.",
        action: "Turn on only one of the two modes and recreate the node.",
        origin: "configureManagedGPUExperience",
        introduced: Since::On(date(2025, 12, 11)),
        ..ROW
    },
    ExitCode {
        number: 129,
        name: "ERR_DRA_DRIVER_START_FAIL",
        category: Category::Gpu,
        meaning: "The NVIDIA DRA driver service did not start. kubelet had already been started by \
            then.",
        cause: "A package or driver problem on the image, or the kubeconfig was not there yet.",
        action: "Read the service's journal on the node; turning DRA mode off gets the node up.",
        origin: "startNvidiaManagedExpServices",
        introduced: Since::On(date(2026, 7, 13)),
        ..ROW
    },
    ExitCode {
        number: 130,
        name: "ERR_SWAP_CREATE_FAIL",
        category: Category::Disk,
        owner: Owner::Operator,
        transient: Transient::No,
        meaning: "The swap file could not be allocated, formatted, enabled or made permanent.",
        cause: "The disk is full, the file system does not support swap files, or /etc/fstab \
            cannot be written.",
        action: "Reduce swapFileSizeMB in the pool's linuxOSConfig, or use a bigger disk.",
        origin: "configureSwapFile, reconcileSwapFilePersistence",
        introduced: Since::On(date(2022, 11, 3)),
        ..ROW
    },
    ExitCode {
        number: 131,
        name: "ERR_SWAP_CREATE_INSUFFICIENT_DISK_SPACE",
        category: Category::Disk,
        owner: Owner::Operator,
        transient: Transient::No,
        meaning: "Neither the temporary disk nor the OS disk has room for the swap file that the \
            pool asks for.",
        cause: "swapFileSizeMB is too large for the VM size or the OS disk.",
        action: "Lower swapFileSizeMB in the pool's linuxOSConfig, or grow the OS disk.",
        origin: "configureSwapFile",
        introduced: Since::On(date(2022, 11, 3)),
        ..ROW
    },
    ExitCode {
        number: 153,
        name: "ERR_ARTIFACT_STREAMING_INSTALL",
        category: Category::Containerd,
        meaning: "The artifact streaming services (acr-mirror, overlaybd) could not be enabled, or \
            containerd did not answer first.",
        cause: "The streaming packages are missing or broken on the image, or containerd is slow.",
        action: "Turn artifact streaming off on the pool, or change the image version.",
        origin: "ensureArtifactStreaming",
        introduced: Since::On(date(2023, 10, 3)),
        ..ROW
    },
    ExitCode {
        number: 161,
        name: "ERR_UPDATE_CA_CERTS",
        category: Category::Config,
        owner: Owner::Operator,
        transient: Transient::No,
        meaning: "A CA certificate given by the user (HTTP proxy CA or custom CA trust) could not \
            be decoded or installed into the OS trust store.",
        cause: "trustedCa or customCATrustCertificates is not valid base64 or PEM, or the OS tool \
            that updates the trust store failed.",
        action: "Check every certificate with `openssl x509 -noout -text` and apply the corrected \
            setting again.",
        origin: "configureHTTPProxyCA, configureCustomCaCertificate",
        introduced: Since::On(date(2022, 9, 14)),
        ..ROW
    },
    ExitCode {
        number: 169,
        name: "ERR_SECURE_TLS_BOOTSTRAP_CLIENT_DOWNLOAD_ERROR",
        category: Category::Outbound,
        owner: Owner::Operator,
        meaning: "A custom URL for the secure TLS bootstrap client was given, and the client could \
            not be downloaded from it or installed.",
        cause: "The custom URL is wrong or its host is blocked. The setting is a development \
            feature.",
        action: "Remove the custom URL.",
        origin: "installSecureTLSBootstrapClient",
        introduced: Since::On(date(2025, 5, 7)),
        ..ROW
    },
    ExitCode {
        number: 172,
        name: "ERR_DISABLE_SSH",
        category: Category::Config,
        meaning: "SSH was to be off, but the ssh or sshd service could not be stopped or disabled.",
        cause: "A systemd problem on the node. Hard to meet in practice, because the helper \
            swallows most failures.",
        action: "Recreate the node; if it repeats, look at the state of the ssh unit on the image.",
        origin: "disableSSH",
        introduced: Since::On(date(2023, 1, 19)),
        ..ROW
    },
    ExitCode {
        number: 178,
        name: "ERR_CONFIG_PUBKEY_AUTH_SSH",
        category: Category::Config,
        transient: Transient::No,
        meaning: "sshd could not be reconfigured to refuse public keys: the service start, the \
            configuration test or the reload failed.",
        cause: "A broken sshd_config or sshd unit on the image.",
        action: "Run `sshd -t` on the node. Dropping the setting that turns public key login off \
            confirms it and gets nodes up.",
        origin: "disableSSHPubkeyAuth",
        introduced: Since::On(date(2025, 9, 29)),
        ..ROW
    },
    ExitCode {
        number: 202,
        name: "ERR_SNAPSHOT_UPDATE_START_FAIL",
        category: Category::Config,
        meaning: "The snapshot update timer could not be queued or enabled. This runs after \
            kubelet was started.",
        cause: "The unit is missing: an old image with newer scripts.",
        action: "Check whether the node has joined in spite of the report; use an image that \
            matches the scripts.",
        origin: "ensureSnapshotUpdate",
        introduced: Since::On(date(2023, 10, 25)),
        ..ROW
    },
    ExitCode {
        number: 204,
        name: "ERR_K8S_INSTALL_ERR",
        category: Category::Package,
        owner: Owner::Operator,
        transient: Transient::No,
        meaning: "kubelet and kubectl could not be unpacked or put in place, the OS has no way to \
            install them from packages, or (ACL) the system extension policy could not be masked.",
        cause: "A damaged archive or one with an unexpected layout, a full disk, or an OS that the \
            scripts do not support.",
        action: "Check a custom Kubernetes binary URL, if one is set, and the free disk space; \
            then try without custom settings.",
        origin: "extractKubeBinariesToOptBin, configureKubeletAndKubectl, ACL \
            installKubeletKubectlFromPkg",
        introduced: Since::On(date(2024, 1, 12)),
        ..ROW
    },
    ExitCode {
        number: 205,
        name: "ERR_CREDENTIAL_PROVIDER_DOWNLOAD_TIMEOUT",
        category: Category::Outbound,
        owner: Owner::Network,
        meaning: "The ACR credential provider is not on the image and could not be downloaded or \
            installed, from its URL or the package repository.",
        cause: "packages.aks.azure.com or packages.microsoft.com is blocked, or the version is not \
            published.",
        action: "Test HTTPS to both hosts from the node's subnet. An image that carries the \
            provider needs neither.",
        origin: "downloadCredentialProvider, installCredentialProviderFromPkg",
        introduced: Since::On(date(2024, 4, 13)),
        ..ROW
    },
    ExitCode {
        number: 206,
        name: "ERR_CNI_VERSION_INVALID",
        category: Category::Image,
        transient: Transient::No,
        meaning: "The reference CNI plug-ins that should be on the image are missing, or their \
            version entry cannot be used.",
        cause: "A defective image, or an image that does not match the scripts.",
        action: "Give new nodes another image: `az aks nodepool rollback` in an AKS node pool; with \
            Karpenter another imageFamily, or spec.versions where the AKSNodeClass has it. Report \
            the image.",
        origin: "installCNILegacy",
        introduced: Since::On(date(2024, 7, 25)),
        ..ROW
    },
    ExitCode {
        number: 207,
        name: "ERR_ORAS_PULL_K8S_FAIL",
        category: Category::Registry,
        owner: Owner::Operator,
        meaning: "Network-isolated cluster: the kubernetes-node artifact could not be pulled with \
            oras from the bootstrap registry (up to 119 tries of 60 seconds).",
        cause: "The registry lacks the cache rule or the tag, private link or DNS to the \
            registry's data endpoint is broken, or the token has no right to pull.",
        action: "Run `oras pull` of the reference named in Output from the node's subnet; check \
            the registry's AKS cache rule and both of its private endpoints.",
        origin: "extractKubeBinaries (registry URL)",
        introduced: Since::On(date(2024, 9, 4)),
        ..ROW
    },
    ExitCode {
        number: 208,
        name: "ERR_ORAS_PULL_CREDENTIAL_PROVIDER",
        category: Category::Registry,
        owner: Owner::Operator,
        meaning: "Network-isolated cluster: the credential provider artifact could not be pulled \
            with oras from the bootstrap registry, or its version could not be worked out.",
        cause: "The registry lacks the cache rule or the tag, private link or DNS to the \
            registry's data endpoint is broken, or the token has no right to pull.",
        action: "Run `oras pull` of the reference named in Output from the node's subnet; check \
            the registry's AKS cache rule and both of its private endpoints.",
        origin: "downloadCredentialProvider, \
            installCredentialProviderPackageFromBootstrapProfileRegistry",
        introduced: Since::On(date(2025, 2, 24)),
        ..ROW
    },
    ExitCode {
        number: 210,
        name: "ERR_ORAS_IMDS_TIMEOUT",
        category: Category::Imds,
        owner: Owner::Platform,
        meaning: "Network-isolated cluster: IMDS gave no answer at all when the node asked for the \
            kubelet identity's token (5 tries of 60 seconds, 15 seconds apart).",
        cause: "IMDS cannot be reached from the node. Rare: when curl gets no answer it prints \
            000, and the scripts then report 212.",
        action: "Recreate the node. If it repeats, look for routes, firewalls or software on the \
            node that touch 169.254.169.254.",
        origin: "retrycmd_get_aad_access_token",
        introduced: Since::On(date(2025, 3, 29)),
        ..ROW
    },
    ExitCode {
        number: 211,
        name: "ERR_ORAS_PULL_NETWORK_TIMEOUT",
        category: Category::Registry,
        owner: Owner::Network,
        meaning: "Network-isolated cluster: ten times running, the bootstrap registry gave an \
            answer other than success or 'unauthorized', or its token exchange gave an empty body. \
            On images without Mooring's agent a missing oras binary also ends as 211, within a \
            second or so.",
        cause: "Private link, private DNS, a firewall or a proxy stands between the node and the \
            bootstrap registry; or the image lacks the oras binary (known case: AzureLinux V3 \
            202601.27.0).",
        action: "Read the end of Output. 'command not found' after 'unexpected response from acr' \
            means that oras is missing: change the image, the network is not at fault. Otherwise \
            run `curl -v https://<registry>/v2/` from the node's subnet and check the registry's \
            private endpoints.",
        origin: "oras_login_with_kubelet_identity (retrycmd_can_oras_ls_acr_anonymously, \
            retrycmd_get_refresh_token_for_oras)",
        introduced: Since::On(date(2025, 2, 8)),
        aks_names: &[
            "VMExtensionError_OrasPullNetworkTimeout",
            "OrasPullNetworkTimeoutVMExtensionError",
        ],
        doc_url: Some(learn!("vmextensionerror-oraspullnetworktimeout")),
        ..ROW
    },
    ExitCode {
        number: 212,
        name: "ERR_ORAS_PULL_UNAUTHORIZED",
        category: Category::Identity,
        owner: Owner::Operator,
        meaning: "Network-isolated cluster: the kubelet identity could not be turned into a \
            registry login. IMDS refused the token, the registry refused the exchange, the token \
            may not read, or `oras login` failed three times.",
        cause: "The kubelet identity lacks AcrPull on the bootstrap registry, is not assigned to \
            the VM, or has a wrong client or tenant id; the role assignment is still spreading; or \
            IMDS failed (also when unreachable: curl prints 000).",
        action: "Check that the identity is attached to the VM and has AcrPull on the bootstrap \
            registry; read the HTTP code in Output.",
        origin: "oras_login_with_kubelet_identity",
        introduced: Since::On(date(2025, 2, 8)),
        aks_names: &[
            "VMExtensionError_OrasPullUnauthorized",
            "OrasPullUnauthorizedVMExtensionError",
        ],
        doc_url: Some(learn!("vmextensionerror-oraspullunauthorized")),
        ..ROW
    },
    ExitCode {
        number: 213,
        name: "ERR_LOOKUP_DISABLE_KUBELET_SERVING_CERTIFICATE_ROTATION_TAG",
        category: Category::Imds,
        owner: Owner::Platform,
        meaning: "The VM's tag that decides on kubelet serving certificate rotation could not be \
            read.",
        cause: "The saved copy of the IMDS answer is missing, or jq cannot read it.",
        action: "Recreate the node; if it repeats, check IMDS from the node: `curl -H \
            Metadata:true --noproxy '*' \
            'http://169.254.169.254/metadata/instance?api-version=2021-02-01'`.",
        origin: "configureKubeletServing",
        introduced: Since::On(date(2024, 9, 12)),
        ..ROW
    },
    ExitCode {
        number: 216,
        name: "ERR_LOCALDNS_FAIL",
        category: Category::Dns,
        owner: Owner::Operator,
        meaning: "The local DNS cache (localdns) could not be configured or started. Every failure \
            of its script shows as this code.",
        cause: "The pool's localdns profile gives a missing or invalid Corefile, the coredns \
            binary is missing on the image, the upstream DNS servers cannot be used, or iptables \
            fails.",
        action: "Read `journalctl -u localdns` on the node. Turning LocalDNS off on the pool \
            confirms it; then check its profile and the image version.",
        origin: "enableLocalDNS",
        introduced: Since::On(date(2025, 4, 7)),
        ..ROW
    },
    ExitCode {
        number: 220,
        name: "ERR_SECURE_TLS_BOOTSTRAP_ENABLE_FAILURE",
        category: Category::Identity,
        meaning: "The secure TLS bootstrap unit could not be enabled. Until 2026-06-09 the same \
            number meant that it could not be started.",
        cause: "The unit is missing on the image.",
        action: "Use an image that ships the secure TLS bootstrap client.",
        origin: "configureAndEnableSecureTLSBootstrapping",
        introduced: Since::On(date(2026, 6, 9)),
        ..ROW
    },
    ExitCode {
        number: 223,
        name: "ERR_CLOUD_INIT_FAILED",
        category: Category::Config,
        owner: Owner::Operator,
        meaning: "cloud-init ended with its fatal status. The bootstrap stops before its main \
            script, so the report holds no JSON.",
        cause: "Malformed custom data, a data source or IMDS failure at boot, or a failing \
            cloud-init module.",
        action: "Run `cloud-init status --long` and read /var/log/cloud-init.log on the node; \
            check the custom data's size and form; recreate the node once.",
        origin: "cse_cmd.sh / cloud-init-status-check.sh",
        introduced: Since::On(date(2025, 6, 10)),
        ..ROW
    },
    ExitCode {
        number: 224,
        name: "ERR_NVIDIA_DRIVER_INSTALL",
        category: Category::Gpu,
        owner: Owner::Operator,
        meaning: "It could not be decided whether to install NVIDIA drivers, or a GRID v20 driver \
            was asked for on an OS that has none.",
        cause: "An RTX PRO 6000 (grid-v20) size used with Azure Linux or ACL, or the lookup of a \
            VM tag failed.",
        action: "Use Ubuntu for that VM size. With any other size recreate the node.",
        origin: "nodePrep; downloadGPUDrivers; installGPUDriverSysext",
        introduced: Since::On(date(2025, 7, 24)),
        ..ROW
    },
    ExitCode {
        number: 227,
        name: "ERR_MANAGED_NVIDIA_EXP_INSTALL_FAIL",
        category: Category::Gpu,
        transient: Transient::No,
        meaning: "A managed GPU package that should be in the image's cache is not there.",
        cause: "The image has no cached managed GPU packages.",
        action: "Use an image version that carries them, or turn the managed GPU experience off.",
        origin: "installNvidiaManagedExpPkgFromCache",
        introduced: Since::On(date(2025, 10, 10)),
        ..ROW
    },
    ExitCode {
        number: 229,
        name: "ERR_NVIDIA_DCGM_EXPORTER_FAIL",
        category: Category::Gpu,
        meaning: "Starting the managed NVIDIA services failed.",
        cause: "A service other than the device plug-in failed (the device plug-in reports 86 \
            itself).",
        action: "Read the journals of the nvidia services on the node; turning the managed GPU \
            experience off gets the node up.",
        origin: "configureManagedGPUExperience",
        introduced: Since::On(date(2025, 10, 10)),
        ..ROW
    },
    ExitCode {
        number: 230,
        name: "ERR_LOOKUP_ENABLE_MANAGED_GPU_EXPERIENCE_TAG",
        category: Category::Imds,
        owner: Owner::Platform,
        meaning: "The VM's tag that decides on the managed GPU experience could not be read.",
        cause: "The saved copy of the IMDS answer is missing or unreadable.",
        action: "Recreate the node; if it repeats, check IMDS from the node.",
        origin: "nodePrep",
        introduced: Since::On(date(2025, 10, 10)),
        ..ROW
    },
    ExitCode {
        number: 231,
        name: "ERR_ORAS_PULL_SYSEXT_FAIL",
        category: Category::Registry,
        owner: Owner::Network,
        meaning: "Flatcar or ACL: a system extension (GPU driver or toolkit) could not be matched \
            or pulled with oras. From 2026-01-23 to 2026-04-06 the same number also meant that \
            IMDS could not be read, which is 234 today.",
        cause: "MCR or the registry is unreachable, or no tag is published for the OS version. On \
            images of early 2026 perhaps IMDS instead.",
        action: "Look at the image's date first: before 2026-04-06 consider 234 too. Then test \
            egress to mcr.microsoft.com and check that the tag exists.",
        origin: "installACLGPUSysext",
        introduced: Since::On(date(2026, 2, 17)),
        ..ROW
    },
    ExitCode {
        number: 232,
        name: "ERR_SYSEXT_VERSION_ID_NOT_FOUND",
        category: Category::Image,
        transient: Transient::No,
        meaning: "ACL: VERSION_ID is missing from /etc/os-release, so the tag of the GPU system \
            extension cannot be formed. The image's own scripts write 232 with this meaning since \
            2026-03-23. Mooring's agent also writes 232, for a missing oras binary; its report \
            then starts its Error with ERR_ORAS_BINARY_NOT_FOUND.",
        cause: "A defective ACL image with a GPU VM size.",
        action: "Read the report's Error. If it starts with ERR_ORAS_BINARY_NOT_FOUND, the oras \
            binary is missing: follow that page. Otherwise change the image version and report the \
            image.",
        origin: "getACLVersionID / installACLGPUSysext",
        introduced: Since::On(date(2026, 3, 23)),
        ..ROW
    },
    ExitCode {
        number: 233,
        name: "ERR_PULL_POD_INFRA_CONTAINER_IMAGE",
        category: Category::Registry,
        owner: Owner::Operator,
        meaning: "Network-isolated cluster: the pause image could not be named, copied with oras \
            from the bootstrap registry, or imported into containerd.",
        cause: "The bootstrap registry lacks the pause image or its cache rule, login or private \
            link is broken, or containerd does not answer.",
        action: "Run `oras cp` of the pause image from the node's subnet; check the registry's \
            cache rule; check containerd on the node.",
        origin: "ensurePodInfraContainerImage",
        introduced: Since::On(date(2026, 4, 6)),
        ..ROW
    },
    ExitCode {
        number: 234,
        name: "ERR_IMDS_FETCH_FAILED",
        category: Category::Imds,
        owner: Owner::Platform,
        meaning: "The VM's metadata could not be fetched from IMDS (curl, 20 retries 2 seconds \
            apart, 60 seconds at most), or was not JSON.",
        cause: "A host firewall or a route blocks IMDS, or the platform had a hiccup. A proxy \
            plays no part: the call bypasses it.",
        action: "Recreate the node. If it repeats, look for routes or software that touch \
            169.254.169.254.",
        origin: "fetch_and_cache_imds_instance_metadata",
        introduced: Since::On(date(2026, 4, 6)),
        ..ROW
    },
    ExitCode {
        number: 235,
        name: "ERR_NVIDIA_DCGM_INSTALL",
        category: Category::Gpu,
        meaning: "The managed GPU packages in the image's cache could not be installed.",
        cause: "A broken cached package, or a package manager lock.",
        action: "Recreate the node; then try another image version, or turn the managed GPU \
            experience off.",
        origin: "configureManagedGPUExperience",
        introduced: Since::On(date(2026, 4, 6)),
        ..ROW
    },
    ExitCode {
        number: 240,
        name: "ERR_AKS_NODE_CONTROLLER_ERROR",
        category: Category::Config,
        owner: Owner::Operator,
        transient: Transient::No,
        meaning: "aks-node-controller failed before it ran anything: the node config is missing or \
            unreadable, the command line names no input, a file that it needs from the image is \
            bad, or it crashed. No bootstrap script has run. Both the original agent and Mooring's \
            agent write 240.",
        cause: "The node config was not written to the node or has a version that the agent does \
            not know, or the image and the agent do not match.",
        action: "Read Error in the report: it names the file or field. Then check the custom data, \
            and /var/log/azure/aks-node-controller.log on the node.",
        origin: "aks-node-controller; the scripts only reserve the number",
        introduced: Since::On(date(2026, 1, 15)),
        ..ROW
    },
    ExitCode {
        number: 243,
        name: "ERR_SECONDARY_NIC_CONFIG_FAIL",
        category: Category::LocalNetwork,
        owner: Owner::Platform,
        meaning: "Secondary network interfaces that IMDS reports could not be configured: netplan, \
            networkctl or a restart of systemd-networkd failed.",
        cause: "The interface is not attached yet, IMDS's list of interfaces cannot be read, or \
            another netplan file is in conflict.",
        action: "Check that the NICs are attached to the VM, and read the netplan and \
            systemd-networkd logs on the node; recreate the node once.",
        origin: "configureSecondaryNICs",
        introduced: Since::On(date(2026, 6, 16)),
        ..ROW
    },
];

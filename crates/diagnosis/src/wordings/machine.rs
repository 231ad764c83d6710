//! Images, boot, other extensions, Cluster API, GPUs, the contract between image and bootstrap.

use mooring_codes::Owner;

use super::{About, Cause, Tier, Wording};
use crate::diagnose::ANOTHER_IMAGE;
use crate::diagnosis::Confidence;
use crate::stage::Stage;

static GENERATION: Cause = Cause {
    reason: "HypervisorGenerationMismatch",
    stage: Stage::Launch,
    owner: Owner::Operator,
    summary: "The VM size cannot boot an image of this hypervisor generation: newer sizes are generation 2 only, some old ones \
        generation 1 only.",
    actions: &[
        "Choose a VM size that supports the generation in the quoted line, or an OS SKU whose image has the size's generation.",
        "List both: `az vm list-skus --location <region> --size <size> --query \"[].capabilities[?name=='HyperVGenerations']\"`.",
    ],
};

static IMAGE_NOT_FOUND: Cause = Cause {
    reason: "ImageNotFound",
    stage: Stage::Launch,
    owner: Owner::Image,
    summary: "The image that the VM shall be created from does not exist, or not in this region.",
    actions: &[
        "Check the image's name, version and region in the quoted line: `az sig image-version list-community`.",
        "Use a version that is replicated to the region, or have the image's owner replicate it.",
    ],
};

static IMAGE_NOT_PREPARED: Cause = Cause {
    reason: "ImageNotPrepared",
    stage: Stage::Boot,
    owner: Owner::Image,
    summary: "The VM booted and its agent runs, but the operating system did not provision itself: the image was not generalized, or \
        provisioning failed in it.",
    actions: &[
        "Use a stock AKS image; generalize an own image (`waagent -deprovision`, Sysprep) before capturing it.",
        "Read cloud-init's or cloudbase-init's log on the VM, and the boot diagnostics.",
    ],
};

static CONTRACT: Cause = Cause {
    reason: "ImageContractMismatch",
    stage: Stage::Bootstrap,
    owner: Owner::Image,
    summary: "The node image and what bootstraps the node do not fit together: scripts, files or flags that one expects and the other \
        does not have.",
    actions: &[
        "Compare both versions: an image that is newer than Karpenter or the provider needs a newer provider, and the other way round.",
        ANOTHER_IMAGE,
    ],
};

static CAPI: Cause = Cause {
    reason: "ClusterApiBootstrapFailed",
    stage: Stage::Bootstrap,
    owner: Owner::Operator,
    summary: "Cluster API's bootstrap extension found no sign that the node's cloud-init succeeded within its time: kubeadm failed, or a \
        command before it. The extension itself only waits.",
    actions: &[
        "Read /var/log/cloud-init-output.log on the VM (C:\\Program Files\\Cloudbase Solutions\\Cloudbase-Init\\log on Windows).",
        "Check that the image has the Kubernetes version that the Machine asks for, and that the node reaches the API server.",
    ],
};

static KUBEADM: Cause = Cause {
    reason: "KubeadmJoinFailed",
    stage: Stage::Register,
    owner: Owner::Operator,
    summary: "kubeadm could not join the node to the cluster. Its quoted line names the step that failed.",
    actions: &[
        "For discovery errors create a new token: `kubeadm token create --print-join-command`; Cluster API does so for a new Machine.",
        "Check from the node that the API server's address is reached, and read `journalctl -u kubelet`.",
        "For preflight errors correct what the list names, or run `kubeadm reset` on a machine that was joined before.",
    ],
};

static GPU: Cause = Cause {
    reason: "GpuNotUsable",
    stage: Stage::Ready,
    owner: Owner::Image,
    summary: "The node's GPU driver or container toolkit does not work, so its GPUs are not offered to pods.",
    actions: &[
        "On the node run `nvidia-smi`, and read `journalctl -u nvidia-cdi-refresh` and the device plugin's log.",
        "Recreate the node; if it repeats, use another node image or driver version.",
    ],
};

pub(super) static OTHER_EXTENSION: Cause = Cause {
    reason: "OtherExtensionFailed",
    stage: Stage::Bootstrap,
    owner: Owner::Operator,
    summary: "An extension of the VM that is not the node's bootstrap failed. AKS then reports the node or the pool as failed.",
    actions: &[
        "Read the extension's name and message in the quoted line, and its log in /var/log/azure on the node.",
        "Find what installs it: an Azure Policy, Defender or monitoring; AKS nodes do not support foreign extensions. Remove it there.",
        "If the extension is AKS's own, recreate the node, and open a support case if that repeats.",
    ],
};

const NOT_THERE: &[&str] = &[
    "no such file or directory",
    "command not found",
    "not found",
    "does not exist",
    "cannot open",
    "could not be found",
];

pub(super) static WORDINGS: &[Wording] = &[
    Wording {
        name: "hypervisor-generation",
        cause: &GENERATION,
        phrases: &[
            "cannot boot hypervisor generation",
            "hypervisor generation of the image matches",
            "does not support hypervisor generation",
            "does not match the hypervisor generation",
        ],
        ..Wording::ANY
    },
    Wording {
        name: "image-not-found",
        cause: &IMAGE_NOT_FOUND,
        phrases: &[
            "please contact image owner to replicate",
            "no vm image found for publisher",
            "the platform image",
            "the gallery image",
            "image version not found",
            "galleryimagenotfound",
            "platformimagenotfound",
            "imageversionnotfound",
            "sharedgalleryimagenotfound",
            "communitygalleryimagenotfound",
        ],
        near: &[&[
            "not available",
            "not found",
            "is not available in",
            "no vm image found",
            "galleryimagenotfound",
            "platformimagenotfound",
            "imageversionnotfound",
            "sharedgalleryimagenotfound",
            "communitygalleryimagenotfound",
        ]],
        about: About::Machines,
        ..Wording::ANY
    },
    Wording {
        name: "image-not-found-named",
        cause: &IMAGE_NOT_FOUND,
        phrases: &[
            "galleryimagenotfound",
            "sharedgalleryimagenotfound",
            "communitygalleryimagenotfound",
            "platformimagenotfound",
        ],
        ..Wording::ANY
    },
    Wording {
        name: "image-not-prepared",
        cause: &IMAGE_NOT_PREPARED,
        phrases: &[
            "guest os has not been properly prepared",
            "vm guest agent was detected running",
        ],
        ..Wording::ANY
    },
    Wording {
        name: "contract-removed-flag",
        cause: &CONTRACT,
        phrases: &[
            "unknown flag: --pod-infra-container-image",
            "unknown flag: --container-runtime",
        ],
        codes: &[34, 215],
        ..Wording::ANY
    },
    Wording {
        name: "contract-missing-script",
        cause: &CONTRACT,
        phrases: &[
            "provision_start.sh",
            "provision_source.sh",
            "provision_installs.sh",
            "provision_configs.sh",
            "/opt/azure/containers/provision.sh",
            "cse_helpers.sh",
            "aks-node-controller",
            "/opt/azure/containers/",
            "/opt/azure/manifest.json",
            "/opt/azure/components.json",
            "secure-tls-bootstrap",
        ],
        near: &[NOT_THERE],
        without: &["oras: command not found", "enable succeeded", "command not found: oras"],
        about: About::NodeLog,
        codes: &[127, 1, 2],
        confidence: Confidence::Medium,
        ..Wording::ANY
    },
    Wording {
        name: "contract-unbound-variable",
        cause: &CONTRACT,
        phrases: &["unbound variable"],
        near: &[&["provision_", "/opt/azure/containers", "cse_", "provision.sh"]],
        codes: &[1, 127, 215, 2],
        confidence: Confidence::Medium,
        ..Wording::ANY
    },
    Wording {
        name: "contract-unset-variables",
        cause: &CONTRACT,
        phrases: &["one or more required variables are not set"],
        near: &[&["kubelet", "bash[", "imds restriction"]],
        confidence: Confidence::Medium,
        ..Wording::ANY
    },
    Wording {
        name: "contract-traceback",
        cause: &CONTRACT,
        phrases: &["provision_redact_cloud_config.py", "provision_redact_cloud"],
        near: &[&["traceback", "file \"", "line "]],
        codes: &[215],
        confidence: Confidence::Medium,
        ..Wording::ANY
    },
    Wording {
        name: "contract-unsupported-config",
        cause: &CONTRACT,
        phrases: &[
            "unsupported version of the node config",
            "unsupported contract version",
            "unknown field in nodeconfig",
            "unsupported config version",
            "unknown command \"provision\"",
            "unsupported bootstrap config",
        ],
        about: About::NodeLog,
        codes: &[240],
        ..Wording::ANY
    },
    Wording {
        name: "contract-unknown-field",
        cause: &CONTRACT,
        phrases: &["unknown field", "failed to unmarshal", "unsupported version"],
        near: &[&["node config", "nodeconfig", "aksnodeconfig", "node-config", "aksnodeconfigv1"]],
        about: About::NodeLog,
        confidence: Confidence::Medium,
        ..Wording::ANY
    },
    Wording {
        name: "cluster-api-extension",
        cause: &CAPI,
        phrases: &[
            "capz.linux.bootstrapping",
            "capz.windows.bootstrapping",
            "bootstrap-success.complete",
            "kubernetes node bootstrapping process failed or timed out",
        ],
        ..Wording::ANY
    },
    Wording {
        name: "cluster-api-condition",
        cause: &CAPI,
        phrases: &["bootstrapfailed"],
        also: &[&["azuremachine", "azuremachinepool", "bootstrapsucceeded", "machinedeployment"]],
        confidence: Confidence::Medium,
        ..Wording::ANY
    },
    Wording {
        name: "kubeadm-phase",
        cause: &KUBEADM,
        phrases: &[
            "error execution phase preflight",
            "error execution phase kubelet-",
            "error execution phase control-plane-",
            "error execution phase check-etcd",
            "error execution phase wait-control-plane",
            "couldn't validate the identity of the api server",
            "could not find a jws signature in the cluster-info configmap",
        ],
        ..Wording::ANY
    },
    Wording {
        name: "kubeadm-join",
        cause: &KUBEADM,
        phrases: &[
            "failed to request cluster-info, will try again",
            "failed to request cluster info, will try again",
            "[preflight] some fatal errors occurred",
            "[kubelet-check] it seems like the kubelet isn't running or healthy",
            "error: timed out waiting for the condition",
            "the kubelet is not healthy after",
            "kubeadm join failed",
            "failed to run kubeadm",
        ],
        also: &[&["kubeadm", "[preflight]", "[discovery]", "[kubelet-check]", "phase preflight"]],
        ..Wording::ANY
    },
    Wording {
        name: "gpu",
        cause: &GPU,
        phrases: &[
            "couldn't communicate with the nvidia driver",
            "failed to initialize nvml",
            "could not load nvml library",
            "unresolvable cdi devices",
            "failed to inject cdi devices",
            "invalid device, empty device edits",
            "failed to generate cdi spec",
            "no devices found. waiting indefinitely",
            "nvidia-container-cli: initialization error",
            "nvidia-container-cli: ldcache error",
            "nvidia-cdi-refresh",
            "nvidia-ctk cdi generate",
            "modprobe: fatal: module nvidia not found",
            "nvidia driver installation failed",
        ],
        without: &["required key not available", "inforom is corrupted"],
        codes: &[84, 85],
        ..Wording::ANY
    },
    Wording {
        name: "os-provisioning-timed-out",
        cause: &OS_PROVISIONING,
        phrases: &[
            "did not finish in the allotted time",
            "osprovisioningtimedout",
            "osprovisioningclienterror",
            "osprovisioninginternalerror",
            "vmstarttimedout",
        ],
        tier: Tier::Symptom,
        without: &["vm guest agent was detected running"],
        about: About::Machines,
        confidence: Confidence::Medium,
        ..Wording::ANY
    },
];

static OS_PROVISIONING: Cause = Cause {
    reason: "VmAgentSilent",
    stage: Stage::Boot,
    owner: Owner::Platform,
    summary: "The operating system did not report within its time that it was provisioned: the VM did not boot, its agent does not run, or \
        it cannot reach 168.63.129.16.",
    actions: &[
        "Look at the VM's boot diagnostics and serial console.",
        "Recreate the node; if it repeats, check rules that block 168.63.129.16, and the image.",
    ],
};

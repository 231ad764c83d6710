//! Sources of binaries.

use crate::node_config::schema::message;

message! {
    pub struct KubeBinaryConfig = "KubeBinaryConfig" {
        1 kube_binary_url "kubeBinaryUrl": String,
        /// Tarball URL chosen by the customer
        2 custom_kube_binary_url "customKubeBinaryUrl": String,
        /// Tarball URL of a privately cached build
        3 private_kube_binary_url "privateKubeBinaryUrl": String,
        /// Full reference of the pause image, used only in the containerd config
        4 pod_infra_container_image_url "podInfraContainerImageUrl": String,
        /// Tarball URL of the ACR credential provider
        5 linux_credential_provider_url "linuxCredentialProviderUrl": String,
    }
}

message! {
    pub struct RuncConfig = "RuncConfig" {
        1 runc_version "runcVersion": String,
        2 runc_package_url "runcPackageUrl": String,
    }
}

message! {
    pub struct ContainerdConfig = "ContainerdConfig" {
        1 containerd_download_url_base "containerdDownloadUrlBase": String,
        /// Version to install; does NOT choose the config template, the installed binary does
        2 containerd_version "containerdVersion": String,
        3 containerd_package_url "containerdPackageUrl": String,
    }
}

message! {
    pub struct GpuConfig = "GpuConfig" {
        /// Treat as NVIDIA node; unset counts as false (upstream comment about a SKU default is not implemented)
        1 enable_nvidia "enableNvidia": Option<bool>,
        2 config_gpu_driver "configGpuDriver": bool,
        /// Enable the device plugin on GPU images
        3 gpu_device_plugin "gpuDevicePlugin": bool,
        /// MIG profile; non-empty marks a MIG node
        4 gpu_instance_profile "gpuInstanceProfile": String,
        /// AMD counterpart; parsed, no effect
        5 enable_amd_gpu "enableAmdGpu": Option<bool>,
        6 managed_gpu_experience_afec_enabled "managedGpuExperienceAfecEnabled": bool,
        7 enable_managed_gpu "enableManagedGpu": bool,
        8 mig_strategy "migStrategy": String,
        9 mig_profile_layout "migProfileLayout": Vec<String>,
        10 enable_managed_gpu_dra "enableManagedGpuDra": bool,
    }
}

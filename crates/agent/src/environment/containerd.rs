//! containerd's config file, in the layout of the installed containerd.
//!
//! Two files are always written, with and without GPUs; the scripts choose.
//! Nothing from the config is escaped, and lines are only ever added, never merged. Quirk kept: Kata
//! together with artifact streaming repeats keys and the `[proxy_plugins]` header, which no TOML
//! reader accepts.

use mooring_contract::NodeConfig;
use mooring_contract::node_config::OrUnset as _;

use crate::environment::go::{self, Version};
use crate::environment::{Environment, config};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContainerdLayout {
    /// Before 2.0, and whenever the version is not known.
    One,
    /// 2.0 or later.
    Two,
}

impl ContainerdLayout {
    /// From what `containerd --version` wrote on its standard output; `None` if it could not be
    /// run. The config's own `containerd_version` plays no role.
    pub fn detect(version_output: Option<&[u8]>) -> Self {
        // Bytes that are not UTF-8 are neither white space nor part of a version.
        let output = String::from_utf8_lossy(version_output.unwrap_or_default());
        let version = output.split_whitespace().nth(2).and_then(release);
        match version.and_then(Version::parse) {
            Some(version) if version.is_at_least(2, 0, 0) => Self::Two,
            _ => Self::One,
        }
    }
}

/// The numbers of a version word: `v2.3.2-1` is `2.3.2`. Thereby a 2.0 beta counts as 2.0.
fn release(word: &str) -> Option<&str> {
    let word = word.strip_prefix('v').unwrap_or(word);
    let numbers = word.split_once('-').map_or(word, |(numbers, _)| numbers);
    let is_number = |group: &str| !group.is_empty() && group.bytes().all(|b| b.is_ascii_digit());
    let groups = numbers.split('.').count();
    (groups == 3 && numbers.split('.').all(is_number)).then_some(numbers)
}

pub(super) fn variables(config: &NodeConfig, flavour: ContainerdLayout, out: &mut Environment) {
    let with_gpu = File { config, flavour, knows_gpu: true };
    let without = File { config, flavour, knows_gpu: false };
    out.file("CONTAINERD_CONFIG_CONTENT", &with_gpu.render())
        .file("CONTAINERD_CONFIG_NO_GPU_CONTENT", &without.render());
}

const CRI: &str = r#"plugins."io.containerd.grpc.v1.cri""#;
const IMAGES: &str = r#"plugins."io.containerd.cri.v1.images""#;
const RUNTIME: &str = r#"plugins."io.containerd.cri.v1.runtime""#;

/// Quirk kept: both layouts use the name of the first.
const KATA_RUNTIMES: &str = r#"plugins."io.containerd.grpc.v1.cri".containerd.runtimes"#;

struct File<'a> {
    config: &'a NodeConfig,
    flavour: ContainerdLayout,
    knows_gpu: bool,
}

impl File<'_> {
    fn render(&self) -> String {
        let body = match self.flavour {
            ContainerdLayout::One => self.body_one(),
            ContainerdLayout::Two => self.body_two(),
        };
        self.head() + &body + &self.tail() + &only_if(self.config.is_kata, || self.kata())
    }

    fn head(&self) -> String {
        let root = &self.config.kubelet_config.or_unset().container_data_dir;
        let root = only_if(!root.is_empty(), || format!("root = \"{root}\"\n"));
        let erofs = if self.config.is_kata { EROFS } else { "" };
        format!("version = 2\noom_score = -999\n{root}{erofs}")
    }

    fn body_one(&self) -> String {
        let sandbox = self.sandbox_image();
        let cdi = if self.knows_gpu { "  enable_cdi = true\n" } else { "" };
        let kata = if self.config.is_kata {
            "    disable_snapshot_annotations = false\n    snapshotter = \"overlayfs\"\n"
        } else {
            ""
        };
        let streaming = if self.config.enable_artifact_streaming {
            "    snapshotter = \"overlaybd\"\n    disable_snapshot_annotations = false\n"
        } else {
            ""
        };
        let runtimes = self.runtimes(CRI, self.config.needs_cgroupv2.unwrap_or_default());
        let bridge = self.bridge(CRI);
        let registry = self.registry(CRI);
        format!(
            "[{CRI}]\n  sandbox_image = \"{sandbox}\"\n{cdi}\
             \x20 [{CRI}.containerd]\n{kata}{streaming}{runtimes}{bridge}{registry}"
        )
    }

    fn body_two(&self) -> String {
        let sandbox = self.sandbox_image();
        let streaming = if self.config.enable_artifact_streaming {
            "  snapshotter = \"overlaybd\"\n  disable_snapshot_annotations = false\n"
        } else {
            ""
        };
        let registry = self.registry(IMAGES);
        let runtimes = self.runtimes(RUNTIME, true);
        let bridge = self.bridge(RUNTIME);
        format!(
            "[{IMAGES}]\n{streaming}  [{IMAGES}.pinned_images]\n    sandbox = \"{sandbox}\"\n\
             {registry}[{RUNTIME}.containerd]\n{runtimes}{bridge}"
        )
    }

    fn sandbox_image(&self) -> &str {
        &self.config.kube_binary_config.or_unset().pod_infra_container_image_url
    }

    fn runtimes(&self, table: &str, systemd_cgroup: bool) -> String {
        let nvidia = self.config.gpu_config.or_unset().enable_nvidia.unwrap_or_default();
        let name = if self.knows_gpu && nvidia { "nvidia-container-runtime" } else { "runc" };
        let cgroup = if systemd_cgroup { "      SystemdCgroup = true\n" } else { "" };
        let runtimes = format!("{table}.containerd.runtimes");
        format!(
            "    default_runtime_name = \"{name}\"
    [{runtimes}.{name}]
      runtime_type = \"io.containerd.runc.v2\"
    [{runtimes}.{name}.options]
      BinaryName = \"/usr/bin/{name}\"
{cgroup}    [{runtimes}.untrusted]
      runtime_type = \"io.containerd.runc.v2\"
    [{runtimes}.untrusted.options]
      BinaryName = \"/usr/bin/{name}\"
"
        )
    }

    fn bridge(&self, table: &str) -> String {
        only_if(config::has_promiscuous_bridge(self.config), || {
            format!(
                "  [{table}.cni]
    bin_dir = \"/opt/cni/bin\"
    conf_dir = \"/etc/cni/net.d\"
    conf_template = \"/etc/containerd/kubenet_template.conf\"
"
            )
        })
    }

    fn registry(&self, table: &str) -> String {
        let has_hosts = go::is_at_least(&self.config.kubernetes_version, 1, 22, 0);
        let hosts = only_if(has_hosts, || {
            format!("  [{table}.registry]\n    config_path = \"/etc/containerd/certs.d\"\n")
        });
        format!("{hosts}  [{table}.registry.headers]\n    X-Meta-Source-Client = [\"azure/aks\"]\n")
    }

    fn tail(&self) -> String {
        let streaming = if self.config.enable_artifact_streaming { OVERLAYBD } else { "" };
        format!("[metrics]\n  address = \"0.0.0.0:10257\"\n{streaming}")
    }

    fn kata(&self) -> String {
        let first = match self.flavour {
            ContainerdLayout::One => kata_one(),
            ContainerdLayout::Two => kata_two(),
        };
        // Quirk kept: of the four files, only this one lacks the confidential runtime.
        let lacks_confidential = self.flavour == ContainerdLayout::Two && !self.knows_gpu;
        first + &kata_preview() + &only_if(!lacks_confidential, kata_confidential)
    }
}

fn only_if(condition: bool, text: impl FnOnce() -> String) -> String {
    if condition { text() } else { String::new() }
}

const EROFS: &str = r#"[plugins."io.containerd.snapshotter.v1.erofs"]
  default_size = "10G"
  enable_fsverity = false
  ovl_mount_options = []

[plugins."io.containerd.service.v1.diff-service"]
  default = ["erofs", "walking"]

[plugins."io.containerd.differ.v1.erofs"]
  mkfs_options = ["-T0", "--mkfs-time", "--sort=none"]
  enable_tar_index = false
"#;

const OVERLAYBD: &str = r#"[proxy_plugins]
  [proxy_plugins.overlaybd]
    type = "snapshot"
    address = "/run/overlaybd-snapshotter/overlaybd.sock"
"#;

fn kata_one() -> String {
    format!(
        r#"[{KATA_RUNTIMES}.kata]
  runtime_type = "io.containerd.kata.v2"
  snapshotter = "overlayfs"
[{KATA_RUNTIMES}.katacli]
  runtime_type = "io.containerd.runc.v1"
[{KATA_RUNTIMES}.katacli.options]
  NoPivotRoot = false
  NoNewKeyring = false
  ShimCgroup = ""
  IoUid = 0
  IoGid = 0
  BinaryName = "/usr/bin/kata-runtime"
  Root = ""
  CriuPath = ""
  SystemdCgroup = false
"#
    )
}

fn kata_two() -> String {
    format!(
        r#"[{KATA_RUNTIMES}.kata]
  runtime_type = "io.containerd.kata.v2"
  privileged_without_host_devices = true
  snapshotter = "overlayfs"
  [{KATA_RUNTIMES}.kata.options]
    ConfigPath = "/usr/share/defaults/kata-containers/configuration.toml"
"#
    )
}

fn kata_preview() -> String {
    format!(
        r#"[{KATA_RUNTIMES}.kata-preview]
  runtime_type = "io.containerd.kata.v2"
  privileged_without_host_devices = true
  snapshotter = "erofs"
  [{KATA_RUNTIMES}.kata-preview.options]
    ConfigPath = "/usr/share/defaults/kata-containers/configuration-clh-preview.toml"
[proxy_plugins]
  [proxy_plugins.tardev]
    type = "snapshot"
    address = "/run/containerd/tardev-snapshotter.sock"
"#
    )
}

fn kata_confidential() -> String {
    let config = "/opt/confidential-containers/share/defaults/kata-containers";
    format!(
        r#"[{KATA_RUNTIMES}.kata-cc]
  snapshotter = "tardev"
  runtime_type = "io.containerd.kata-cc.v2"
  privileged_without_host_devices = true
  pod_annotations = ["io.katacontainers.*"]
  [{KATA_RUNTIMES}.kata-cc.options]
    ConfigPath = "{config}/configuration-clh-snp.toml"
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout_follows_the_version_printed_by_containerd() {
        use ContainerdLayout::{One, Two};
        for (output, flavour) in [
            (None, One),
            (Some(&b""[..]), One),
            (Some(b"containerd github.com/containerd/containerd"), One),
            (Some(b"containerd github.com/containerd/containerd v1.7.27 0504"), One),
            (Some(b"containerd github.com/containerd/containerd v2.0.4 0504\n"), Two),
            (Some(b"a\tb\n02.0.0"), Two),
            (Some("a\u{3000}b\u{85}2.0.0-rc.1".as_bytes()), Two),
            (Some(b"a b 18446744073709551616.0.0"), One),
            (Some(b"a b\xa02.0.0"), One),
            (Some(b"a \xff 10.0.0"), Two),
            (Some(b"2.0.0 2.0.0 1.9.9"), One),
        ] {
            assert_eq!(ContainerdLayout::detect(output), flavour, "{output:?}");
        }
    }
}

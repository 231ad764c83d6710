//! Files of a node image that a bootstrap reads. No I/O.

use super::ImageDefinition;

/// Steps of the scripts and their p50 in production, in seconds.
pub(crate) const STEPS: &[(&str, f64)] = &[
    ("holdWALinuxAgent", 0.5),
    ("fetch_and_cache_imds_instance_metadata", 0.3),
    ("orasLogin.oras_login_with_kubelet_identity", 1.8),
    ("installNetworkPlugin", 1.2),
    ("configureKubeletAndKubectl", 4.6),
    ("configureCNI", 0.4),
    ("ensureContainerd", 0.8),
    ("enableLocalDNS", 2.0),
    ("configureK8s", 0.5),
    ("outboundProbe", 0.6),
    ("ensureKubelet", 2.5),
    ("ensureNoDupOnPromiscuBridge", 0.7),
    ("configureNodeExporter", 1.6),
];

/// Commands of a healthy image, and their output.
const PROGRAMS: &[(&str, &str)] = &[
    ("oras", "echo 'Version: 1.2.0'"),
    ("containerd", "echo 'containerd github.com/containerd/containerd/v2 2.0.0 simulated'"),
    ("kubelet", "echo 'Kubernetes v1.33.6'"),
    ("jq", "exit 0"),
    ("systemctl", "exit 0"),
    ("curl", "exit 0"),
    ("logger", r#"echo "$(date -Ins) $*" >>"$AKS_NODE_ROOT/var/log/messages""#),
    ("hostname", r#"cat "$AKS_NODE_ROOT/etc/hostname""#),
];

/// Commands of this host that the scripts need; a node sees no others.
pub(crate) const BORROWED: &[&str] = &[
    "base64", "basename", "bash", "cat", "chmod", "date", "dirname", "env", "mkdir", "nohup", "od",
    "readlink", "sed", "sleep", "stat", "tail", "tee", "timeout", "touch", "tr", "uname",
];

const ORAS_PREFLIGHT: &str = include_str!("../../../../packaging/cse/oras_preflight.sh");
const SOURCE_ORAS_PREFLIGHT: &str = ". \"$AKS_NODE_ROOT/opt/azure/containers/oras_preflight.sh\"\n";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ImageFile {
    /// Path from the root.
    pub(crate) path: String,
    pub(crate) mode: u32,
    pub(crate) text: String,
}

impl ImageFile {
    fn program(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), mode: 0o755, text: text.into() }
    }

    pub(crate) fn plain(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { path: path.into(), mode: 0o644, text: text.into() }
    }
}

/// Returns the files of an image, for nodes that are `speed` times faster than in Azure.
pub(crate) fn files(version: &str, image: &ImageDefinition, speed: f64) -> Vec<ImageFile> {
    let containers = |name: &str| format!("opt/azure/containers/{name}");
    let mut files: Vec<ImageFile> = PROGRAMS
        .iter()
        .filter(|(name, _)| !image.lacks.iter().any(|lacking| lacking == name))
        .map(|(name, script)| {
            ImageFile::program(format!("usr/bin/{name}"), format!("#!/bin/bash\n{script}\n"))
        })
        .collect();
    files.extend([
        ImageFile::plain("etc/os-release", os_release(version)),
        ImageFile::plain("opt/azure/components.json", "{\"GPUContainerImages\": []}\n"),
        ImageFile::program(
            containers("aks-node-controller"),
            "#!/bin/bash\nexec \"$AGENT\" \"$@\"\n",
        ),
        ImageFile::program(
            containers("aks-node-controller-launcher.sh"),
            include_str!("../../../../packaging/aks-node-controller-launcher.sh"),
        ),
        ImageFile::program(containers("provision_preload.sh"), "#!/bin/bash\n"),
        ImageFile::program(
            containers("provision_start.sh"),
            include_str!("../../image/provision_start.sh"),
        ),
        ImageFile::program(containers("provision.sh"), include_str!("../../image/provision.sh")),
        ImageFile::plain(containers("steps"), steps(image, speed)),
        ImageFile::plain(containers("oras_preflight.sh"), ORAS_PREFLIGHT),
        ImageFile::plain(containers("provision_source.sh"), helpers(image)),
    ]);
    files
}

/// Returns the helpers of the scripts, which check oras if the image has that check.
fn helpers(image: &ImageDefinition) -> String {
    let check = if image.preflight { SOURCE_ORAS_PREFLIGHT } else { "" };
    format!("{}{check}", include_str!("../../image/provision_source.sh"))
}

fn os_release(version: &str) -> String {
    format!(
        "NAME=\"Microsoft Azure Linux\"\nVERSION_ID=\"3.0\"\nPRETTY_NAME=\"Microsoft Azure Linux 3.0, image {version}\"\n"
    )
}

/// Renders the steps for the scripts, with their durations at this speed.
fn steps(image: &ImageDefinition, speed: f64) -> String {
    let mut lines = Vec::new();
    for (name, seconds) in STEPS {
        let seconds = seconds * image.slow.get(*name).copied().unwrap_or(1.0) / speed;
        let fails = image.fails.as_ref().filter(|fails| fails.step == *name);
        let end =
            fails.map(|fails| format!(" {} {}", fails.code, fails.message.replace('\n', " ")));
        lines.push(format!("{name} {seconds:.3}{}\n", end.as_deref().unwrap_or_default()));
        if end.is_some() {
            break;
        }
    }
    lines.concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Failing;

    #[test]
    fn image_lacks_only_the_listed_commands() {
        let paths = |image: &ImageDefinition| -> Vec<String> {
            files("202601.13.0", image, 20.0).into_iter().map(|file| file.path).collect()
        };
        let (good, bad) = (
            paths(&ImageDefinition::default()),
            paths(&ImageDefinition { lacks: vec!["oras".into()], ..ImageDefinition::default() }),
        );
        assert!(good.contains(&"usr/bin/oras".to_owned()));
        assert_eq!(good.len(), bad.len() + 1);
        assert!(!bad.contains(&"usr/bin/oras".to_owned()));
    }

    #[test]
    fn steps_are_as_fast_as_the_world_and_end_where_they_fail() {
        let fails = Failing { step: "outboundProbe".into(), code: 50, message: "no\nway".into() };
        let image = ImageDefinition {
            fails: Some(fails),
            slow: [("installNetworkPlugin".to_owned(), 2.0)].into(),
            ..ImageDefinition::default()
        };
        let steps = steps(&image, 10.0);
        assert!(steps.contains("installNetworkPlugin 0.240\n"), "{steps}");
        assert!(steps.ends_with("outboundProbe 0.060 50 no way\n"), "{steps}");
    }
}

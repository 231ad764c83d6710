//! The node on which agents are measured: what a real image has where an agent looks, of our own making.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::release::targets::STATIC_HERE;
use crate::step::{Failed, command, output, place, root, write};

/// The directories of this machine that the node's own ones cover.
pub(super) const COVERED: [&str; 4] = ["opt", "run", "usr/local", "var/log"];

pub(super) const AGENT: &str = "/opt/bench/agent";
pub(super) const RIVAL: &str = "/opt/bench/rival";
pub(super) const SENTINEL: &str = "/opt/azure/containers/provision.complete";
pub(super) const REPORT: &str = "/var/log/azure/aks/provision.json";
/// The search path: programs of the image are in its middle, as on a node.
pub(super) const PATH: &str = "/usr/local/sbin:/usr/local/bin:/opt/bin";

/// What the agent looks for, with oras or without.
const PROGRAMS: [&str; 6] = ["containerd", "curl", "jq", "kubelet", "oras", "systemctl"];

pub(super) struct Config {
    pub(super) name: &'static str,
    pub(super) bytes: usize,
    pub(super) registry: bool,
}

pub(super) const SMALL: Config = Config { name: "small.json", bytes: 1_400, registry: false };
pub(super) const LARGE: Config = Config { name: "large.json", bytes: 65_536, registry: false };
pub(super) const ISOLATED: Config = Config { name: "isolated.json", bytes: 65_536, registry: true };

impl Config {
    pub(super) fn path(&self) -> String {
        format!("/opt/azure/containers/{}", self.name)
    }

    fn text(&self) -> String {
        let registry = if self.registry {
            r#""bootstrap_profile_container_registry_server": "registry.azurecr.io","#
        } else {
            ""
        };
        let head = format!(
            r#"{{"version": "v1", "kubernetes_version": "1.34.1", "vm_size": "Standard_D4s_v5", {registry}
            "cluster_config": {{"location": "westeurope", "resource_group": "group"}},
            "bootstrapping_config": {{"tls_bootstrapping_token": "abcdef.0123456789abcdef"}},
            "kubelet_config": {{"kubelet_flags": {{"--v": "2""#
        );
        let mut text = head;
        for number in 0.. {
            let flag = format!(", \"--flag-{number}\": \"value-{number}\"");
            if text.len() + flag.len() + 3 > self.bytes {
                break;
            }
            text += &flag;
        }
        text + "}}}"
    }
}

/// Writes the node below `node`, with the agents.
pub(super) fn set_up(node: &Path, agent: &Path, rival: Option<&Path>) -> Result<(), Failed> {
    for folder in ["opt/azure/containers", "var/log/azure/aks", "run", "usr/local/sbin", "opt/bin"]
    {
        fs::create_dir_all(node.join(folder))?;
    }
    let below = |path: &str| node.join(path.trim_start_matches('/'));
    place(agent, &below(AGENT), 0o755)?;
    if let Some(rival) = rival {
        place(rival, &below(RIVAL), 0o755)?;
    }
    let program = compile(node)?;
    for name in PROGRAMS {
        place(&program, &below(&format!("/usr/local/bin/{name}")), 0o755)?;
    }
    write(&below("/opt/azure/containers/provision_start.sh"), "")?;
    write(&below("/opt/azure/components.json"), &components())?;
    for config in [SMALL, LARGE, ISOLATED] {
        write(&below(&config.path()), &config.text())?;
    }
    Ok(())
}

/// A static program for this machine: a script would measure a shell.
fn compile(node: &Path) -> Result<PathBuf, Failed> {
    let program = node.join("program");
    let mut rustc = command("rustc");
    rustc.args(["-O", "-C", "strip=symbols", "--target", STATIC_HERE, "-o"]).arg(&program);
    output(rustc.arg(root().join("xtask/bench/program.rs")))?;
    Ok(program)
}

/// A `components.json` of the size and shape of a real image's: 35 images with four tags each, four GPU images,
/// 33 packages with versions by distribution and release, indented by two; 84 KB, two thirds of it in strings.
pub(crate) fn components() -> String {
    let mut text = String::from("{\n  \"ContainerImages\": [");
    for number in 0..35 {
        let name = format!("registry.example/oss/v2/kubernetes/component-{number}");
        separate(&mut text, number);
        let _ = write!(
            text,
            "    {{\n      \"downloadURL\": \"{name}:*\",\n      \"amd64OnlyVersions\": [],\n      \"multiArchVersionsV2\": ["
        );
        for tag in 0..3 {
            separate(&mut text, tag);
            version(&mut text, 8, &name, &format!("v1.{number}.{tag}-11"));
        }
        text += "\n      ],\n      \"windowsVersions\": [\n";
        version(&mut text, 8, &name, &format!("v1.{number}.9"));
        text += "\n      ]\n    }";
    }
    text += "\n  ],\n  \"GPUContainerImages\": [";
    for (number, name) in
        ["aks-gpu-cuda-lts", "aks-gpu-cuda", "aks-gpu-grid", "aks-gpu-grid-v20"].iter().enumerate()
    {
        separate(&mut text, number);
        let _ = write!(
            text,
            "    {{\n      \"downloadURL\": \"registry.example/aks/{name}:*\",\n      \"gpuVersion\": {{\n        \"renovateTag\": \"registry=https://registry.example, name=aks/{name}\",\n        \"latestVersion\": \"58{number}.15.04-20260629214430\"\n      }}\n    }}"
        );
    }
    text += "\n  ],\n  \"Packages\": [";
    for number in 0..33 {
        separate(&mut text, number);
        let _ = write!(
            text,
            "    {{\n      \"name\": \"package-{number}\",\n      \"downloadLocation\": \"/opt/package-{number}/downloads\",\n      \"downloadURIs\": {{"
        );
        for (system, releases) in [("ubuntu", &["r2604", "r2404"][..]), ("azurelinux", &["v3.0"])] {
            separate(&mut text, usize::from(system != "ubuntu"));
            let _ = write!(text, "        \"{system}\": {{");
            for (release, name) in releases.iter().enumerate() {
                separate(&mut text, release);
                let _ = writeln!(text, "          \"{name}\": {{\n            \"versionsV2\": [");
                version(
                    &mut text,
                    14,
                    &format!("package-{number}"),
                    &format!("1.{number}.{release}-1"),
                );
                let _ = write!(
                    text,
                    "\n            ],\n            \"downloadURL\": \"https://packages.example/package-{number}/v${{version}}/linux/${{CPU_ARCH}}/package.tar.gz\"\n          }}"
                );
            }
            text += "\n        }";
        }
        text += "\n      }\n    }";
    }
    text += "\n  ],\n  \"OCIArtifacts\": [\n    {\n      \"name\": \"artifact\",\n      \"registry\": \"registry.example/package:${version}-${CPU_ARCH}\",\n      \"windowsVersions\": []\n    }\n  ]\n}\n";
    text
}

fn separate(text: &mut String, number: usize) {
    *text += if number == 0 { "\n" } else { ",\n" };
}

fn version(text: &mut String, indent: usize, name: &str, version: &str) {
    let inner = indent + 2;
    let _ = write!(
        text,
        "{:indent$}{{\n{:inner$}\"renovateTag\": \"registry=https://registry.example, name={name}\",\n{:inner$}\"latestVersion\": \"{version}\",\n{:inner$}\"previousLatestVersion\": \"{version}0\"\n{:indent$}}}",
        "", "", "", "", ""
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_have_the_size_and_shape_of_a_real_image() {
        let text = components();
        assert!((82_000..86_000).contains(&text.len()), "{}", text.len());
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        let count = |name: &str| document[name].as_array().unwrap().len();
        assert_eq!(
            ["ContainerImages", "GPUContainerImages", "Packages", "OCIArtifacts"].map(count),
            [35, 4, 33, 1]
        );
        for config in [SMALL, LARGE, ISOLATED] {
            let text = config.text();
            assert!(text.len() + 40 > config.bytes && text.len() <= config.bytes);
            serde_json::from_str::<serde_json::Value>(&text).unwrap();
        }
    }
}

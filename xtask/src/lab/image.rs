//! Builds the node image: a Debian root, a real oras, and the package of this project.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::host::{image_root, leave, shell};
use crate::bench::components;
use crate::release::deb;
use crate::release::targets::build_agent_here;
use crate::step::{Failed, output, place, print, root, run, write};

const SUITE: &str = "bookworm";
const PACKAGES: &str = "systemd,systemd-sysv,dbus,cloud-init,iproute2,procps,ca-certificates,curl";
/// Default mirror, unless apt of this host has a nearer one.
const MIRROR: &str = "http://deb.debian.org/debian";
/// The release with oras, which also runs on Debian 12.
const ORAS_SUITE: &str = "trixie";
const ORAS_VERSION: &str = "1.2.0-1+b9";
const ORAS_SHA256: &str = "5f138419f0e4bc128ee4717b06190dc5770cf120ab7e3a991e5b3e9158f3189e";

/// Files of the lab and their places on a node.
const FILES: [(&str, &str, u32); 5] = [
    ("provision_start.sh", "opt/azure/containers/provision_start.sh", 0o755),
    ("provision_source.sh", "opt/azure/containers/provision_source.sh", 0o644),
    ("provision.sh", "opt/azure/containers/provision.sh", 0o755),
    ("lab-extension.service", "etc/systemd/system/lab-extension.service", 0o644),
    ("lab.conf", "usr/lib/tmpfiles.d/lab.conf", 0o644),
];

/// Builds and downloads what is missing.
pub(super) fn build(lab: &Path) -> Result<(), Failed> {
    print("lab: building the agent, its package and the services that nodes talk to\n");
    let agent = build_agent_here(Some("202611.16.0"))?;
    deb::build(&agent, "amd64", lab)?;
    let example = ["--package", "mooring-simulator", "--example", "node_services"];
    run("cargo", &[&["build", "--locked", "--quiet"][..], &example].concat())?;
    debian(lab)?;
    oras(lab)
}

/// The program that serves what nodes talk to.
pub(super) fn services() -> Result<PathBuf, Failed> {
    Ok(root().canonicalize()?.join("target/debug/examples/node_services"))
}

/// The mirror that this machine's apt takes a release from.
fn mirror() -> Result<String, Failed> {
    let mut apt = Command::new("apt-get");
    let listed =
        output(apt.args(["indextargets", "--format", "$(SITE) $(RELEASE) $(CREATED_BY)"]))?;
    let sites = listed.lines().filter_map(|line| line.split_once(' '));
    let mut sites = sites.filter(|(_, release)| *release == format!("{SUITE} Packages"));
    Ok(sites.next().map_or(MIRROR, |(site, _)| site).to_owned())
}

fn debian(lab: &Path) -> Result<(), Failed> {
    let made_of = format!("{SUITE} {PACKAGES}\n");
    let (base, stamp) = (image_root(lab), lab.join("base.stamp"));
    if fs::read_to_string(&stamp).is_ok_and(|stamp| stamp == made_of) {
        return Ok(());
    }
    print("lab: building a Debian root; this takes minutes\n");
    if base.exists() {
        fs::remove_dir_all(&base)?;
    }
    let mut mmdebstrap = Command::new("mmdebstrap");
    mmdebstrap.args(["--quiet", "--variant=apt"]).arg(format!("--include={PACKAGES}"));
    mmdebstrap.arg("--aptopt=Acquire::Retries \"3\"");
    for left_out in ["doc", "man", "locale"] {
        mmdebstrap.arg(format!("--dpkgopt=path-exclude=/usr/share/{left_out}/*"));
    }
    output(mmdebstrap.arg(SUITE).arg(&base).arg(mirror()?))?;
    write(&stamp, &made_of)
}

fn oras_package(lab: &Path) -> PathBuf {
    lab.join(format!("oras_{ORAS_VERSION}_amd64.deb"))
}

/// Downloads oras with separate apt sources and lists: those of the host are not changed.
fn oras(lab: &Path) -> Result<(), Failed> {
    if is_pinned(&oras_package(lab)) {
        return Ok(());
    }
    print(&format!("lab: downloading oras {ORAS_VERSION} of Debian {ORAS_SUITE}\n"));
    let apt = lab.join("apt");
    fs::create_dir_all(apt.join("lists/partial"))?;
    fs::create_dir_all(apt.join("cache/archives/partial"))?;
    let keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";
    let source = format!("deb [signed-by={keyring}] {} {ORAS_SUITE} main\n", mirror()?);
    write(&apt.join("sources.list"), &source)?;
    let shown = apt.display();
    let config = format!(
        "Dir::Etc::SourceList \"{shown}/sources.list\";\nDir::Etc::SourceParts \"-\";\n\
         Dir::State::Lists \"{shown}/lists\";\nDir::State::status \"/dev/null\";\nDir::Cache \"{shown}/cache\";\n\
         APT::Architecture \"amd64\";\nAPT::Sandbox::User \"root\";\nAcquire::Languages \"none\";\nAcquire::Retries \"3\";\n"
    );
    write(&apt.join("apt.conf"), &config)?;
    for words in [&["update", "-qq"][..], &["download", "-qq", &format!("oras={ORAS_VERSION}")]] {
        let mut apt_get = Command::new("apt-get");
        apt_get.env("APT_CONFIG", apt.join("apt.conf")).current_dir(lab).args(words);
        output(&mut apt_get)?;
    }
    fs::remove_dir_all(&apt)?;
    if is_pinned(&oras_package(lab)) {
        return Ok(());
    }
    Err(Failed(format!("{}: not the file with SHA-256 {ORAS_SHA256}", oras_package(lab).display())))
}

fn is_pinned(package: &Path) -> bool {
    let sum = output(Command::new("sha256sum").arg(package));
    sum.is_ok_and(|sum| sum.split(' ').next() == Some(ORAS_SHA256))
}

/// Installs everything into a node's root. `authority` is the certificate that nodes trust.
pub(super) fn install(lab: &Path, node: &Path, authority: &str) -> Result<(), Failed> {
    let mut dpkg = Command::new("dpkg");
    dpkg.arg(format!("--root={}", node.display())).arg("--force-script-chrootless");
    dpkg.arg("--install").arg(deb_file(lab)?);
    output(dpkg.env("DEBIAN_FRONTEND", "noninteractive"))?;
    output(Command::new("dpkg-deb").arg("--extract").arg(oras_package(lab)).arg(node))?;
    for (from, to, mode) in FILES {
        place(&root().join("xtask/lab/image").join(from), &node.join(to), mode)?;
    }
    leave(&node.join("opt/azure/components.json"), &components())?;
    leave(&node.join("opt/azure/containers/provision_preload.sh"), "")?;
    leave(&node.join("var/lib/lab/README"), "Marks of the lab's scripts.\n")?;
    let cloud = "datasource_list: [NoCloud]\nlocale: false\n";
    leave(&node.join("etc/cloud/cloud.cfg.d/90_lab.cfg"), cloud)?;
    leave(&node.join("usr/local/share/ca-certificates/lab.crt"), authority)?;
    let chroot = [("ROOT", node.to_str().unwrap_or_default())];
    shell(
        "chroot $ROOT update-ca-certificates; chroot $ROOT systemctl enable lab-extension.service",
        &chroot,
    )?;
    Ok(())
}

/// Unpacks oras for the lab's own use.
pub(super) fn unpack_oras(lab: &Path, into: &Path) -> Result<PathBuf, Failed> {
    output(Command::new("dpkg-deb").arg("--extract").arg(oras_package(lab)).arg(into))?;
    Ok(into.join("usr/bin/oras"))
}

fn deb_file(lab: &Path) -> Result<PathBuf, Failed> {
    let names = fs::read_dir(lab)?.flatten().map(|entry| entry.path());
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("mooring-node-agent_") && name.ends_with("_amd64.deb")
    };
    names.into_iter().find(is_ours).ok_or_else(|| Failed("the agent's package is missing".into()))
}

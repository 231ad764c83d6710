//! The host of the lab: its requirements, commands and control groups.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::step::{Failed, install_package, is_installed, output, write};

/// Programs of the lab and the Debian packages that have them.
const PROGRAMS: [(&str, &str); 5] = [
    ("systemd-nspawn", "systemd-container"),
    ("mmdebstrap", "mmdebstrap"),
    ("dnsmasq", "dnsmasq-base"),
    ("docker-registry", "docker-registry"),
    ("ip", "iproute2"),
];

/// The name of the control group that the lab's processes are in.
const CGROUP: &str = "mooring-lab";

/// Returns the reason if this host cannot run the lab.
pub(super) fn unable() -> Option<String> {
    if !(cfg!(target_os = "linux") && cfg!(target_arch = "x86_64")) {
        return Some("it needs Linux on x86-64".to_owned());
    }
    let user = output(Command::new("id").arg("-u")).unwrap_or_default();
    if user.trim() != "0" {
        return Some("it needs root".to_owned());
    }
    (!is_installed("apt-get")).then(|| "it needs Debian's apt".to_owned())
}

/// Checks that the tools exist, and installs their packages on request.
pub(super) fn need_packages(install: bool) -> Result<(), Failed> {
    let missing: Vec<&str> =
        PROGRAMS.iter().filter(|(program, _)| !is_there(program)).map(|(_, name)| *name).collect();
    if missing.is_empty() {
        return Ok(());
    }
    if install {
        return missing.into_iter().try_for_each(install_package);
    }
    let names = missing.join(" ");
    Err(Failed(format!(
        "packages are missing: {names}\nhint: apt-get install --no-install-recommends {names}, or --install"
    )))
}

fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

/// Runs a shell's text with variables, and returns what it printed.
pub(super) fn shell(text: &str, variables: &[(&str, &str)]) -> Result<String, Failed> {
    output(Command::new("/bin/bash").args(["-euc", text]).envs(variables.iter().copied()))
}

/// Writes a file of a node, with its directories.
pub(super) fn leave(file: &Path, text: &str) -> Result<(), Failed> {
    fs::create_dir_all(file.parent().unwrap_or(file))?;
    write(file, text)
}

/// Runs a command in separate namespaces: mounts, network and processes end with it.
pub(super) fn apart(program: &Path) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]);
    command.args(["--propagation", "private"]).arg(program).stdin(Stdio::null());
    command
}

/// Returns the reason if no container can boot here: tries the root with `/bin/true`.
pub(super) fn refusal(lab: &Path) -> Result<Option<String>, Failed> {
    let mut command = apart(Path::new("/bin/bash"));
    // systemd-nspawn requires a tmpfs there.
    let text = "mount -t tmpfs tmpfs /run && exec systemd-nspawn --quiet --register=no --keep-unit --ephemeral \
                --directory=\"$0\" --console=pipe /bin/true";
    let tried = command.args(["-ec", text]).arg(image_root(lab)).output()?;
    remove_cgroups();
    if tried.status.success() {
        return Ok(None);
    }
    let why = String::from_utf8_lossy(&tried.stderr).trim().replace('\n', "; ");
    Ok(Some(format!("{why} ({})", tried.status)))
}

/// The Debian root that all nodes share.
pub(super) fn image_root(lab: &Path) -> PathBuf {
    lab.join("base")
}

/// Mount points of control groups: the unified hierarchy, and systemd's in addition if it exists.
fn hierarchies() -> Vec<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let is_one = |fields: &Vec<&str>| match fields[..] {
        [_, _, kind, options, ..] => {
            kind == "cgroup2" || kind == "cgroup" && options.split(',').any(|o| o == "name=systemd")
        }
        _ => false,
    };
    fields.filter(is_one).map(|fields| PathBuf::from(fields[1])).collect()
}

/// Moves this process and its children into a separate control group.
pub(super) fn enter_cgroups() -> Result<(), Failed> {
    for hierarchy in hierarchies() {
        let group = hierarchy.join(CGROUP);
        fs::create_dir_all(&group)?;
        write(&group.join("cgroup.procs"), "0")?;
    }
    Ok(())
}

/// Removes the control groups of a lab that has ended, also those that `systemd-nspawn` makes by itself.
pub(super) fn remove_cgroups() {
    fn remove(group: &Path) {
        let children = fs::read_dir(group).into_iter().flatten().flatten();
        for child in children.filter(|child| child.file_type().is_ok_and(|kind| kind.is_dir())) {
            remove(&child.path());
        }
        // One that is in use stays.
        let _ = fs::remove_dir(group);
    }
    for hierarchy in hierarchies() {
        remove(&hierarchy.join(CGROUP));
    }
}

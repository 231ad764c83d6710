//! One node: a container that systemd boots.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use crate::step::Failed;

/// Timeout of any action on a node, long enough for a busy host.
const BOOT_TIMEOUT: Duration = Duration::from_mins(3);
const PAUSE: Duration = Duration::from_millis(100);

/// Waits for something to be so; false if it never is.
#[expect(clippy::disallowed_methods, reason = "real machines boot in real time")]
pub(super) fn eventually(mut is_so: impl FnMut() -> bool) -> bool {
    let tries = BOOT_TIMEOUT.as_millis() / PAUSE.as_millis();
    for _ in 0..tries {
        if is_so() {
            return true;
        }
        std::thread::sleep(PAUSE);
    }
    false
}

/// A node that runs.
pub(super) struct Machine {
    nspawn: Child,
    /// Its first process, as this process sees it.
    init: u32,
}

impl Machine {
    /// Boots the root; what its console prints goes to a file.
    pub(super) fn boot(root: &Path, console: &Path) -> Result<Self, Failed> {
        let console = fs::OpenOptions::new().create(true).append(true).open(console)?;
        let mut nspawn = Command::new("systemd-nspawn");
        nspawn.args(["--quiet", "--boot", "--register=no", "--keep-unit", "--console=pipe"]);
        nspawn.args(["--machine=aks-pool-1", "--resolv-conf=off", "--link-journal=no"]);
        nspawn.arg(format!("--network-namespace-path=/run/netns/{NETWORK}"));
        nspawn.arg("--directory").arg(root);
        // As node images are; a host may still have both hierarchies.
        nspawn.env("SYSTEMD_NSPAWN_UNIFIED_HIERARCHY", "1");
        nspawn.stdin(Stdio::null()).stdout(console.try_clone()?).stderr(console);
        let mut machine = Self { nspawn: nspawn.spawn()?, init: 0 };
        let is_booting = eventually(|| machine.find_init() || !machine.runs());
        if is_booting && machine.init != 0 {
            return Ok(machine);
        }
        Err(Failed("systemd-nspawn did not boot the node".to_owned()))
    }

    /// Finds systemd among the container manager's children.
    fn find_init(&mut self) -> bool {
        let pid = self.nspawn.id();
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
        let children = children.unwrap_or_default();
        let is_systemd = |pid: &u32| {
            fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "systemd\n")
        };
        let found = children.split(' ').flat_map(str::parse).find(is_systemd);
        self.init = found.unwrap_or_default();
        found.is_some()
    }

    pub(super) fn runs(&mut self) -> bool {
        matches!(self.nspawn.try_wait(), Ok(None))
    }

    /// Reads a file of the running node, also one of its memory file systems.
    pub(super) fn read(&self, path: &str) -> Option<String> {
        let file = format!("/proc/{}/root{path}", self.init);
        fs::read(file).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Runs a shell's text inside.
    pub(super) fn enter(&self, text: &str, variables: &[(&str, &str)]) -> Result<Output, Failed> {
        let mut nsenter = Command::new("nsenter");
        nsenter.arg(format!("--target={}", self.init)).arg("--all").env_clear();
        nsenter.env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        nsenter.envs(variables.iter().copied()).args(["/bin/bash", "-c", text]);
        Ok(nsenter.stdin(Stdio::null()).output()?)
    }

    /// Shuts the node down.
    pub(super) fn power_off(mut self) -> Result<(), Failed> {
        self.enter("systemctl poweroff", &[])?;
        if eventually(|| !self.runs()) {
            return Ok(());
        }
        self.cut_power()?;
        Err(Failed("the node did not shut down".to_owned()))
    }

    /// Ends the node from one instant to the next: with its first process the kernel kills all.
    pub(super) fn cut_power(mut self) -> Result<(), Failed> {
        if self.runs() {
            Command::new("kill").args(["-KILL", &self.init.to_string()]).status()?;
        }
        self.nspawn.wait()?;
        Ok(())
    }
}

/// A node's disk: the shared root, and what is its own on top, in memory and of a limited size.
pub(super) struct Disk {
    pub(super) root: PathBuf,
    own: PathBuf,
}

impl Disk {
    /// Mounts a disk over these lower directories, the uppermost first.
    pub(super) fn mount(place: &Path, lower: &[&Path], size: &str) -> Result<Self, Failed> {
        let (own, root) = (place.join("own"), place.join("root"));
        fs::create_dir_all(&own)?;
        fs::create_dir_all(&root)?;
        let mut tmpfs = Command::new("mount");
        tmpfs.args(["-t", "tmpfs", "-o", &format!("size={size},mode=0755"), "tmpfs"]);
        crate::step::output(tmpfs.arg(&own))?;
        let disk = Self { root, own };
        for directory in [disk.upper(), disk.own.join("work")] {
            fs::create_dir_all(directory)?;
        }
        let lower: Vec<String> = lower.iter().map(|path| path.display().to_string()).collect();
        let options = format!(
            "lowerdir={},upperdir={},workdir={}",
            lower.join(":"),
            disk.upper().display(),
            disk.own.join("work").display()
        );
        let mut overlay = Command::new("mount");
        overlay.args(["-t", "overlay", "overlay", "-o", &options]);
        crate::step::output(overlay.arg(&disk.root))?;
        Ok(disk)
    }

    pub(super) fn upper(&self) -> PathBuf {
        self.own.join("upper")
    }

    pub(super) fn unmount(self) -> Result<(), Failed> {
        for place in [&self.root, &self.own] {
            crate::step::output(Command::new("umount").arg("--lazy").arg(place))?;
        }
        Ok(())
    }
}

/// The network namespace of the nodes.
pub(super) const NETWORK: &str = "node";

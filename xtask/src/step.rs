//! Steps of a task: commands whose output the user sees.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

#[derive(Debug)]
pub(crate) struct Failed(pub(crate) String);

impl Failed {
    #[expect(clippy::print_stderr, reason = "the output of a task")]
    pub(crate) fn report(&self) -> ExitCode {
        eprintln!("xtask: {}", self.0);
        ExitCode::FAILURE
    }
}

impl From<std::io::Error> for Failed {
    fn from(error: std::io::Error) -> Self {
        Self(error.to_string())
    }
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Builds a command in the workspace root without Cargo's package variables: build scripts that read them would see a
/// change, and their dependents would be rebuilt.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    for (name, _) in std::env::vars_os() {
        let own = ["CARGO_PKG_", "CARGO_MANIFEST_"];
        if name.to_str().is_some_and(|name| own.iter().any(|prefix| name.starts_with(prefix))) {
            command.env_remove(&name);
        }
    }
    command
}

/// Runs a command in the workspace's root.
pub(crate) fn run(program: &str, arguments: &[&str]) -> Result<(), Failed> {
    let line = format!("`{program} {}`", arguments.join(" "));
    match command(program).args(arguments).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failed(format!("{line} ended with {status}"))),
        Err(error) => Err(Failed(format!("cannot start {line}: {error}"))),
    }
}

/// Runs a command that downloads something, with retries.
#[expect(clippy::disallowed_methods, reason = "a real network is waited for, in real time")]
pub(crate) fn fetch(program: &str, arguments: &[&str]) -> Result<(), Failed> {
    for pause in [10, 30] {
        match run(program, arguments) {
            Ok(()) => return Ok(()),
            Err(Failed(why)) => print(&format!("xtask: {why}; once more in {pause} s\n")),
        }
        std::thread::sleep(Duration::from_secs(pause));
    }
    run(program, arguments)
}

/// Installs a package of Debian or Ubuntu; requires root.
pub(crate) fn install_package(package: &str) -> Result<(), Failed> {
    const APT_RETRIES: [&str; 5] =
        ["-qq", "-o", "Acquire::Retries=3", "-o", "DPkg::Lock::Timeout=300"];
    let is_root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
    if !is_root || !is_installed("apt-get") {
        return Err(Failed(format!("only root can install {package}, by apt-get")));
    }
    // An outdated package list may name files that no longer exist.
    fetch("apt-get", &[&["update"], &APT_RETRIES[..]].concat())?;
    let install = ["install", "-y", "--no-install-recommends"];
    fetch("apt-get", &[&install, &APT_RETRIES[..], &[package]].concat())
}

pub(crate) fn is_installed(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

/// Ensures that a command exists; on Debian and Ubuntu by installing its package.
pub(crate) fn need(program: &str, package: &str) -> Result<(), Failed> {
    if is_installed(program) {
        return Ok(());
    }
    print(&format!("xtask: installing {package}, which has {program}\n"));
    match install_package(package) {
        Ok(()) if is_installed(program) => Ok(()),
        _ => Err(Failed(format!(
            "{program} is needed and could not be installed\nhint: install the package that has it ({package} on Debian), then try again"
        ))),
    }
}

/// Copies a file and sets its mode.
pub(crate) fn place(from: &Path, to: &Path, mode: u32) -> Result<(), Failed> {
    fs::create_dir_all(to.parent().unwrap_or(to))?;
    fs::copy(from, to).map_err(|error| Failed(format!("{}: {error}", from.display())))?;
    fs::set_permissions(to, fs::Permissions::from_mode(mode))?;
    Ok(())
}

pub(crate) fn output(command: &mut Command) -> Result<String, Failed> {
    let output = command.output().map_err(|error| Failed(format!("{command:?}: {error}")))?;
    if !output.status.success() {
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(Failed(format!("{command:?} ended with {}: {printed}", output.status)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[expect(clippy::disallowed_methods, reason = "no process reads this file while it is written")]
pub(crate) fn write(file: &Path, content: &(impl AsRef<[u8]> + ?Sized)) -> Result<(), Failed> {
    Ok(fs::write(file, content)?)
}

#[expect(clippy::print_stdout, reason = "the output of a task")]
pub(crate) fn print(text: &str) {
    print!("{text}");
}

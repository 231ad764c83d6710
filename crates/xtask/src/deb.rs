//! The agent as a Debian package, by `dpkg-deb` alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::step::{Failed, output, place, root, write};

/// Files of the project, their places on a node and their modes. The agent itself comes first.
const FILES: [(&str, &str, u32); 4] = [
    (
        "packaging/aks-node-controller-launcher.sh",
        "opt/azure/containers/aks-node-controller-launcher.sh",
        0o755,
    ),
    (
        "packaging/aks-node-controller.service",
        "usr/lib/systemd/system/aks-node-controller.service",
        0o644,
    ),
    ("docs/DIFFERENCES.md", "usr/share/doc/aks-node-controller/DIFFERENCES.md", 0o644),
    ("LICENSE", "usr/share/doc/aks-node-controller/copyright", 0o644),
];

const AGENT: &str = "opt/azure/containers/aks-node-controller";

/// Builds the package of an agent into a folder.
pub(crate) fn build(agent: &Path, architecture: &str, into: &Path) -> Result<PathBuf, Failed> {
    let version = env!("CARGO_PKG_VERSION");
    let stage = into.join(format!("deb-{architecture}"));
    place(agent, &stage.join(AGENT), 0o755)?;
    let mut bytes = fs::metadata(agent)?.len();
    for (from, to, mode) in FILES {
        place(&root().join(from), &stage.join(to), mode)?;
        bytes += fs::metadata(root().join(from))?.len();
    }
    for script in ["preinst", "postrm"] {
        let from = root().join("packaging/debian").join(script);
        place(&from, &stage.join("DEBIAN").join(script), 0o755)?;
    }
    let control = fs::read_to_string(root().join("packaging/debian/control"))?
        .replace("@VERSION@", version)
        .replace("@ARCHITECTURE@", architecture)
        .replace("@INSTALLED-SIZE@", &bytes.div_ceil(1024).to_string());
    write(&stage.join("DEBIAN/control"), &control)?;
    let package = into.join(format!("aks-node-controller_{version}_{architecture}.deb"));
    let mut dpkg = Command::new("dpkg-deb");
    // The same files give the same bytes.
    dpkg.env("SOURCE_DATE_EPOCH", "0").args(["--root-owner-group", "--build"]);
    output(dpkg.arg(&stage).arg(&package))?;
    fs::remove_dir_all(&stage)?;
    Ok(package)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that ends with the test.
    struct Folder(PathBuf);

    impl Folder {
        fn new() -> Self {
            let path = std::env::temp_dir().join(format!("mooring-deb-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_package_brings_the_agent_and_gives_the_old_one_back() {
        if Command::new("dpkg-deb").arg("--version").output().is_err() {
            println!("SKIPPED: there is no dpkg-deb");
            return;
        }
        let folder = Folder::new();
        let agent = folder.0.join("agent");
        write(&agent, "ours").unwrap();
        let package = build(&agent, "amd64", &folder.0).unwrap();
        let inside = output(Command::new("dpkg-deb").arg("--contents").arg(&package)).unwrap();
        for (_, place, mode) in FILES {
            let line = inside.lines().find(|line| line.ends_with(&format!("./{place}")));
            let line = line.unwrap_or_else(|| panic!("{place} is not in\n{inside}"));
            let shown = if mode == 0o755 { "-rwxr-xr-x root/root" } else { "-rw-r--r-- root/root" };
            assert!(line.starts_with(shown), "{line}");
        }
        let again = fs::read(&package).unwrap();
        build(&agent, "amd64", &folder.0).unwrap();
        assert!(again == fs::read(&package).unwrap(), "two builds differ");

        // Into an image that has the Go program, and out again.
        let image = folder.0.join("image");
        for state in ["info", "updates"] {
            fs::create_dir_all(image.join("var/lib/dpkg").join(state)).unwrap();
        }
        write(&image.join("var/lib/dpkg/status"), "").unwrap();
        fs::create_dir_all(image.join("opt/azure/containers")).unwrap();
        write(&image.join(AGENT), "Go").unwrap();
        let dpkg = |words: &[&str]| {
            let force = "--force-script-chrootless,not-root,depends,architecture,bad-path";
            let mut command = Command::new("dpkg");
            command.arg(force).arg(format!("--root={}", image.display())).args(words);
            output(&mut command).unwrap()
        };
        let text = |name: &str| fs::read_to_string(image.join(name)).unwrap();
        dpkg(&["--install", package.to_str().unwrap()]);
        assert_eq!((text(AGENT), text(&format!("{AGENT}.go"))), ("ours".into(), "Go".into()));
        dpkg(&["--remove", "aks-node-controller"]);
        assert_eq!(text(AGENT), "Go");
    }
}

//! Builds the agent's Debian package with `dpkg-deb` alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::step::{Failed, output, place, root, write};

/// Not the name of Microsoft's package, whose upgrades would replace it.
pub(super) const NAME: &str = "mooring-node-agent";

pub(super) const AGENT: &str = "opt/azure/containers/aks-node-controller";
pub(super) const LAUNCHER: &str = "opt/azure/containers/aks-node-controller-launcher.sh";
pub(super) const UNIT: &str = "usr/lib/systemd/system/aks-node-controller.service";

/// Paths at which the image or Microsoft's package has files.
pub(super) const DIVERTED: [&str; 3] = [AGENT, LAUNCHER, UNIT];

/// Files of the project, their paths on a node and their modes, in addition to the agent.
pub(super) const FILES: [(&str, &str, u32); 5] = [
    ("packaging/aks-node-controller-launcher.sh", LAUNCHER, 0o755),
    ("packaging/aks-node-controller.service", UNIT, 0o644),
    ("packaging/cse/oras_preflight.sh", "opt/azure/containers/oras_preflight.sh", 0o644),
    ("docs/DIFFERENCES.md", "usr/share/doc/mooring-node-agent/DIFFERENCES.md", 0o644),
    ("LICENSE", "usr/share/doc/mooring-node-agent/copyright", 0o644),
];

/// Builds the package of an agent into a directory.
pub(crate) fn build(agent: &Path, architecture: &str, into: &Path) -> Result<PathBuf, Failed> {
    build_version(env!("CARGO_PKG_VERSION"), agent, architecture, into)
}

fn build_version(
    version: &str,
    agent: &Path,
    architecture: &str,
    into: &Path,
) -> Result<PathBuf, Failed> {
    let stage = into.join(format!("deb-{architecture}"));
    place(agent, &stage.join(AGENT), 0o755)?;
    let mut bytes = fs::metadata(agent)?.len();
    for (from, to, mode) in FILES {
        place(&root().join(from), &stage.join(to), mode)?;
        bytes += fs::metadata(root().join(from))?.len();
    }
    let diverted = DIVERTED.map(|path| format!("/{path}")).join(" ");
    for script in ["preinst", "postrm"] {
        let from = root().join("packaging/debian").join(script);
        let to = stage.join("DEBIAN").join(script);
        place(&from, &to, 0o755)?;
        let text = fs::read_to_string(&from)?.replace("@DIVERTED@", &diverted);
        write(&to, &text)?;
    }
    let control = fs::read_to_string(root().join("packaging/debian/control"))?
        .replace("@VERSION@", version)
        .replace("@ARCHITECTURE@", architecture)
        .replace("@INSTALLED-SIZE@", &bytes.div_ceil(1024).to_string());
    write(&stage.join("DEBIAN/control"), &control)?;
    pack(&stage, &into.join(format!("{NAME}_{version}_{architecture}.deb")))
}

/// Builds a package from a staging directory, which is then removed.
fn pack(stage: &Path, package: &Path) -> Result<PathBuf, Failed> {
    let mut dpkg = Command::new("dpkg-deb");
    // The same files give the same bytes.
    dpkg.env("SOURCE_DATE_EPOCH", "0").args(["--root-owner-group", "--build"]);
    output(dpkg.arg(stage).arg(package))?;
    fs::remove_dir_all(stage)?;
    Ok(package.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory that is removed with the test.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("mooring-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        /// Our package, with an agent that is its own version.
        fn agent_package(&self, version: &str) -> PathBuf {
            let agent = self.0.join("agent");
            write(&agent, &format!("agent {version}")).unwrap();
            build_version(version, &agent, "amd64", &self.0).unwrap()
        }

        /// A package such as Microsoft's.
        fn theirs(&self, version: &str) -> PathBuf {
            let stage = self.0.join("theirs");
            for path in DIVERTED.iter().chain(&["usr/bin/aks-node-controller"]) {
                fs::create_dir_all(stage.join(path).parent().unwrap()).unwrap();
                write(&stage.join(path), &format!("theirs {version}")).unwrap();
            }
            fs::create_dir_all(stage.join("DEBIAN")).unwrap();
            let control = format!(
                "Package: aks-node-controller\nVersion: {version}\nArchitecture: amd64\n\
                 Maintainer: them <them@localhost>\nDescription: theirs\n"
            );
            write(&stage.join("DEBIAN/control"), &control).unwrap();
            pack(&stage, &self.0.join(format!("theirs_{version}.deb"))).unwrap()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// An image with only dpkg's files.
    struct Image(PathBuf);

    impl Image {
        fn new(path: PathBuf) -> Self {
            for state in ["info", "updates"] {
                fs::create_dir_all(path.join("var/lib/dpkg").join(state)).unwrap();
            }
            write(&path.join("var/lib/dpkg/status"), "").unwrap();
            fs::create_dir_all(path.join("opt/azure/containers")).unwrap();
            Self(path)
        }

        fn dpkg(&self, words: &[&str]) -> Result<String, Failed> {
            let force = "--force-script-chrootless,not-root,depends,architecture,bad-path";
            let mut command = Command::new("dpkg");
            command.arg(force).arg(format!("--root={}", self.0.display()));
            output(command.args(words))
        }

        fn install(&self, package: &Path) {
            self.dpkg(&["--install", package.to_str().unwrap()]).unwrap();
        }

        fn text(&self, place: &str) -> Option<String> {
            fs::read_to_string(self.0.join(place)).ok()
        }
    }

    /// Fails if dpkg is missing.
    fn require_dpkg() {
        for program in ["dpkg", "dpkg-deb", "dpkg-divert"] {
            let found = Command::new(program).arg("--version").output();
            assert!(
                found.is_ok_and(|output| output.status.success()),
                "{program} is missing: install the package dpkg (`apt-get install dpkg`, `dnf install dpkg`, `brew install dpkg`)"
            );
        }
    }

    #[test]
    fn package_has_its_files_and_is_the_same_when_built_again() {
        require_dpkg();
        let folder = Folder::new("deb");
        let package = folder.agent_package("0.2.0");
        let inside = output(Command::new("dpkg-deb").arg("--contents").arg(&package)).unwrap();
        for (_, place, mode) in FILES {
            let line = inside.lines().find(|line| line.ends_with(&format!("./{place}")));
            let line = line.unwrap_or_else(|| panic!("{place} is not in\n{inside}"));
            let shown = if mode == 0o755 { "-rwxr-xr-x root/root" } else { "-rw-r--r-- root/root" };
            assert!(line.starts_with(shown), "{line}");
        }
        let before = fs::read(&package).unwrap();
        folder.agent_package("0.2.0");
        assert!(before == fs::read(&package).unwrap(), "two builds differ");
    }

    #[test]
    fn agent_survives_the_other_package_in_any_order() {
        const OURS: &str = NAME;
        const THEIRS: &str = "aks-node-controller";
        require_dpkg();
        let folder = Folder::new("deb-orders");
        let packages = ["0.2.0", "0.3.0"].map(|version| folder.agent_package(version));
        let theirs = ["202604.01.0", "202604.01.1"].map(|version| folder.theirs(version));
        // Each step, and the owner of the installed agent after it.
        let install = |package: &PathBuf| ["--install".to_owned(), package.display().to_string()];
        let remove = |name: &str| ["--remove".to_owned(), name.to_owned()];
        let (agent_1, agent_2) = (Some("agent 0.2.0"), Some("agent 0.3.0"));
        let (theirs_1, theirs_2) = (Some("theirs 202604.01.0"), Some("theirs 202604.01.1"));
        let orders = [
            vec![
                (install(&packages[0]), agent_1),
                (install(&theirs[0]), agent_1),
                (install(&theirs[1]), agent_1),
                (install(&packages[1]), agent_2),
                (remove(THEIRS), agent_2),
                (remove(OURS), None),
            ],
            vec![
                (install(&theirs[0]), theirs_1),
                (install(&packages[0]), agent_1),
                (install(&theirs[1]), agent_1),
                (remove(OURS), theirs_2),
                (install(&packages[1]), agent_2),
                (remove(OURS), theirs_2),
                (remove(THEIRS), None),
            ],
            vec![
                (install(&theirs[0]), theirs_1),
                (install(&packages[0]), agent_1),
                (remove(THEIRS), agent_1),
                (install(&theirs[1]), agent_1),
                (remove(OURS), theirs_2),
            ],
        ];
        for (number, order) in orders.into_iter().enumerate() {
            let image = Image::new(folder.0.join(format!("image-{number}")));
            for (step, agent) in order {
                image.dpkg(&step.each_ref().map(String::as_str)).unwrap();
                assert_eq!(image.text(AGENT).as_deref(), agent, "{number}: after {step:?}");
            }
        }
    }

    #[test]
    fn program_that_the_image_came_with_is_given_back() {
        require_dpkg();
        let folder = Folder::new("deb-baked");
        for kept_by_hand in [false, true] {
            let image = Image::new(folder.0.join(format!("image-{kept_by_hand}")));
            write(&image.0.join(AGENT), "Go").unwrap();
            if kept_by_hand {
                write(&image.0.join(format!("{AGENT}.go")), "Go").unwrap();
            }
            for version in ["0.2.0", "0.3.0"] {
                image.install(&folder.agent_package(version));
                assert_eq!(image.text(AGENT), Some(format!("agent {version}")));
                assert_eq!(image.text(&format!("{AGENT}.go")).as_deref(), Some("Go"));
            }
            image.dpkg(&["--remove", NAME]).unwrap();
            assert_eq!(image.text(AGENT).as_deref(), Some("Go"));
            assert_eq!(image.text(&format!("{AGENT}.go")), None);
        }
    }
}

//! Builds the agent's RPM package with `rpmbuild` alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::deb::{AGENT, DIVERTED, FILES, LAUNCHER, NAME, UNIT};
use crate::step::{Failed, output, place, root, write};

/// Where the package keeps what it puts in place of other files.
const OWN: &str = "usr/libexec/mooring";

/// The path in the package of a file with this path on a node.
fn own_path(path: &str) -> String {
    if DIVERTED.contains(&path) {
        format!("{OWN}/{}", path.rsplit('/').next().unwrap_or(path))
    } else {
        path.to_owned()
    }
}

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
    let stage = into.canonicalize()?.join(format!("rpm-{architecture}"));
    let files = stage.join("files");
    place(agent, &files.join(own_path(AGENT)), 0o755)?;
    for (from, to, mode) in FILES {
        place(&root().join(from), &files.join(own_path(to)), mode)?;
    }
    let read = |name: &str| fs::read_to_string(root().join("packaging/rpm").join(name));
    let diverted = [AGENT, LAUNCHER, UNIT].map(|path| format!("/{path}")).join(" ");
    // A percent sign begins a macro of rpm.
    let divert = read("divert.lua")?.replace('%', "%%").replace("@DIVERTED@", &diverted);
    let spec = read("mooring-node-agent.spec")?
        .replace("@VERSION@", version)
        .replace("@STAGE@", &files.display().to_string())
        .replace("@DIVERT@", divert.trim_end());
    pack(NAME, version, &spec, architecture, &stage, into)
}

/// Builds a package from its description, then removes the directory.
fn pack(
    name: &str,
    version: &str,
    spec: &str,
    architecture: &str,
    stage: &Path,
    into: &Path,
) -> Result<PathBuf, Failed> {
    fs::create_dir_all(stage)?;
    write(&stage.join("package.spec"), spec)?;
    let architecture = match architecture {
        "amd64" => "x86_64",
        "arm64" => "aarch64",
        other => other,
    };
    let mut rpmbuild = Command::new("rpmbuild");
    // The same files give the same bytes.
    rpmbuild.env("SOURCE_DATE_EPOCH", "1").args(["-bb", "--quiet", "--target", architecture]);
    for define in [
        &format!("_topdir {}", stage.display()),
        "_buildhost localhost",
        "use_source_date_epoch_as_buildtime 1",
        "clamp_mtime_to_source_date_epoch 1",
    ] {
        rpmbuild.args(["--define", define]);
    }
    output(rpmbuild.arg(stage.join("package.spec")))?;
    let file = format!("{name}-{version}-1.{architecture}.rpm");
    fs::copy(stage.join("RPMS").join(architecture).join(&file), into.join(&file))?;
    fs::remove_dir_all(stage)?;
    Ok(into.join(file))
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
            Self(path.canonicalize().unwrap())
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
            let files = stage.join("files");
            for path in DIVERTED {
                fs::create_dir_all(files.join(path).parent().unwrap()).unwrap();
                write(&files.join(path), &format!("theirs {version}")).unwrap();
            }
            let paths = DIVERTED.map(|path| format!("/{path}")).join("\n");
            let spec = format!(
                "%global debug_package %{{nil}}\n%global __os_install_post %{{nil}}\n\
                 Name: aks-node-controller\nVersion: {version}\nRelease: 1\nSummary: theirs\nLicense: MIT\n\
                 AutoReqProv: no\n%description\ntheirs\n%install\ncp -a {}/. %{{buildroot}}/\n%files\n{paths}\n",
                files.display()
            );
            pack("aks-node-controller", version, &spec, "amd64", &stage, &self.0).unwrap()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// A root with nothing but rpm's database.
    struct Image(PathBuf);

    impl Image {
        fn new(path: PathBuf) -> Self {
            fs::create_dir_all(path.join("opt/azure/containers")).unwrap();
            Self(path)
        }

        fn rpm(&self, words: &[&str]) {
            let mut command = Command::new("rpm");
            command.arg(format!("--root={}", self.0.display())).arg("--nodeps");
            output(command.args(words)).unwrap();
        }

        fn install(&self, package: &Path) {
            self.rpm(&["--upgrade", "--ignorearch", package.to_str().unwrap()]);
        }

        fn is_place_taken(&self) -> bool {
            fs::symlink_metadata(self.0.join(AGENT)).is_ok()
        }

        /// The text at a path, where a link counts as in the image itself.
        fn text(&self, place: &str) -> Option<String> {
            let path = self.0.join(place);
            let target = fs::read_link(&path).ok();
            let path = target.map_or(path, |to| self.0.join(to.strip_prefix("/").unwrap()));
            fs::read_to_string(path).ok()
        }
    }

    /// Returns true if packages can be built and installed into a root, which requires root rights.
    fn has_rpm() -> bool {
        let found = |program: &str| {
            let found = Command::new(program).arg("--version").output();
            found.is_ok_and(|output| output.status.success())
        };
        let is_root = Command::new("id").arg("-u").output().is_ok_and(|id| id.stdout == b"0\n");
        let has = found("rpm") && found("rpmbuild") && is_root;
        let skips = std::env::var_os("MOORING_ALLOW_SKIPS").is_some_and(|value| value == "1");
        assert!(has || skips, "rpm is missing: install the package rpm, and run as root");
        if !has {
            println!("SKIPPED: rpm is not installed, or this is not root");
        }
        has
    }

    #[test]
    fn package_has_its_files_and_is_the_same_when_built_elsewhere() {
        if !has_rpm() {
            return;
        }
        let (here, there) = (Folder::new("rpm"), Folder::new("rpm-in-another-place"));
        let package = here.agent_package("0.2.0");
        let inside = output(Command::new("rpm").args(["-qlvp"]).arg(&package)).unwrap();
        let agent = ("", AGENT, 0o755);
        for (_, place, mode) in FILES.iter().chain(&[agent]) {
            let line =
                inside.lines().find(|line| line.ends_with(&format!(" /{}", own_path(place))));
            let line = line.unwrap_or_else(|| panic!("{place} is not in\n{inside}"));
            let shown = if *mode == 0o755 { "-rwxr-xr-x" } else { "-rw-r--r--" };
            assert!(line.starts_with(shown) && line.contains(" root "), "{line}");
        }
        let other = there.agent_package("0.2.0");
        assert!(fs::read(package).unwrap() == fs::read(other).unwrap(), "two builds differ");
    }

    #[test]
    fn agent_survives_the_other_package_in_any_order() {
        if !has_rpm() {
            return;
        }
        let folder = Folder::new("rpm-orders");
        let ours = ["0.2.0", "0.3.0"].map(|version| folder.agent_package(version));
        let theirs = ["202604.01.0", "202604.01.1"].map(|version| folder.theirs(version));
        // The package to install, or the name to remove, and the owner of the installed agent after it.
        let put = |package: &PathBuf| (Some(package.clone()), "");
        let take = |name: &'static str| (None, name);
        let (agent_1, agent_2) = (Some("agent 0.2.0"), Some("agent 0.3.0"));
        let (theirs_1, theirs_2) = (Some("theirs 202604.01.0"), Some("theirs 202604.01.1"));
        let other = "aks-node-controller";
        let orders = [
            vec![
                (put(&ours[0]), agent_1),
                (put(&theirs[0]), agent_1),
                (put(&theirs[1]), agent_1),
                (put(&ours[1]), agent_2),
                (take(other), agent_2),
                (take(NAME), None),
            ],
            vec![
                (put(&theirs[0]), theirs_1),
                (put(&ours[0]), agent_1),
                (put(&theirs[1]), agent_1),
                (take(NAME), theirs_2),
                (put(&ours[1]), agent_2),
                (take(NAME), theirs_2),
                (take(other), None),
            ],
            vec![
                (put(&theirs[0]), theirs_1),
                (put(&ours[0]), agent_1),
                (take(other), agent_1),
                (put(&theirs[1]), agent_1),
                (take(NAME), theirs_2),
            ],
        ];
        for (number, order) in orders.into_iter().enumerate() {
            let image = Image::new(folder.0.join(format!("image-{number}")));
            for ((package, name), agent) in order {
                match &package {
                    Some(package) => image.install(package),
                    None => image.rpm(&["--erase", name]),
                }
                let now = image.text(AGENT);
                assert_eq!(now.as_deref(), agent, "{number}: after {package:?} {name}");
                assert_eq!(image.is_place_taken(), agent.is_some(), "{number}: a link to nothing");
            }
        }
    }

    #[test]
    fn program_that_the_image_came_with_is_given_back() {
        if !has_rpm() {
            return;
        }
        let folder = Folder::new("rpm-baked");
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
            image.rpm(&["--erase", NAME]);
            assert_eq!(image.text(AGENT).as_deref(), Some("Go"));
            assert_eq!(image.text(&format!("{AGENT}.go")), None);
        }
    }
}

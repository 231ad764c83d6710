//! Starts the image of a layout as a node does: unpacked, with its user and entry point, in a container runtime.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::archive::sha256;
use crate::step::{Failed, is_installed, output, print, write};

/// Runtimes of OCI bundles, in the order in which they are tried.
const RUNTIMES: [&str; 2] = ["runc", "crun"];

/// Unpacks the image of an architecture into `folder`, and runs its entry point with these words. Returns what it printed, or
/// None, with the reason on the screen, without root. Where no runtime is installed or permitted, `chroot` takes its place.
pub(super) fn start(
    layout: &[u8],
    architecture: &str,
    words: &[&str],
    folder: &Path,
) -> Result<Option<String>, Failed> {
    let user = output(Command::new("id").arg("-u"))?;
    if user.trim() != "0" {
        print("SKIPPED: the image is not started: a container needs root\n");
        return Ok(None);
    }
    let image = unpack(layout, architecture, &folder.join("rootfs"))?;
    let own = image["Entrypoint"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let words: Vec<&str> = own.chain(words.iter().copied()).collect();
    let user = image["User"].as_str().unwrap_or_default();
    let why = match RUNTIMES.into_iter().find(|runtime| is_installed(runtime)) {
        None => format!("none of {} is installed", RUNTIMES.join(", ")),
        Some(runtime) => match run(runtime, user, &words, folder) {
            Err(Failed(why)) if is_refused(&why) => why,
            result => return result.map(Some),
        },
    };
    print(&format!("SKIPPED: the image is started by chroot, not by a container runtime: {why}\n"));
    let mut command = Command::new("chroot");
    command.arg(format!("--userspec={user}")).arg(folder.join("rootfs")).args(words);
    output(command.env_clear()).map(Some)
}

/// Returns true if the host does not permit containers, as inside of some.
fn is_refused(why: &str) -> bool {
    ["cgroup", "not permitted", "ermission denied"].iter().any(|part| why.contains(part))
}

fn run(runtime: &str, user: &str, words: &[&str], folder: &Path) -> Result<String, Failed> {
    let ids = user
        .split_once(':')
        .and_then(|(user, group)| Some((user.parse::<u32>().ok()?, group.parse::<u32>().ok()?)));
    let (user, group) = ids.ok_or_else(|| Failed(format!("not a user by number: {user}")))?;
    let namespaces = ["pid", "mount", "ipc", "uts", "network"].map(|kind| json!({"type": kind}));
    let bundle = json!({
        "ociVersion": "1.0.2",
        "process": {
            "user": {"uid": user, "gid": group},
            "args": words,
            "cwd": "/",
            "noNewPrivileges": true,
            "capabilities": {"bounding": [], "effective": [], "permitted": []},
        },
        "root": {"path": "rootfs", "readonly": true},
        "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"}],
        "linux": {"namespaces": namespaces},
    });
    write(&folder.join("config.json"), &bundle.to_string())?;
    let mut command = Command::new(runtime);
    command.arg("--root").arg(folder.join("state")).arg("run").arg("--bundle").arg(folder);
    output(command.arg(format!("mooring-{}", std::process::id())))
}

/// Writes the files of an image, and returns how it is run.
fn unpack(layout: &[u8], architecture: &str, to: &Path) -> Result<Value, Failed> {
    let files = read(layout)?;
    let index = named(&files)?;
    let manifests = index["manifests"].as_array().into_iter().flatten();
    let mut manifests = manifests.filter(|one| one["platform"]["architecture"] == architecture);
    let manifest =
        manifests.next().ok_or_else(|| Failed(format!("no image for {architecture}")))?;
    let manifest = document(&files, manifest)?;
    fs::create_dir_all(to.join("proc"))?;
    for layer in manifest["layers"].as_array().into_iter().flatten() {
        tar::Archive::new(flate2::read::GzDecoder::new(blob(&files, layer)?)).unpack(to)?;
    }
    Ok(document(&files, &manifest["config"])?["config"].clone())
}

/// Contents of the files of an archive, by path.
pub(super) fn read(archive: &[u8]) -> Result<BTreeMap<String, Vec<u8>>, Failed> {
    let mut archive = tar::Archive::new(archive);
    let mut files = BTreeMap::new();
    for entry in archive.entries()? {
        let mut entry = entry?;
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes)?;
        files.insert(entry.path()?.display().to_string(), bytes);
    }
    Ok(files)
}

/// The named content of a layout.
pub(super) fn named(files: &BTreeMap<String, Vec<u8>>) -> Result<Value, Failed> {
    let top = files.get("index.json").ok_or_else(|| Failed("no index.json".to_owned()))?;
    document(files, &parse(top)?["manifests"][0])
}

/// Follows a descriptor, and compares size and checksum.
pub(super) fn blob<'a>(
    files: &'a BTreeMap<String, Vec<u8>>,
    descriptor: &Value,
) -> Result<&'a [u8], Failed> {
    let digest = descriptor["digest"].as_str().unwrap_or_default();
    let sum = digest.strip_prefix("sha256:").unwrap_or_default();
    let found = files.get(&format!("blobs/sha256/{sum}"));
    let right = found.filter(|bytes| sha256(bytes) == sum && descriptor["size"] == bytes.len());
    right.map(Vec::as_slice).ok_or_else(|| Failed(format!("no content {digest}")))
}

fn document(files: &BTreeMap<String, Vec<u8>>, descriptor: &Value) -> Result<Value, Failed> {
    parse(blob(files, descriptor)?)
}

fn parse(bytes: &[u8]) -> Result<Value, Failed> {
    serde_json::from_slice(bytes).map_err(|error| Failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::super::oci::{Labels, image};
    use super::*;

    /// Prints who it is, whether it can write, and its words; fails without certificates.
    const PROGRAM: &str = "#include <stdio.h>\n#include <unistd.h>\nint main(int count, char **words) {\n\
        printf(\"%d:%d %d %s %s\\n\", getuid(), getgid(), fopen(\"/new\", \"w\") != 0, words[0], words[1]);\n\
        return access(\"/etc/ssl/certs/ca-certificates.crt\", R_OK);\n}\n";

    #[test]
    fn image_starts_as_its_user_with_its_entry_point() {
        let folder = std::env::temp_dir().join(format!("mooring-image-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        write(&folder.join("program.c"), PROGRAM).unwrap();
        let program = folder.join("program");
        let mut compiler = Command::new("cc");
        compiler.args(["-static", "-o"]).arg(&program).arg(folder.join("program.c"));
        output(&mut compiler).unwrap();
        let labels = Labels { version: "0.2.0", revision: "abc", source: None };
        let binaries = [("other", b"one".to_vec()), ("here", fs::read(program).unwrap())];
        let layout = image(&binaries, b"MIT", &labels).unwrap();
        let printed = start(&layout, "here", &["version"], &folder);
        fs::remove_dir_all(folder).unwrap();
        let skips = std::env::var_os("MOORING_ALLOW_SKIPS").is_some_and(|value| value == "1");
        match printed.unwrap() {
            Some(printed) => assert_eq!(printed.trim(), "65532:65532 0 /mooring version"),
            None => assert!(skips, "the image was not started: run as root"),
        }
    }
}

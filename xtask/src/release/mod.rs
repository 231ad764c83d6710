//! What is shipped: binaries for all targets, packages, image, chart, documents, bills of materials and checksums.

mod archive;
pub(crate) mod chart;
pub(crate) mod deb;
mod oci;
mod rpm;
mod runtime;
mod sbom;
pub(crate) mod targets;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::release::archive::{Entry, gzip, sha256, tar};
use crate::release::chart::Places;
use crate::release::oci::Labels;
use crate::release::sbom::Build;
use crate::release::targets::{AGENT, BuildTarget, MOORING, Program, TARGETS, Tools};
use crate::step::{Failed, need, output, place, print, root, run, write};

const USAGE: &str = "dist [--collect] [--source URL] [--registry REGISTRY] [--url URL]";

/// Platforms of the command line, as krew names them.
const PLATFORMS: [(&str, &str); 4] =
    [("linux", "amd64"), ("linux", "arm64"), ("darwin", "amd64"), ("darwin", "arm64")];

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Name of a shipped binary.
fn shipped(program: &str, os: &str, architecture: &str) -> String {
    format!("{program}-{os}-{architecture}")
}

/// Name of the archive with the command line.
fn archive_name(os: &str, architecture: &str) -> String {
    format!("{}.tar.gz", shipped("kubectl-mooring", os, architecture))
}

/// Builds what this machine can build. `--collect` builds nothing: it describes what other machines left in target/dist.
pub(crate) fn dist(words: &[&str]) -> Result<(), Failed> {
    let (places, is_collect) = parse(words)?;
    let folder = root().canonicalize()?.join("target/dist");
    if !is_collect {
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        if cfg!(target_os = "macos") {
            build_for_macs(&folder)?;
        } else {
            build_for_linux(&folder, &places)?;
        }
    }
    if let Some(url) = places.url {
        write(&folder.join("krew.yaml"), &krew(&folder, url)?)?;
    }
    let sums = sums(&folder)?;
    write(&folder.join(SUMS), &sums)?;
    print(&format!("{sums}all of it is in target/dist\n"));
    Ok(())
}

fn parse<'a>(words: &[&'a str]) -> Result<(Places<'a>, bool), Failed> {
    let (mut places, mut is_collect) = (Places::default(), false);
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        let place = match word {
            "--collect" => {
                is_collect = true;
                continue;
            }
            "--source" => &mut places.source,
            "--registry" => &mut places.registry,
            "--url" => &mut places.url,
            _ => return Err(Failed(USAGE.to_owned())),
        };
        let value = words.next().ok_or_else(|| Failed(USAGE.to_owned()))?;
        *place = Some(value.trim_end_matches('/'));
    }
    Ok((places, is_collect))
}

/// Binaries, archives, packages, image, chart and documents, each with its bill of materials.
fn build_for_linux(folder: &Path, places: &Places<'_>) -> Result<(), Failed> {
    need("dpkg-deb", "dpkg")?;
    need("rpmbuild", "rpm")?;
    let tools = Tools::install(TARGETS.iter().map(|target| target.triple))?;
    let known = sbom::checksums()?;
    let mut binaries = Vec::new();
    let built = |program: Program, target: BuildTarget| Build {
        package: program.package,
        triple: target.triple,
    };
    for target in TARGETS {
        let of = |program: Program| {
            let to = folder.join(shipped(program.name, "linux", target.architecture));
            place(&tools.build(program, target)?, &to, 0o755)?;
            bill(&to, &[built(program, target)], &known).map(|()| to)
        };
        let (mooring, agent) = (of(MOORING)?, of(AGENT)?);
        let mooring = fs::read(mooring)?;
        let archive = folder.join(archive_name("linux", target.architecture));
        write(&archive, &plugin(&mooring)?)?;
        bill(&archive, &[built(MOORING, target)], &known)?;
        binaries.push((target.architecture, mooring));
        for package in [deb::build, rpm::build] {
            let package = package(&agent, target.architecture, folder)?;
            bill(&package, &[built(AGENT, target)], &known)?;
        }
    }
    let revision = revision()?;
    let labels = Labels { version: VERSION, revision: &revision, source: places.source };
    let image = folder.join(format!("mooring-image-{VERSION}.oci.tar"));
    let layout = oci::image(&binaries, &license()?, &labels)?;
    start(&layout, folder)?;
    write(&image, &layout)?;
    bill(&image, &TARGETS.map(|target| built(MOORING, target)), &known)?;
    let (archive, definition) = chart::package(places)?;
    let stored = oci::chart(archive.clone(), &definition)?;
    for (name, bytes) in [
        (format!("mooring-{VERSION}.tgz"), archive),
        (format!("mooring-chart-{VERSION}.oci.tar"), stored),
    ] {
        write(&folder.join(&name), &bytes)?;
        bill(&folder.join(name), &[], &known)?;
    }
    write(&folder.join("LICENSE"), &license()?)?;
    let documents = folder.join(format!("mooring-documents-{VERSION}.tar.gz"));
    write(&documents, &gzip(&tar(&self::documents(folder)?)?)?)
}

/// Starts the image for this host, where that is possible.
fn start(layout: &[u8], folder: &Path) -> Result<(), Failed> {
    let here = TARGETS.iter().find(|target| target.triple.starts_with(std::env::consts::ARCH));
    let Some(here) = here else { return Ok(()) };
    let stage = folder.join("stage");
    fs::create_dir_all(&stage)?;
    let started = runtime::start(layout, here.architecture, &["version"], &stage);
    fs::remove_dir_all(&stage)?;
    match started? {
        Some(printed) if !printed.contains(VERSION) => {
            Err(Failed(format!("the image printed `{printed}`, not version {VERSION}")))
        }
        _ => Ok(()),
    }
}

/// The command line for both kinds of Macs, which needs Apple's libraries.
fn build_for_macs(folder: &Path) -> Result<(), Failed> {
    let known = sbom::checksums()?;
    for (architecture, triple) in
        [("amd64", "x86_64-apple-darwin"), ("arm64", "aarch64-apple-darwin")]
    {
        run("rustup", &["target", "add", triple])?;
        let Program { name, package, profile, .. } = MOORING;
        let what = ["--package", package, "--profile", profile, "--target", triple];
        run("cargo", &[&["build", "--locked"][..], &what].concat())?;
        let binary = root().join("target").join(triple).join(profile).join(name);
        let archive = folder.join(archive_name("darwin", architecture));
        write(&archive, &plugin(&fs::read(binary)?)?)?;
        bill(&archive, &[Build { package, triple }], &known)?;
    }
    Ok(())
}

fn license() -> Result<Vec<u8>, Failed> {
    Ok(fs::read(root().join("LICENSE"))?)
}

/// The commit, as the build writes it into the binary.
fn revision() -> Result<String, Failed> {
    if let Some(named) = std::env::var("MOORING_COMMIT").ok().filter(|named| !named.is_empty()) {
        return Ok(named);
    }
    let mut git = Command::new("git");
    Ok(output(git.current_dir(root()).args(["rev-parse", "HEAD"]))?.trim().to_owned())
}

/// Writes the bill of materials of a file next to it.
fn bill(
    file: &Path,
    builds: &[Build<'_>],
    known: &BTreeMap<(String, String), String>,
) -> Result<(), Failed> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let bill = sbom::describe(&name, &fs::read(file)?, builds, known)?;
    write(&file.with_file_name(format!("{name}.cdx.json")), &format!("{bill:#}\n"))
}

/// The archive for krew: the same binary under the name that kubectl expects.
fn plugin(binary: &[u8]) -> Result<Vec<u8>, Failed> {
    gzip(&tar(&[
        Entry::file("kubectl-mooring", 0o755, binary),
        Entry::file("LICENSE", 0o644, license()?),
    ])?)
}

/// Man pages and completions, generated by the binary for this host.
fn documents(folder: &Path) -> Result<Vec<Entry>, Failed> {
    let here = TARGETS.iter().find(|target| target.triple.starts_with(std::env::consts::ARCH));
    let here = here.ok_or_else(|| Failed("no shipped binary runs on this machine".to_owned()))?;
    let mooring = folder.join(shipped(MOORING.name, "linux", here.architecture));
    let stage = folder.join("stage");
    output(Command::new(&mooring).args(["man", "--out"]).arg(&stage))?;
    let mut pages: Vec<_> = fs::read_dir(&stage)?.collect::<Result<_, _>>()?;
    pages.sort_by_key(fs::DirEntry::file_name);
    let mut entries = Vec::new();
    for page in pages {
        let name = format!("man/{}", page.file_name().to_string_lossy());
        entries.push(Entry::file(name, 0o644, fs::read(page.path())?));
    }
    fs::remove_dir_all(&stage)?;
    for (shell, name) in [("bash", "mooring.bash"), ("zsh", "_mooring"), ("fish", "mooring.fish")] {
        let script = output(Command::new(&mooring).args(["completions", shell]))?;
        entries.push(Entry::file(format!("completions/{name}"), 0o644, script));
    }
    Ok(entries)
}

/// The manifest of krew, with the platforms whose archives exist.
fn krew(folder: &Path, url: &str) -> Result<String, Failed> {
    let mut platforms = String::new();
    for (os, architecture) in PLATFORMS {
        let name = archive_name(os, architecture);
        let Ok(archive) = fs::read(folder.join(&name)) else { continue };
        let sum = sha256(&archive);
        let _ = write!(
            platforms,
            "\n    - selector:\n        matchLabels:\n          os: {os}\n          arch: {architecture}\n      uri: \"{url}/{name}\"\n      sha256: \"{sum}\"\n      bin: kubectl-mooring"
        );
    }
    let manifest = fs::read_to_string(root().join("packaging/krew.yaml"))?;
    let manifest = manifest.replace("@VERSION@", VERSION).replace("@URL@", url);
    Ok(manifest.replace(" @PLATFORMS@", &platforms))
}

const SUMS: &str = "SHA256SUMS";

/// Checksums of all files, in the format of `sha256sum`.
fn sums(folder: &Path) -> Result<String, Failed> {
    let mut files: Vec<_> = fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    files.retain(|file| file.file_name() != SUMS && file.path().is_file());
    files.sort_by_key(fs::DirEntry::file_name);
    let mut sums = String::new();
    for file in files {
        let sum = sha256(&fs::read(file.path())?);
        let _ = writeln!(sums, "{sum}  {}", file.file_name().to_string_lossy());
    }
    Ok(sums)
}

#[cfg(test)]
mod dist_tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn places_are_parsed() {
        let (places, is_collect) = parse(&["--collect", "--url", "https://a/b/"]).unwrap();
        assert_eq!((places.url, places.source, is_collect), (Some("https://a/b"), None, true));
        for wrong in [&["--url"][..], &["url"], &["--image", "x"]] {
            assert_eq!(parse(wrong).unwrap_err().0, USAGE, "{wrong:?}");
        }
    }

    #[test]
    fn manifest_and_checksums_have_the_files_that_exist() {
        let folder = std::env::temp_dir().join(format!("mooring-dist-{}", std::process::id()));
        fs::create_dir_all(folder.join("stage")).unwrap();
        for (os, architecture) in [("linux", "amd64"), ("darwin", "arm64")] {
            write(&folder.join(archive_name(os, architecture)), os).unwrap();
        }
        let url = "https://git.example/v0.2.0";
        let manifest: Value = serde_saphyr::from_str(&krew(&folder, url).unwrap()).unwrap();
        let sums = sums(&folder).unwrap();
        assert_eq!(sums.lines().count(), 2, "{sums}");
        let platforms = manifest["spec"]["platforms"].as_array().unwrap();
        assert_eq!(platforms.len(), 2);
        for platform in platforms {
            let name = platform["uri"].as_str().unwrap().strip_prefix(&format!("{url}/")).unwrap();
            let os = platform["selector"]["matchLabels"]["os"].as_str().unwrap();
            assert!(name.contains(os) && platform["bin"] == "kubectl-mooring", "{platform}");
            let line = format!("{}  {name}\n", platform["sha256"].as_str().unwrap());
            assert!(sums.contains(&line), "{line} is not in\n{sums}");
        }
        assert_eq!(manifest["spec"]["version"], format!("v{VERSION}"));
        fs::remove_dir_all(&folder).unwrap();
    }
}

//! `dist`: everything that is shipped, in `target/dist`.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::deb;
use crate::step::{Failed, output, place, root, say, write};
use crate::targets::{AGENT, MOORING, TARGETS, Tools};

/// A binary's name among what is shipped.
fn shipped(program: &str, architecture: &str) -> String {
    format!("{program}-linux-{architecture}")
}

/// Builds, and lays out binaries, packages, pages and completions.
pub(crate) fn dist(words: &[&str]) -> Result<(), Failed> {
    let url = match words {
        [] => None,
        ["--url", url] => Some(*url),
        _ => return Err(Failed("dist [--url WHERE-THE-ARCHIVES-WILL-BE]".to_owned())),
    };
    let tools = Tools::install(TARGETS.iter().map(|target| target.triple))?;
    let folder = root().canonicalize()?.join("target/dist");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    for target in TARGETS {
        for program in [MOORING, AGENT] {
            let to = folder.join(shipped(program.name, target.architecture));
            place(&tools.build(program, target)?, &to, 0o755)?;
        }
        plugin(&folder, target.architecture)?;
        let agent = folder.join(shipped(AGENT.name, target.architecture));
        deb::build(&agent, target.architecture, &folder)?;
    }
    place(&root().join("LICENSE"), &folder.join("LICENSE"), 0o644)?;
    documents(&folder)?;
    if let Some(url) = url {
        krew(&folder, url)?;
    }
    let sums =
        output(Command::new("sh").current_dir(&folder).args(["-c", "sha256sum *-linux-* *.deb"]))?;
    write(&folder.join("SHA256SUMS"), &sums)?;
    say(&format!("{sums}all of it is in target/dist\n"));
    Ok(())
}

/// The archive that krew unpacks: the same binary under the name that kubectl looks for.
fn plugin(folder: &Path, architecture: &str) -> Result<(), Failed> {
    let stage = folder.join("stage");
    fs::create_dir_all(&stage)?;
    let binary = folder.join(shipped(MOORING.name, architecture));
    place(&binary, &stage.join("kubectl-mooring"), 0o755)?;
    place(&root().join("LICENSE"), &stage.join("LICENSE"), 0o644)?;
    // The same files give the same bytes.
    let same = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0"];
    let archive = folder.join(format!("{}.tar.gz", shipped("kubectl-mooring", architecture)));
    let mut tar = Command::new("tar");
    tar.args(same).arg("--use-compress-program=gzip -n").arg("--create").arg("--file").arg(archive);
    output(tar.arg("--directory").arg(&stage).args(["kubectl-mooring", "LICENSE"]))?;
    fs::remove_dir_all(&stage)?;
    Ok(())
}

/// Pages and completions, by the binary that runs here.
fn documents(folder: &Path) -> Result<(), Failed> {
    let here = TARGETS.iter().find(|target| target.triple.starts_with(std::env::consts::ARCH));
    let here = here.ok_or_else(|| Failed("no shipped binary runs on this machine".to_owned()))?;
    let mooring = folder.join(shipped(MOORING.name, here.architecture));
    output(Command::new(&mooring).args(["man", "--out"]).arg(folder.join("man")))?;
    fs::create_dir_all(folder.join("completions"))?;
    for (shell, name) in [("bash", "mooring.bash"), ("zsh", "_mooring"), ("fish", "mooring.fish")] {
        let script = output(Command::new(&mooring).args(["completions", shell]))?;
        write(&folder.join("completions").join(name), &script)?;
    }
    Ok(())
}

fn krew(folder: &Path, url: &str) -> Result<(), Failed> {
    let mut manifest = fs::read_to_string(root().join("packaging/krew.yaml"))?;
    manifest = manifest.replace("@VERSION@", env!("CARGO_PKG_VERSION"));
    manifest = manifest.replace("@URL@", url.trim_end_matches('/'));
    for target in TARGETS {
        let name = format!("{}.tar.gz", shipped("kubectl-mooring", target.architecture));
        let sum = output(Command::new("sha256sum").arg(folder.join(name)))?;
        let sum = sum.split_whitespace().next().unwrap_or_default().to_owned();
        manifest = manifest.replace(&format!("@SHA256-{}@", target.architecture), &sum);
    }
    write(&folder.join("krew.yaml"), &manifest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Instructions of a Dockerfile, with continued lines joined.
    fn instructions() -> Vec<(String, String)> {
        let text = fs::read_to_string(root().join("packaging/Dockerfile")).unwrap();
        let text = text.lines().filter(|line| !line.trim_start().starts_with('#'));
        let text = text.collect::<Vec<_>>().join("\n").replace("\\\n", " ");
        let lines = text.lines().filter_map(|line| line.trim().split_once(' '));
        lines.map(|(word, rest)| (word.to_owned(), rest.trim().to_owned())).collect()
    }

    #[test]
    fn the_image_is_made_of_what_dist_makes_and_runs_as_nobody() {
        let instructions = instructions();
        let known = ["FROM", "RUN", "ARG", "LABEL", "COPY", "USER", "EXPOSE", "ENTRYPOINT", "CMD"];
        assert!(instructions.iter().all(|(word, _)| known.contains(&word.as_str())));
        for target in TARGETS {
            let made = ["LICENSE".to_owned(), shipped(MOORING.name, target.architecture)];
            let copied: Vec<String> = instructions
                .iter()
                .filter(|(word, rest)| word == "COPY" && !rest.starts_with("--from="))
                .map(|(_, rest)| rest.replace("${TARGETARCH}", target.architecture))
                .map(|rest| rest.split_whitespace().next().unwrap().to_owned())
                .collect();
            assert_eq!(copied, made);
        }
        let last = |wanted: &str| {
            let found = instructions.iter().rfind(|(word, _)| word == wanted);
            found.map(|(_, rest)| rest.as_str()).unwrap()
        };
        assert_eq!((last("FROM"), last("USER")), ("scratch", "65532:65532"));
        assert_eq!((last("ENTRYPOINT"), last("CMD")), ("[\"/mooring\"]", "[\"controller\"]"));
    }

    #[test]
    fn the_plugin_is_announced_with_the_names_that_dist_gives() {
        let manifest = fs::read_to_string(root().join("packaging/krew.yaml")).unwrap();
        for target in TARGETS {
            let archive = shipped("kubectl-mooring", target.architecture);
            assert!(manifest.contains(&format!("uri: \"@URL@/{archive}.tar.gz\"")), "{archive}");
            assert!(manifest.contains(&format!("@SHA256-{}@", target.architecture)));
        }
        assert_eq!(manifest.matches("bin: kubectl-mooring").count(), TARGETS.len());
    }
}

//! `lab node`: nodes of real parts. The agent's Debian package in a Debian root that systemd boots in a container, with real
//! cloud-init, oras, docker-registry and dnsmasq; the cases are data (`xtask/lab/node.yaml`).
//!
//! | file | idea | I/O |
//! |---|---|---|
//! | `case` | what a case is, what was seen, and whether they agree | |
//! | `host` | what the machine must have, and may not permit | yes |
//! | `image` | the Debian root, oras and the package | yes |
//! | `outside` | the network, names and registries of the nodes | yes |
//! | `machine` | one node: boot, enter, end | yes |
//! | `run` | a case from its first boot to its last | yes |

mod case;
mod host;
mod image;
mod machine;
mod outside;
mod run;

use std::fs;
use std::path::PathBuf;

use crate::lab::case::Case;
use crate::step::{Failed, print, root};

const CASES: &str = "xtask/lab/node.yaml";

/// Set for the process in separate namespaces.
const INSIDE: &str = "MOORING_LAB_INSIDE";

#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    only: Option<String>,
    list: bool,
    keep: bool,
    install: bool,
}

impl Options {
    fn parse(words: &[&str]) -> Result<Self, Failed> {
        let mut options = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--list" => options.list = true,
                "--keep" => options.keep = true,
                "--install" => options.install = true,
                "--only" => options.only = words.next().map(ToString::to_string),
                _ => return Err(Failed(USAGE.to_owned())),
            }
            if *word == "--only" && options.only.is_none() {
                return Err(Failed(USAGE.to_owned()));
            }
        }
        Ok(options)
    }
}

const USAGE: &str = "lab node [--only CASE] [--list] [--keep] [--install]";

pub(crate) fn node(words: &[&str]) -> Result<(), Failed> {
    let options = Options::parse(words)?;
    let cases = chosen(cases()?, options.only.as_deref())?;
    if options.list {
        for case in &cases {
            print(&format!("{}\n", case.name));
        }
        return Ok(());
    }
    if std::env::var_os(INSIDE).is_some() {
        return run::all(&directory()?, &cases, options.keep);
    }
    if let Some(reason) = host::unable() {
        print(&format!("SKIPPED lab node: {reason}\n"));
        return Ok(());
    }
    host::need_packages(options.install)?;
    image::build(&directory()?)?;
    if let Some(reason) = host::refusal(&directory()?)? {
        print(&format!("SKIPPED lab node: systemd-nspawn is not permitted here: {reason}\n"));
        return Ok(());
    }
    let own = std::env::current_exe()?;
    let done = host::apart(&own).args(["lab", "node"]).args(words).env(INSIDE, "1").status()?;
    host::remove_cgroups();
    if done.success() {
        return Ok(());
    }
    Err(Failed(format!("a case differs; what its node printed is in {}", shown("output"))))
}

fn cases() -> Result<Vec<Case>, Failed> {
    case::read(&fs::read_to_string(root().join(CASES))?)
}

fn chosen(cases: Vec<Case>, only: Option<&str>) -> Result<Vec<Case>, Failed> {
    let chosen: Vec<Case> =
        cases.into_iter().filter(|case| only.is_none_or(|only| case.name.contains(only))).collect();
    if chosen.is_empty() {
        return Err(Failed("no such case\nhint: `cargo xtask lab node --list`".to_owned()));
    }
    Ok(chosen)
}

fn shown(name: &str) -> String {
    format!("target/lab/{name}")
}

fn directory() -> Result<PathBuf, Failed> {
    let directory = root().canonicalize()?.join("target/lab");
    fs::create_dir_all(directory.join("output"))?;
    Ok(directory)
}

#[cfg(test)]
mod chore_tests {
    use super::*;

    #[test]
    fn lab_cases_parse_and_have_unique_names() {
        let cases = cases().unwrap();
        let mut names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), cases.len());
        assert!(cases.iter().all(|case| !case.boots.is_empty()));
    }

    #[test]
    fn options_are_read_and_others_refused() {
        let options = Options::parse(&["--only", "disk full", "--keep"]).unwrap();
        assert_eq!((options.only.as_deref(), options.keep), (Some("disk full"), true));
        for wrong in [&["--only"][..], &["disk"], &["--kep"]] {
            assert!(Options::parse(wrong).is_err(), "{wrong:?}");
        }
        assert!(chosen(cases().unwrap(), Some("no case of this name")).is_err());
    }
}

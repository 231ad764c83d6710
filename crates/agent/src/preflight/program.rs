//! Finding a program as a shell would, and saying why it is not found.

use std::fmt;
use std::path::{Path, PathBuf};

use super::Facts;
use super::inside::{Target, look};
use crate::cli::Stage;
use crate::world::{EntryKind, World};

/// Where an image's programs are looked for: what a system service of it would see.
const IMAGE_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Enough for an ELF header, and for `#!`.
const HEAD_BYTES: usize = 20;

/// What stands at one place where a program could be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    Good,
    Missing,
    NotExecutable { mode: u32 },
    NotAFile,
    Dangling(PathBuf),
    WrongArchitecture { found: &'static str, expected: &'static str },
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Good => f.write_str("present"),
            Self::Missing => f.write_str("missing"),
            Self::NotExecutable { mode } => {
                write!(f, "present, but not executable (mode {mode:04o})")
            }
            Self::NotAFile => f.write_str("present, but not a file"),
            Self::Dangling(target) => {
                write!(f, "a link that leads nowhere (to {})", target.display())
            }
            Self::WrongArchitecture { found, expected } => {
                write!(f, "present, but made for {found}; this machine is {expected}")
            }
        }
    }
}

/// One place where a program could be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// As a person sees it, without a root.
    pub(super) path: PathBuf,
    pub(super) state: State,
}

/// The search path, as it is shown.
pub(super) fn search_path(world: &dyn World, stage: Stage) -> String {
    match stage {
        Stage::Image => IMAGE_PATH.to_owned(),
        Stage::Node => {
            let variable = world.variable("PATH");
            variable.map(|value| value.to_string_lossy().into_owned()).unwrap_or_default()
        }
    }
}

/// Every place of the search path that has something of this name, in order; the first good one is
/// what a shell would run.
pub(super) fn in_path(world: &mut dyn World, facts: &Facts<'_>, name: &str) -> Vec<Place> {
    // A node's search path is that of the host, also when the node lives in a folder.
    let root = match facts.stage {
        Stage::Image => facts.layout.root().map(Path::to_owned),
        Stage::Node => None,
    };
    let path = search_path(world, facts.stage);
    let folders = path.split(':').filter(|folder| !folder.is_empty());
    folders
        .map(|folder| place(world, facts, root.as_deref(), &Path::new(folder).join(name)))
        .filter(|place| place.state != State::Missing)
        .collect()
}

/// What stands at a fixed path of the node or the image.
pub(super) fn at(world: &mut dyn World, facts: &Facts<'_>, fixed: &str) -> Place {
    place(world, facts, facts.layout.root(), Path::new(fixed))
}

fn place(world: &mut dyn World, facts: &Facts<'_>, root: Option<&Path>, path: &Path) -> Place {
    let state = match look(world, root, path) {
        Target::Missing => State::Missing,
        Target::Dangling(target) => State::Dangling(target),
        Target::There { entry, .. } if entry.kind != EntryKind::File => State::NotAFile,
        Target::There { entry, .. } if entry.mode & 0o111 == 0 => {
            State::NotExecutable { mode: entry.mode }
        }
        Target::There { path, .. } => architecture_state(world, facts, &path),
    };
    Place { path: path.to_owned(), state }
}

fn architecture_state(world: &mut dyn World, facts: &Facts<'_>, real: &Path) -> State {
    match (architecture(world, real), expected_architecture(world, facts)) {
        (Some(found), Some(expected)) if found != expected => {
            State::WrongArchitecture { found, expected }
        }
        // A script, or nothing to compare with.
        _ => State::Good,
    }
}

/// What programs should be made for: this machine, or what the image's own shell is made for.
fn expected_architecture(world: &mut dyn World, facts: &Facts<'_>) -> Option<&'static str> {
    match facts.stage {
        Stage::Node => Some(match std::env::consts::ARCH {
            "x86_64" => "x86-64",
            "aarch64" => "arm64",
            other => other,
        }),
        Stage::Image => {
            let shells = ["/bin/bash", "/usr/bin/bash", "/bin/sh"];
            shells.iter().find_map(|shell| {
                match look(world, facts.layout.root(), Path::new(shell)) {
                    Target::There { path, .. } => architecture(world, &path),
                    _ => None,
                }
            })
        }
    }
}

/// What a program is made for; `None` if it is no ELF file.
fn architecture(world: &mut dyn World, real: &Path) -> Option<&'static str> {
    let head = world.head(real, HEAD_BYTES).ok()?;
    if !head.starts_with(b"\x7fELF") {
        return None;
    }
    // The machine's number stands at byte 18, in the order that byte 5 tells.
    let number = match (head.get(5)?, head.get(18..20)?) {
        (2, &[high, low]) => u16::from_be_bytes([high, low]),
        (_, &[low, high]) => u16::from_le_bytes([low, high]),
        _ => return None,
    };
    Some(match number {
        0x03 => "x86",
        0x28 => "arm",
        0x3e => "x86-64",
        0xb7 => "arm64",
        0xf3 => "riscv",
        _ => "another machine",
    })
}

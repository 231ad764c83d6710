//! Lookup of a binary like a shell, with the reason if it is not found.

use std::fmt;
use std::path::{Path, PathBuf};

use super::Facts;
use super::elf::{Elf, HEADER_BYTES};
use super::rooted_path::{Target, resolve};
use crate::cli::Stage;
use crate::world::{EntryKind, World};

/// Search path of a system service of an image.
const IMAGE_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Enough for the header and the table of segments, and for both tables of a Go program.
const HEAD_BYTES: u64 = 2048;

/// State of a candidate path of a binary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    Good,
    Missing,
    NotExecutable {
        mode: u32,
    },
    NotAFile,
    Dangling(PathBuf),
    /// Neither an ELF file nor a script, such as an empty file, or an HTML page instead of a download.
    NotAProgram {
        length: u64,
    },
    /// A truncated ELF file.
    Truncated {
        length: u64,
        needed: u64,
    },
    WrongArchitecture {
        found: &'static str,
        expected: &'static str,
    },
    /// It was started, and failed.
    DoesNotStart {
        why: String,
    },
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
                write!(f, "a broken link (to {})", target.display())
            }
            Self::NotAProgram { length: 0 } => f.write_str("present, but empty"),
            Self::NotAProgram { length } => {
                write!(f, "present, but neither a program nor a script ({length} bytes)")
            }
            Self::Truncated { length, needed } => {
                write!(f, "present, but cut short ({length} of at least {needed} bytes)")
            }
            Self::DoesNotStart { why } => {
                write!(f, "present, but `oras version` fails ({why})")
            }
            Self::WrongArchitecture { found, expected } => {
                write!(f, "present, but made for {found}; this machine is {expected}")
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    /// Path in messages, without the root.
    pub(super) path: PathBuf,
    pub(super) state: State,
}

pub(super) fn search_path(world: &dyn World, stage: Stage) -> String {
    match stage {
        Stage::Image => IMAGE_PATH.to_owned(),
        Stage::Node => {
            let variable = world.variable("PATH");
            variable.map(|value| value.to_string_lossy().into_owned()).unwrap_or_default()
        }
    }
}

/// Returns the candidates in the search path, in order, up to the first usable one, which a shell would run.
pub(super) fn in_path(world: &mut dyn World, facts: &Facts<'_>, name: &str) -> Vec<Candidate> {
    // A node's search path is that of the host, also with another root.
    let root = match facts.stage {
        Stage::Image => facts.layout.root().map(Path::to_owned),
        Stage::Node => None,
    };
    let path = search_path(world, facts.stage);
    let mut places = Vec::new();
    for folder in path.split(':').filter(|folder| !folder.is_empty()) {
        let place = place(world, facts, root.as_deref(), &Path::new(folder).join(name));
        let is_good = place.state == State::Good;
        if place.state != State::Missing {
            places.push(place);
        }
        if is_good {
            break;
        }
    }
    places
}

/// Returns the state of a fixed path of the node or the image.
pub(super) fn at(world: &mut dyn World, facts: &Facts<'_>, fixed: &str) -> Candidate {
    place(world, facts, facts.layout.root(), Path::new(fixed))
}

fn place(world: &mut dyn World, facts: &Facts<'_>, root: Option<&Path>, path: &Path) -> Candidate {
    let state = match resolve(world, root, path) {
        Target::Missing => State::Missing,
        Target::Dangling(target) => State::Dangling(target),
        Target::There { entry, .. } if entry.kind != EntryKind::File => State::NotAFile,
        Target::There { entry, .. } if entry.mode & 0o111 == 0 => {
            State::NotExecutable { mode: entry.mode }
        }
        Target::There { path, entry } => content_state(world, facts, &path, entry.length),
    };
    Candidate { path: path.to_owned(), state }
}

fn content_state(world: &mut dyn World, facts: &Facts<'_>, real: &Path, length: u64) -> State {
    let Ok(head) = world.read_at(real, 0, HEAD_BYTES) else { return State::Good };
    if head.starts_with(b"#!") {
        return State::Good;
    }
    let Some(elf) = Elf::read(&head) else {
        let is_cut = head.starts_with(b"\x7fELF");
        return if is_cut {
            State::Truncated { length, needed: HEADER_BYTES }
        } else {
            State::NotAProgram { length }
        };
    };
    let expected = expected_architecture(world, facts);
    elf_state(world, &elf, &head, real, length, expected)
}

/// Checks that an ELF file is complete and for the expected architecture.
fn elf_state(
    world: &mut dyn World,
    elf: &Elf,
    head: &[u8],
    real: &Path,
    length: u64,
    expected: Option<&'static str>,
) -> State {
    let needed = elf.needed_length(|offset, count| {
        let end = offset.checked_add(count).and_then(|end| usize::try_from(end).ok());
        let in_head = usize::try_from(offset).ok().zip(end);
        match in_head.and_then(|(from, to)| head.get(from..to)) {
            Some(bytes) => bytes.to_vec(),
            None => world.read_at(real, offset, count).unwrap_or_default(),
        }
    });
    match expected {
        _ if needed > length => State::Truncated { length, needed },
        Some(expected) if expected != elf.architecture() => {
            State::WrongArchitecture { found: elf.architecture(), expected }
        }
        _ => State::Good,
    }
}

/// Rejects a file that is not a complete ELF binary for this host; the error describes the file.
pub(crate) fn examine_program(world: &mut dyn World, path: &Path) -> Result<(), String> {
    let length = world.entry(path).map_err(|error| error.to_string())?.length;
    let head = world.read_at(path, 0, HEAD_BYTES).map_err(|error| error.to_string())?;
    let Some(elf) = Elf::read(&head) else {
        return Err(format!("not an ELF program ({length} bytes)"));
    };
    match elf_state(world, &elf, &head, path, length, Some(this_machine())) {
        State::Good => Ok(()),
        state => Err(state.to_string()),
    }
}

fn this_machine() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "x86-64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// Returns the expected architecture: that of this host, or of the image's shell.
fn expected_architecture(world: &mut dyn World, facts: &Facts<'_>) -> Option<&'static str> {
    match facts.stage {
        Stage::Node => Some(this_machine()),
        Stage::Image => {
            let shells = ["/bin/bash", "/usr/bin/bash", "/bin/sh"];
            shells.iter().find_map(|shell| {
                match resolve(world, facts.layout.root(), Path::new(shell)) {
                    Target::There { path, .. } => architecture(world, &path),
                    _ => None,
                }
            })
        }
    }
}

/// Returns the architecture of a binary; `None` if it is not an ELF file.
fn architecture(world: &mut dyn World, real: &Path) -> Option<&'static str> {
    Elf::read(&world.read_at(real, 0, HEADER_BYTES).ok()?).map(|elf| elf.architecture())
}

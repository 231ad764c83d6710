//! Lookup of a binary like a shell, with the reason if it is not found.

use std::path::{Path, PathBuf};

use super::PreflightFacts;
use super::rooted_path::{PathTarget, resolve};
use crate::cli::PreflightStage;
use crate::node::program::elf::{Elf, HEADER_BYTES};
use crate::node::program::{HEAD_BYTES, ProgramState, elf_state, this_machine};
use crate::world::{EntryKind, World};

/// Search path of a system service of an image.
const IMAGE_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    /// Path in messages, without the root.
    pub(super) path: PathBuf,
    pub(super) state: ProgramState,
}

pub(super) fn search_path(world: &dyn World, stage: PreflightStage) -> String {
    match stage {
        PreflightStage::Image => IMAGE_PATH.to_owned(),
        PreflightStage::Node => {
            let variable = world.variable("PATH");
            variable.map(|value| value.to_string_lossy().into_owned()).unwrap_or_default()
        }
    }
}

/// Returns the candidates in the search path, in order, up to the first usable one, which a shell would run.
pub(super) fn in_path(
    world: &mut dyn World,
    facts: &PreflightFacts<'_>,
    name: &str,
) -> Vec<Candidate> {
    // A node's search path is that of the host, also with another root.
    let root = match facts.stage {
        PreflightStage::Image => facts.layout.root().map(Path::to_owned),
        PreflightStage::Node => None,
    };
    let path = search_path(world, facts.stage);
    let mut places = Vec::new();
    for folder in path.split(':').filter(|folder| !folder.is_empty()) {
        let place = place(world, facts, root.as_deref(), &Path::new(folder).join(name));
        let is_good = place.state == ProgramState::Good;
        if place.state != ProgramState::Missing {
            places.push(place);
        }
        if is_good {
            break;
        }
    }
    places
}

/// Returns the state of a fixed path of the node or the image.
pub(super) fn at(world: &mut dyn World, facts: &PreflightFacts<'_>, fixed: &str) -> Candidate {
    place(world, facts, facts.layout.root(), Path::new(fixed))
}

fn place(
    world: &mut dyn World,
    facts: &PreflightFacts<'_>,
    root: Option<&Path>,
    path: &Path,
) -> Candidate {
    let state = match resolve(world, root, path) {
        PathTarget::Missing => ProgramState::Missing,
        PathTarget::Dangling(target) => ProgramState::Dangling(target),
        PathTarget::There { entry, .. } if entry.kind != EntryKind::File => ProgramState::NotAFile,
        PathTarget::There { entry, .. } if entry.mode & 0o111 == 0 => {
            ProgramState::NotExecutable { mode: entry.mode }
        }
        PathTarget::There { path, entry } => content_state(world, facts, &path, entry.length),
    };
    Candidate { path: path.to_owned(), state }
}

fn content_state(
    world: &mut dyn World,
    facts: &PreflightFacts<'_>,
    real: &Path,
    length: u64,
) -> ProgramState {
    let Ok(head) = world.read_at(real, 0, HEAD_BYTES) else { return ProgramState::Good };
    if head.starts_with(b"#!") {
        return ProgramState::Good;
    }
    let Some(elf) = Elf::read(&head) else {
        return if head.starts_with(b"\x7fELF") {
            ProgramState::Truncated { length, needed: HEADER_BYTES }
        } else {
            ProgramState::NotAProgram { length }
        };
    };
    let expected = expected_architecture(world, facts);
    elf_state(world, &elf, &head, real, length, expected)
}

/// Returns the expected architecture: that of this host, or of the image's shell.
fn expected_architecture(
    world: &mut dyn World,
    facts: &PreflightFacts<'_>,
) -> Option<&'static str> {
    match facts.stage {
        PreflightStage::Node => Some(this_machine()),
        PreflightStage::Image => {
            let shells = ["/bin/bash", "/usr/bin/bash", "/bin/sh"];
            shells.iter().find_map(|shell| {
                match resolve(world, facts.layout.root(), Path::new(shell)) {
                    PathTarget::There { path, .. } => {
                        let head = world.read_at(&path, 0, HEADER_BYTES).ok()?;
                        Elf::read(&head).map(|elf| elf.architecture())
                    }
                    _ => None,
                }
            })
        }
    }
}

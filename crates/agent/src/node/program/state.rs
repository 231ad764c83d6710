//! State of the file of a program.

use std::fmt;
use std::path::{Path, PathBuf};

use super::elf::Elf;
use crate::world::World;

/// Enough for the header and the table of segments, and for both tables of a Go program.
pub(crate) const HEAD_BYTES: u64 = 2048;

/// State of a candidate path of a binary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ProgramState {
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

impl fmt::Display for ProgramState {
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

/// Checks that an ELF file is complete and for the expected architecture.
pub(crate) fn elf_state(
    world: &mut dyn World,
    elf: &Elf,
    head: &[u8],
    real: &Path,
    length: u64,
    expected: Option<&'static str>,
) -> ProgramState {
    let needed = elf.needed_length(|offset, count| {
        let end = offset.checked_add(count).and_then(|end| usize::try_from(end).ok());
        let in_head = usize::try_from(offset).ok().zip(end);
        match in_head.and_then(|(from, to)| head.get(from..to)) {
            Some(bytes) => bytes.to_vec(),
            None => world.read_at(real, offset, count).unwrap_or_default(),
        }
    });
    match expected {
        _ if needed > length => ProgramState::Truncated { length, needed },
        Some(expected) if expected != elf.architecture() => {
            ProgramState::WrongArchitecture { found: elf.architecture(), expected }
        }
        _ => ProgramState::Good,
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
        ProgramState::Good => Ok(()),
        state => Err(state.to_string()),
    }
}

pub(crate) fn this_machine() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "x86-64",
        "aarch64" => "arm64",
        other => other,
    }
}

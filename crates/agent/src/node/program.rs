//! Programs of a node or a mounted image: looked up like a shell does, with the reason if one is not usable.

use std::ffi::OsString;
use std::fmt;
use std::path::{Component, Path, PathBuf};

use crate::node::paths::{PreflightStage, Site};
use crate::world::{EntryKind, FileInfo, World};

/// Enough for the header and the table of segments.
const HEAD_BYTES: u64 = 2048;

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

/// Checks that an ELF file of this length is complete and for the expected architecture.
fn elf_state(elf: &Elf, length: u64, expected: Option<&'static str>) -> ProgramState {
    match expected {
        _ if elf.needed > length => ProgramState::Truncated { length, needed: elf.needed },
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
    match elf_state(&elf, length, Some(this_machine())) {
        ProgramState::Good => Ok(()),
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

/// As long as the longest header.
const HEADER_BYTES: u64 = 64;

/// What the head of an ELF file tells; of a file that is not of 64 bits, only the machine.
#[derive(Debug, PartialEq, Eq)]
struct Elf {
    machine: u64,
    /// The least length of the file: the ends of its tables and of its segments.
    needed: u64,
}

impl Elf {
    /// Reads a header and the segments behind it; `None` if the file is not an ELF file or its header is truncated.
    fn read(head: &[u8]) -> Option<Self> {
        head.first_chunk::<64>().filter(|head| head.starts_with(b"\x7fELF"))?;
        let is_known = head[4..6] == [2, 1];
        // Offset, size of an entry and number of entries, where the header has them.
        let table = |at, entry, count| {
            let count = number(head, count, 2).filter(|_| is_known).unwrap_or_default();
            Some((number(head, at, 8)?, number(head, entry, 2)?, count))
        };
        let (segments, sections) = (table(32, 54, 56)?, table(40, 58, 60)?);
        let mut needed = HEADER_BYTES;
        for (at, entry, count) in [segments, sections] {
            if at > 0 && entry * count > 0 {
                needed = needed.max(at.saturating_add(entry * count));
            }
        }
        let (at, entry, count) = segments;
        for segment in (0..count).map(|index| at.saturating_add(index * entry)) {
            let offset = number(head, segment.saturating_add(8), 8);
            let size = number(head, segment.saturating_add(32), 8);
            needed =
                needed.max(offset.unwrap_or_default().saturating_add(size.unwrap_or_default()));
        }
        Some(Self { machine: number(head, 18, 2)?, needed })
    }

    fn architecture(&self) -> &'static str {
        match self.machine {
            0x3e => "x86-64",
            0xb7 => "arm64",
            0xf3 => "riscv",
            _ => "another machine",
        }
    }
}

/// The bytes from `at` on as a number, the last byte first; `None` where they are not.
fn number(bytes: &[u8], at: u64, length: usize) -> Option<u64> {
    let at = usize::try_from(at).ok()?;
    let bytes = bytes.get(at..at.checked_add(length)?)?;
    Some(bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
}

/// Search path of a system service of an image.
const IMAGE_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// Path in messages, without the root.
    pub(crate) path: PathBuf,
    pub(crate) state: ProgramState,
}

pub(crate) fn search_path(world: &dyn World, stage: PreflightStage) -> String {
    match stage {
        PreflightStage::Image => IMAGE_PATH.to_owned(),
        PreflightStage::Node => {
            let variable = world.variable("PATH");
            variable.map(|value| value.to_string_lossy().into_owned()).unwrap_or_default()
        }
    }
}

/// Returns the candidates in the search path, in order, up to the first usable one, which a shell would run.
pub(crate) fn in_path(world: &mut dyn World, site: Site<'_>, name: &str) -> Vec<Candidate> {
    // A node's search path is that of the host, also with another root.
    let root = match site.stage {
        PreflightStage::Image => site.layout.root().map(Path::to_owned),
        PreflightStage::Node => None,
    };
    let path = search_path(world, site.stage);
    let mut places = Vec::new();
    for folder in path.split(':').filter(|folder| !folder.is_empty()) {
        let place = place(world, site, root.as_deref(), &Path::new(folder).join(name));
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
pub(crate) fn at(world: &mut dyn World, site: Site<'_>, fixed: &str) -> Candidate {
    place(world, site, site.layout.root(), Path::new(fixed))
}

fn place(world: &mut dyn World, site: Site<'_>, root: Option<&Path>, path: &Path) -> Candidate {
    let state = match resolve(world, root, path) {
        PathTarget::Missing => ProgramState::Missing,
        PathTarget::Dangling(target) => ProgramState::Dangling(target),
        PathTarget::There { entry, .. } if entry.kind != EntryKind::File => ProgramState::NotAFile,
        PathTarget::There { entry, .. } if entry.mode & 0o111 == 0 => {
            ProgramState::NotExecutable { mode: entry.mode }
        }
        PathTarget::There { path, entry } => content_state(world, site, &path, entry.length),
    };
    Candidate { path: path.to_owned(), state }
}

fn content_state(world: &mut dyn World, site: Site<'_>, real: &Path, length: u64) -> ProgramState {
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
    let expected = expected_architecture(world, site);
    elf_state(&elf, length, expected)
}

/// Returns the expected architecture: that of this host, or of the image's shell.
fn expected_architecture(world: &mut dyn World, site: Site<'_>) -> Option<&'static str> {
    match site.stage {
        PreflightStage::Node => Some(this_machine()),
        PreflightStage::Image => {
            let shells = ["/bin/bash", "/usr/bin/bash", "/bin/sh"];
            shells.iter().find_map(|shell| {
                match resolve(world, site.layout.root(), Path::new(shell)) {
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

/// As many links as Linux itself follows.
const MAX_LINKS: usize = 40;

/// Target of a path, with all links resolved below the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PathTarget {
    /// The path exists; the real path includes the root.
    There {
        path: PathBuf,
        entry: FileInfo,
    },
    Missing,
    /// A broken link to this path (without the root).
    Dangling(PathBuf),
}

/// Resolves `path`, which is absolute relative to `root`.
pub(crate) fn resolve(world: &mut dyn World, root: Option<&Path>, path: &Path) -> PathTarget {
    let root = root.unwrap_or(Path::new("/"));
    let mut left: Vec<OsString> = components(path);
    let mut at = PathBuf::new();
    let mut links = 0;
    // True if the path itself is a link, not only a parent directory.
    let mut is_link = false;
    while let Some(word) = left.pop() {
        if word == ".." {
            at.pop();
            continue;
        }
        at.push(&word);
        let real = root.join(&at);
        let Ok(entry) = world.entry(&real) else {
            // Word by word: an empty rest would end the path in a slash.
            let mut wanted = Path::new("/").join(&at);
            wanted.extend(left.iter().rev());
            return if is_link { PathTarget::Dangling(wanted) } else { PathTarget::Missing };
        };
        if entry.kind != EntryKind::Link {
            if left.is_empty() {
                return PathTarget::There { path: real, entry };
            }
            continue;
        }
        links += 1;
        is_link |= left.is_empty();
        let target = match world.read_link(&real) {
            Ok(target) if links <= MAX_LINKS => target,
            _ => return PathTarget::Dangling(Path::new("/").join(at)),
        };
        at.pop();
        if target.is_absolute() {
            at.clear();
        }
        left.extend(components(&target));
    }
    // The root itself, or a path that climbs back to it.
    match world.entry(root) {
        Ok(entry) => PathTarget::There { path: root.to_owned(), entry },
        Err(_) => PathTarget::Missing,
    }
}

/// Returns the components of a path, the last one first.
fn components(path: &Path) -> Vec<OsString> {
    path.components()
        .rev()
        .filter_map(|component| match component {
            Component::Normal(word) => Some(word.to_owned()),
            Component::ParentDir => Some("..".into()),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::world::Host;

    fn needed(program: &[u8]) -> Option<u64> {
        Elf::read(&program[..program.len().min(2048)]).map(|elf| elf.needed)
    }

    #[test]
    fn real_binary_has_the_length_of_its_tables() {
        let program = std::fs::read("/proc/self/exe").unwrap();
        let length = u64::try_from(program.len()).unwrap();
        let whole = needed(&program).unwrap();
        assert!(whole <= length && whole > length / 2, "{whole} of {length}");
        // Any truncated file is too short.
        for part in [64, 4096, program.len() / 2, program.len() * 9 / 10] {
            let cut = &program[..part];
            assert!(needed(cut).unwrap() > u64::try_from(part).unwrap(), "{part}");
        }
        assert_eq!(needed(&program[..40]), None, "half a header");
    }

    #[test]
    fn hostile_headers_are_read_without_harm() {
        for head in [&b""[..], b"\x7fELF", b"#!/bin/sh\n", &[0xff; 64]] {
            assert_eq!(Elf::read(head), None);
        }
        let mut head = b"\x7fELF\x02\x01\x01".to_vec();
        head.resize(64, 0xff);
        assert_eq!(needed(&head), Some(u64::MAX));
        let mut entries_of_nothing = head.clone();
        entries_of_nothing[54..56].fill(0);
        entries_of_nothing[58..60].fill(0);
        assert_eq!(needed(&entries_of_nothing), Some(64));
    }

    #[test]
    fn links_resolve_inside_the_root() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for part in ["usr/bin", "opt/bin"] {
            std::fs::create_dir_all(root.join(part)).unwrap();
        }
        std::fs::copy("/bin/true", root.join("opt/bin/tool")).unwrap();
        symlink("usr/bin", root.join("bin")).unwrap();
        symlink("/opt/bin/tool", root.join("usr/bin/absolute")).unwrap();
        symlink("../../opt/bin/tool", root.join("usr/bin/relative")).unwrap();
        symlink("../../../../../opt/bin/tool", root.join("usr/bin/climbing")).unwrap();
        symlink("/bin/sh", root.join("usr/bin/outside")).unwrap();
        symlink("loop", root.join("usr/bin/loop")).unwrap();
        let resolve_path = |path: &str| resolve(&mut Host::default(), Some(root), Path::new(path));
        for good in ["/opt/bin/tool", "/bin/absolute", "/usr/bin/relative", "/usr/bin/climbing"] {
            let PathTarget::There { path, entry } = resolve_path(good) else { panic!("{good}") };
            assert_eq!((path, entry.kind), (root.join("opt/bin/tool"), EntryKind::File), "{good}");
        }
        // The machine that checks has a shell; the image has none.
        let PathTarget::Dangling(outside) = resolve_path("/usr/bin/outside") else {
            panic!("a shell")
        };
        // As text: paths are equal regardless of a trailing slash.
        assert_eq!(outside.as_os_str(), "/usr/bin/sh");
        assert!(matches!(resolve_path("/usr/bin/loop"), PathTarget::Dangling(_)));
        assert_eq!(resolve_path("/usr/bin/none"), PathTarget::Missing);
        // The directory is a link; a missing entry in it is not a broken link.
        assert_eq!(resolve_path("/bin/none"), PathTarget::Missing);
        assert!(matches!(resolve_path("/.."), PathTarget::There { .. }));
    }
}

//! Installs repaired scripts: all of them or none, also after a power loss.
//!
//! Every file is staged in the directory of its target first. Then the record, written in one instant, marks the files as
//! pending; from there on [`settle`] finishes, now or at the next start. If one rename fails, the renames before it are
//! undone, which is possible since names are exchanged and not overwritten.

use std::io;
use std::path::{Component, Path, PathBuf};

use mooring_redact::identifier;
use serde::{Deserialize, Serialize};

use crate::format::path_error;
use crate::hotfix::write_files::{WriteFile, crc32};
use crate::node::paths::{AGENT, HOTFIX_AGENT, HOTFIX_POLICY, HOTFIX_RECORD, Layout};
use crate::node::report::{replace_with, write_temporary};
use crate::world::{EntryKind, Replace, World};

/// The directories in which hotfixes may write.
const ROOTS: [&str; 4] = ["/opt", "/etc", "/var/lib", "/usr/local"];
/// Files that determine which agent runs; a script hotfix cannot replace them.
const PROTECTED: [&str; 4] = [AGENT, HOTFIX_AGENT, HOTFIX_POLICY, HOTFIX_RECORD];
/// The end of a staged file's name; nothing reads files that end so.
const STAGED: &str = ".mooring-staged";
/// The longest name that file systems take.
const MAX_NAME_BYTES: usize = 255;

/// Puts the files in place; on error, none of them.
pub(super) fn apply(
    world: &mut dyn World,
    layout: &Layout,
    version: &str,
    files: Vec<WriteFile>,
) -> Result<usize, String> {
    // Of several entries for a path the last counts.
    let mut kept: Vec<WriteFile> = Vec::with_capacity(files.len());
    for file in files {
        kept.retain(|other| other.path != file.path);
        kept.push(file);
    }
    let files = kept;
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    for path in &paths {
        check_path(world, layout, path)?;
        if paths
            .iter()
            .any(|other| other.strip_prefix(path).is_some_and(|rest| rest.starts_with('/')))
        {
            return Err(format!("{path}: both a file and a directory"));
        }
    }
    let old = read_record(world, layout).unwrap_or_default();
    let staged = stage(world, layout, &files);
    let record = staged.and_then(|placed| {
        let record = HotfixRecord {
            scripts: version.to_owned(),
            previous: old.scripts.clone(),
            is_pending: true,
            files: placed,
            binary: old.binary.clone(),
        };
        let written = record.write(world, layout);
        written.map_err(|error| path_error("write", HOTFIX_RECORD.as_ref(), &error))?;
        Ok(record)
    });
    match record {
        Ok(record) => settle(world, layout, &record).map(|()| files.len()),
        Err(error) => {
            for file in &files {
                let _ = world.remove(&staged_path(&layout.at(&file.path)));
            }
            // The record may be in its place although that could not be confirmed.
            if read_record(world, layout).is_some_and(|record| record.is_pending) {
                let _ = old.write(world, layout);
            }
            Err(error)
        }
    }
}

/// Completes or rolls back a pending record: afterward all files are new, or all are old.
pub(super) fn settle(
    world: &mut dyn World,
    layout: &Layout,
    record: &HotfixRecord,
) -> Result<(), String> {
    let mut forward = Ok(());
    for file in &record.files {
        forward = place(world, layout, file);
        if forward.is_err() {
            break;
        }
    }
    let mut settled = HotfixRecord { is_pending: false, ..record.clone() };
    if let Err(error) = &forward {
        for file in record.files.iter().rev() {
            take_back(world, layout, file)
                .map_err(|second| format!("{error}; rollback failed: {second}"))?;
        }
        settled.scripts.clone_from(&record.previous);
        settled.files.clear();
    }
    for file in &record.files {
        let _ = world.remove(&staged_path(&layout.at(&file.path)));
    }
    // A record that stays pending is settled again, to the same end.
    let _ = settled.write(world, layout);
    forward
}

/// Rejects a path that is not a regular file in one of the roots, or that contains a link.
fn check_path(world: &mut dyn World, layout: &Layout, path: &str) -> Result<(), String> {
    let refuse = |why: &str| Err(format!("{}: {why}", identifier(path)));
    let words: Vec<_> = Path::new(path).components().collect();
    let is_plain = words.split_first().is_some_and(|(first, rest)| {
        *first == Component::RootDir
            && rest.iter().all(|word| matches!(word, Component::Normal(_)))
            && words.iter().collect::<PathBuf>().as_os_str() == path
    });
    if !is_plain || path.chars().any(char::is_control) {
        return refuse("not a plain absolute path");
    }
    let is_in = |root: &str| path.strip_prefix(root).is_some_and(|rest| rest.starts_with('/'));
    if !ROOTS.iter().any(|root| is_in(root)) {
        return refuse("outside /opt, /etc, /var/lib and /usr/local");
    }
    if PROTECTED.contains(&path) {
        return refuse("is not a script");
    }
    let name = path.rsplit('/').next().unwrap_or_default();
    if name.len() + STAGED.len() + 1 > MAX_NAME_BYTES {
        return refuse("the name is too long");
    }
    let mut there = PathBuf::from("/");
    for (at, word) in words.iter().enumerate().skip(1) {
        there.push(word);
        let Some(fixed) = there.to_str() else { return refuse("not UTF-8") };
        let expected = if at + 1 == words.len() { EntryKind::File } else { EntryKind::Folder };
        match world.entry(&layout.at(fixed)) {
            Ok(entry) if entry.kind == expected => {}
            Ok(entry) if entry.kind == EntryKind::Link => {
                return refuse(&format!("{fixed} is a link"));
            }
            Ok(_) if expected == EntryKind::File => return refuse("is not a regular file"),
            Ok(_) => return refuse(&format!("{fixed} is not a directory")),
            // What is not there will be made.
            Err(error) if error.kind() == io::ErrorKind::NotFound => break,
            Err(error) => return Err(path_error("lstat", fixed.as_ref(), &error)),
        }
    }
    Ok(())
}

/// Stages every file and syncs it to the disk.
fn stage(
    world: &mut dyn World,
    layout: &Layout,
    files: &[WriteFile],
) -> Result<Vec<Placed>, String> {
    let mut placed = Vec::with_capacity(files.len());
    for WriteFile { path, mode, content } in files {
        let target = layout.at(path);
        let staged = staged_path(&target);
        let folder = target.parent().unwrap_or(&target);
        let replaces = world.entry(&target).is_ok();
        world
            .create_dir_all(folder)
            .and_then(|()| write_temporary(world, &staged, content, *mode))
            .and_then(|()| world.sync(folder))
            .map_err(|error| path_error("write", path.as_ref(), &error))?;
        placed.push(Placed {
            path: path.clone(),
            length: u64::try_from(content.len()).unwrap_or(u64::MAX),
            checksum: crc32(content),
            replaces,
        });
    }
    Ok(placed)
}

fn staged_path(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!(".{name}{STAGED}"))
}

/// Puts one file in place, unless it is already in place.
fn place(world: &mut dyn World, layout: &Layout, file: &Placed) -> Result<(), String> {
    check_path(world, layout, &file.path)?;
    let target = layout.at(&file.path);
    let staged = staged_path(&target);
    if is_new(world, &target, file) {
        return Ok(());
    }
    if !is_new(world, &staged, file) {
        return Err(format!("{}: staged file not found", file.path));
    }
    let renamed = if world.entry(&target).is_ok() {
        match world.rename(&staged, &target, Replace::Exchange) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                world.rename(&staged, &target, Replace::Yes)
            }
            renamed => renamed,
        }
    } else {
        world.rename(&staged, &target, Replace::No)
    };
    let folder = target.parent().unwrap_or(&target);
    renamed
        .and_then(|()| world.sync(folder))
        .map_err(|error| path_error("rename", file.path.as_ref(), &error))
}

/// Puts the old file back, or none where there was none.
fn take_back(world: &mut dyn World, layout: &Layout, file: &Placed) -> Result<(), String> {
    let target = layout.at(&file.path);
    let staged = staged_path(&target);
    if !is_new(world, &target, file) {
        return Ok(());
    }
    let renamed = match (file.replaces, world.entry(&staged).is_ok()) {
        (true, true) => world.rename(&staged, &target, Replace::Exchange),
        (true, false) => return Err(format!("{}: previous file not found", file.path)),
        (false, _) => world.rename(&target, &staged, Replace::Yes),
    };
    renamed.map_err(|error| path_error("rename", file.path.as_ref(), &error))
}

/// True if the hotfix's content is at this path.
fn is_new(world: &mut dyn World, path: &Path, file: &Placed) -> bool {
    let is_file = world
        .entry(path)
        .is_ok_and(|entry| entry.kind == EntryKind::File && entry.length == file.length);
    is_file && world.read(path, file.length).is_ok_and(|content| crc32(&content) == file.checksum)
}

/// The record's name while it is written.
const TEMPORARY: &str = ".aks-node-controller-hotfix-state-new";
/// More than a record of 256 files with the longest paths.
const MAX_BYTES: u64 = 2 << 20;

/// A record of the scripts and the agent that hotfixes installed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct HotfixRecord {
    /// The version of the scripts in place, or being put in place.
    pub(crate) scripts: String,
    /// The version of the scripts before that.
    previous: String,
    /// The version of the hotfix agent, if one was installed.
    pub(crate) binary: String,
    /// True while the files are being put in place.
    #[serde(rename = "pending")]
    pub(crate) is_pending: bool,
    files: Vec<Placed>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Placed {
    path: String,
    length: u64,
    checksum: u32,
    /// True if the file existed before.
    replaces: bool,
}

/// Reads the node's record; without a readable one, hotfixes have changed nothing.
pub(crate) fn read_record(world: &mut dyn World, layout: &Layout) -> Option<HotfixRecord> {
    serde_json::from_slice(&world.read(&layout.at(HOTFIX_RECORD), MAX_BYTES).ok()?).ok()
}

impl HotfixRecord {
    /// Replaces the node's record in one instant.
    pub(super) fn write(&self, world: &mut dyn World, layout: &Layout) -> io::Result<()> {
        let path = layout.at(HOTFIX_RECORD);
        replace_with(
            world,
            &path,
            &path.with_file_name(TEMPORARY),
            &serde_json::to_vec(self)?,
            0o644,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Host;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test's own files need no atomic writer")]
    fn files_outside_the_roots_or_not_regular_are_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir_all(root.join("opt/folder")).unwrap();
        std::fs::write(root.join("opt/file"), "").unwrap();
        std::os::unix::fs::symlink("folder", root.join("opt/link")).unwrap();
        let layout = Layout::new(Some(root.to_owned()));
        let longest = format!("/opt/{}", "x".repeat(MAX_NAME_BYTES - STAGED.len() - 1));
        let longer = format!("{longest}x");
        for (path, refused) in [
            ("/opt/file", None),
            ("/opt/new/folder/new", None),
            (&longest, None),
            (&longer, Some("the name is too long")),
            ("/opt/folder", Some("is not a regular file")),
            ("/opt/file/new", Some("/opt/file is not a directory")),
            ("/opt/link", Some("/opt/link is a link")),
            ("/opt/link/new", Some("/opt/link is a link")),
            ("/optional", Some("outside /opt, /etc, /var/lib and /usr/local")),
            ("/opt", Some("outside /opt, /etc, /var/lib and /usr/local")),
            ("opt/file", Some("not a plain absolute path")),
            ("/opt/../etc/a", Some("not a plain absolute path")),
            ("/opt//file", Some("not a plain absolute path")),
            ("/opt/a\nb", Some("not a plain absolute path")),
            (AGENT, Some("is not a script")),
        ] {
            let refused = refused.map_or(Ok(()), |why| Err(format!("{}: {why}", identifier(path))));
            assert_eq!(check_path(&mut Host::default(), &layout, path), refused);
        }
    }
}

//! Copy of the sources, kept between runs, in which mutants are created: the real sources are never changed, and only
//! files that differ are written, so that dependencies are not rebuilt.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::step::{Failed, command, output};

/// Makes `to` an exact copy of what git knows or would add in `from`.
pub(super) fn copy(from: &Path, to: &Path) -> Result<(), Failed> {
    let list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let list = output(command("git").current_dir(from).args(list))?;
    let files: HashSet<PathBuf> =
        list.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).collect();
    fs::create_dir_all(to)?;
    for file in &files {
        copy_file(&from.join(file), &to.join(file))
            .map_err(|error| Failed(format!("cannot copy {}: {error}", file.display())))?;
    }
    remove_others(to, Path::new(""), &files)?;
    Ok(())
}

fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    if from.symlink_metadata().is_err() {
        return fs::remove_file(to).or_else(|error| match error.kind() {
            io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        });
    }
    let target = |path: &Path| {
        path.symlink_metadata().is_ok_and(|meta| meta.is_symlink()).then(|| fs::read_link(path))
    };
    if let Some(link) = target(from) {
        let link = link?;
        if !matches!(target(to), Some(Ok(there)) if there == link) {
            let _ = fs::remove_file(to);
            fs::create_dir_all(to.parent().unwrap_or(to))?;
            std::os::unix::fs::symlink(link, to)?;
        }
        return Ok(());
    }
    if fs::read(to).ok() == Some(fs::read(from)?) {
        return Ok(());
    }
    fs::create_dir_all(to.parent().unwrap_or(to))?;
    fs::copy(from, to).map(drop)
}

/// Removes files that are not in the list.
fn remove_others(tree: &Path, folder: &Path, files: &HashSet<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(tree.join(folder))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            remove_others(tree, &path, files)?;
        } else if !files.contains(&path) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::copy;
    use crate::step::{command, output, write};

    #[test]
    fn copy_follows_its_source_and_keeps_what_is_the_same() {
        let folder = std::env::temp_dir().join(format!("mooring-mutants-{}", std::process::id()));
        let (from, to) = (folder.join("from"), folder.join("to"));
        fs::create_dir_all(from.join("src")).unwrap();
        output(command("git").current_dir(&from).args(["init", "-q"])).unwrap();
        for (name, text) in
            [("src/a.rs", "a"), ("src/b.rs", "b"), (".gitignore", "*.log\n"), ("x.log", "")]
        {
            write(&from.join(name), text).unwrap();
        }
        copy(&from, &to).unwrap();
        assert!(!to.join("x.log").exists());
        let kept = fs::metadata(to.join("src/a.rs")).unwrap().modified().unwrap();
        write(&to.join("src/b.rs"), "changed by a run that was killed").unwrap();
        write(&to.join("src/c.rs"), "left over").unwrap();
        copy(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(to.join("src/b.rs")).unwrap(), "b");
        assert!(!to.join("src/c.rs").exists());
        assert_eq!(fs::metadata(to.join("src/a.rs")).unwrap().modified().unwrap(), kept);
        fs::remove_file(from.join("src/a.rs")).unwrap();
        copy(&from, &to).unwrap();
        assert!(!to.join("src/a.rs").exists());
        fs::remove_dir_all(&folder).unwrap();
    }
}

//! Writes of output files: atomic for a file; a device or a pipe is written to, and stays what it is.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use mooring_redact::identifier;

use crate::output::failure::CommandFailure;

/// Writes a file with mode 0600, replacing an existing file atomically; or to a device or a pipe.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), CommandFailure> {
    write_any(path, bytes).map_err(|error| {
        let name = identifier(&path.to_string_lossy());
        CommandFailure::io(format!("cannot write `{name}`: {error}"))
    })
}

fn write_any(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if path.symlink_metadata().is_err() {
        return replace(path, bytes);
    }
    // A link stays a link: what it names is written.
    let kind = path.metadata()?.file_type();
    if kind.is_file() {
        return replace(&path.canonicalize()?, bytes);
    }
    if kind.is_fifo() || kind.is_char_device() || kind.is_block_device() {
        return OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    Err(io::Error::other("not a file, a pipe or a device"))
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let directory = path
        .parent()
        .filter(|directory| !directory.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let mut temporary = tempfile::NamedTempFile::new_in(directory)?;
    temporary.write_all(bytes)?;
    temporary.as_file().sync_all()?;
    temporary.persist(path).map(drop).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn pipe_and_device_are_written_to_and_stay() {
        use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
        let mode = Mode::RUSR | Mode::WUSR;
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        mknodat(CWD, &fifo, FileType::Fifo, mode, 0).unwrap();
        let reader = std::thread::spawn({
            let fifo = fifo.clone();
            move || std::fs::read_to_string(fifo)
        });
        write_any(&fifo, b"text").unwrap();
        assert!(fifo.symlink_metadata().unwrap().file_type().is_fifo());
        assert_eq!(reader.join().unwrap().unwrap(), "text");

        let device = folder.path().join("null");
        // A user without the right to create devices cannot replace the system's device either.
        let created = mknodat(CWD, &device, FileType::CharacterDevice, mode, makedev(1, 3));
        let is_usable = created.is_ok() && OpenOptions::new().write(true).open(&device).is_ok();
        let device = if is_usable { device } else { "/dev/null".into() };
        write_any(&device, b"text").unwrap();
        assert!(device.symlink_metadata().unwrap().file_type().is_char_device());
    }

    #[test]
    fn link_stays_and_other_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link, socket) =
            (folder.path().join("a"), folder.path().join("b"), folder.path().join("c"));
        write_any(&file, b"old").unwrap();
        std::os::unix::fs::symlink("a", &link).unwrap();
        write_any(&link, b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for path in [socket.as_path(), folder.path()] {
            let error = write_any(path, b"new").unwrap_err();
            assert_eq!(error.to_string(), "not a file, a pipe or a device");
            assert!(path.exists());
        }
        std::fs::remove_file(&file).unwrap();
        assert!(write_any(&link, b"new").is_err() && link.is_symlink(), "names no file");
    }
}

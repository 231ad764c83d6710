//! A file that is there whole, or not at all.

use std::io::Write as _;
use std::path::Path;

use mooring_redact::identifier;

use crate::failure::Failure;

/// Writes a file of which only its owner may read, replacing what is there in one instant.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let written = tempfile::NamedTempFile::new_in(folder).and_then(|mut beside| {
        beside.write_all(bytes)?;
        beside.as_file().sync_all()?;
        beside.persist(path).map_err(|error| error.error)
    });
    written.map(drop).map_err(|error| {
        let name = identifier(&path.to_string_lossy());
        Failure::unreadable(format!("cannot write `{name}`: {error}"))
    })
}

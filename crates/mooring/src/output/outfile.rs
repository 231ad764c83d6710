//! Atomic writes of output files.

use std::io::Write as _;
use std::path::Path;

use mooring_redact::identifier;

use crate::output::failure::CommandFailure;

/// Writes a file with mode 0600, replacing an existing file atomically.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), CommandFailure> {
    let directory = path
        .parent()
        .filter(|directory| !directory.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let written = tempfile::NamedTempFile::new_in(directory).and_then(|mut temporary| {
        temporary.write_all(bytes)?;
        temporary.as_file().sync_all()?;
        temporary.persist(path).map_err(|error| error.error)
    });
    written.map(drop).map_err(|error| {
        let name = identifier(&path.to_string_lossy());
        CommandFailure::io(format!("cannot write `{name}`: {error}"))
    })
}

//! Working directory of the demo, and its cleanup.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::files;
use crate::error::DemoError;

const REPORT: &str = "mooring-demo.html";

pub(crate) struct Workdir {
    /// Nodes, logs, and credentials for the simulated clouds.
    pub(crate) directory: PathBuf,
    pub(crate) report: PathBuf,
    /// Removed at the end; none if the user passed a directory.
    temporary: Option<TempDir>,
}

impl Workdir {
    /// Uses the given directory, else a temporary one with the report in the current directory.
    pub(crate) fn new(out: Option<&Path>) -> Result<Self, DemoError> {
        out.map_or_else(Self::temporary, Self::named)
    }

    fn named(out: &Path) -> Result<Self, DemoError> {
        let failed = |error| {
            let out = out.display();
            DemoError::Broken(format!(
                "cannot use directory {out}: {error}\nhint: pass a directory of yours with `--out DIR`"
            ))
        };
        files::directory(out).map_err(failed)?;
        let directory = std::fs::canonicalize(out).map_err(failed)?;
        if directory.join("nodes").exists() {
            return Err(DemoError::Broken(format!(
                "{} holds an earlier demo\nhint: remove it, or name another directory",
                directory.display()
            )));
        }
        Ok(Self { report: directory.join(REPORT), directory, temporary: None })
    }

    fn temporary() -> Result<Self, DemoError> {
        let temporary = tempfile::Builder::new().prefix("mooring-demo-").tempdir();
        let temporary = temporary.map_err(|error| {
            DemoError::Broken(format!("no temporary directory: {error}\nhint: TMPDIR names one"))
        })?;
        let directory = std::fs::canonicalize(temporary.path())
            .map_err(|error| DemoError::broken("the temporary directory", error))?;
        let here = std::env::current_dir().unwrap_or_else(|_| directory.clone());
        Ok(Self { directory, report: here.join(REPORT), temporary: Some(temporary) })
    }

    /// Returns true if nodes and logs remain after the demo.
    pub(crate) fn stays(&self) -> bool {
        self.temporary.is_none()
    }

    /// Removes the temporary directory. Returns true if nothing of it remains.
    pub(crate) fn clear(&self) -> bool {
        let Some(temporary) = &self.temporary else { return true };
        match std::fs::remove_dir_all(temporary.path()) {
            Ok(()) => false,
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        }
    }

    /// Keeps the logs of a failed scenario.
    pub(crate) fn keep(&mut self) {
        if let Some(temporary) = self.temporary.take() {
            let _ = temporary.keep();
        }
    }
}

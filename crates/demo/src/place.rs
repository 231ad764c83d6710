//! Where everything lies, and what of it stays.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::files;
use crate::trouble::Trouble;

const REPORT: &str = "mooring-demo.html";

pub(crate) struct Place {
    /// Nodes, logs, and the way to the simulated clouds.
    pub(crate) folder: PathBuf,
    pub(crate) report: PathBuf,
    /// What goes with the demo; nothing if a folder was named.
    temporary: Option<TempDir>,
}

impl Place {
    /// A folder that was named, else a temporary one; then the report goes where the person is.
    pub(crate) fn new(out: Option<&Path>) -> Result<Self, Trouble> {
        out.map_or_else(Self::temporary, Self::named)
    }

    fn named(out: &Path) -> Result<Self, Trouble> {
        let failed = |error| {
            let out = out.display();
            Trouble::Broken(format!(
                "cannot use the folder {out}: {error}\nhint: `--out DIR` names a folder of your own"
            ))
        };
        files::folder(out).map_err(failed)?;
        let folder = std::fs::canonicalize(out).map_err(failed)?;
        if folder.join("nodes").exists() {
            return Err(Trouble::Broken(format!(
                "{} holds an earlier demo\nhint: remove it, or name another folder",
                folder.display()
            )));
        }
        Ok(Self { report: folder.join(REPORT), folder, temporary: None })
    }

    fn temporary() -> Result<Self, Trouble> {
        let temporary = tempfile::Builder::new().prefix("mooring-demo-").tempdir();
        let temporary = temporary.map_err(|error| {
            Trouble::Broken(format!("no temporary folder: {error}\nhint: TMPDIR names one"))
        })?;
        let folder = std::fs::canonicalize(temporary.path())
            .map_err(|error| Trouble::broken("the temporary folder", error))?;
        let here = std::env::current_dir().unwrap_or_else(|_| folder.clone());
        Ok(Self { folder, report: here.join(REPORT), temporary: Some(temporary) })
    }

    /// Whether nodes and logs stay when the demo is over.
    pub(crate) fn stays(&self) -> bool {
        self.temporary.is_none()
    }

    /// Removes what goes with the demo. Says whether nothing of it is left.
    pub(crate) fn clear(&self) -> bool {
        let Some(temporary) = &self.temporary else { return true };
        match std::fs::remove_dir_all(temporary.path()) {
            Ok(()) => false,
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        }
    }

    /// The logs outlive a story that failed.
    pub(crate) fn keep(&mut self) {
        if let Some(temporary) = self.temporary.take() {
            let _ = temporary.keep();
        }
    }
}

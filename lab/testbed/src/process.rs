//! A server process that never outlives its owner.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Bytes of a server's log to show if it does not start.
const TAIL: u64 = 4096;

/// A running server, killed on drop.
pub(crate) struct ServerProcess {
    command: Command,
    child: Child,
    log: PathBuf,
}

impl ServerProcess {
    /// Starts a server with its output in a log file.
    pub(crate) fn start(
        program: &Path,
        arguments: &[String],
        log: PathBuf,
    ) -> std::io::Result<Self> {
        let output = File::options().create(true).append(true).open(&log)?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            // Servers written in Go live for seconds: they need a quarter less time if they collect garbage less often.
            .env("GOGC", "400")
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output);
        let child = command.spawn()?;
        Ok(Self { command, child, log })
    }

    pub(crate) fn stop(&mut self) {
        // SIGKILL: on SIGTERM, an apiserver waits for an etcd that may have exited, and the data is deleted with the
        // directory.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Starts the server again, with the same arguments.
    pub(crate) fn restart(&mut self) -> std::io::Result<()> {
        self.stop();
        self.child = self.command.spawn()?;
        Ok(())
    }

    pub(crate) fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the end of its log.
    pub(crate) fn log_tail(&self) -> String {
        let mut words = Vec::new();
        let read = File::open(&self.log).and_then(|mut log| {
            let length = log.metadata()?.len();
            log.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
            log.read_to_end(&mut words)
        });
        match read {
            Ok(_) => String::from_utf8_lossy(&words).into_owned(),
            Err(error) => format!("(its log cannot be read: {error})"),
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.stop();
    }
}

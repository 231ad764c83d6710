//! The traits through which commands access the host.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::world::{
    ChildEnd, ChildSpec, Dial, Duplex, EntryKind, FileInfo, HttpFailure, HttpRequest, HttpResponse,
    OutputFilter, Probe, ReadFailure, Replace, Signal, Space, Stream, Tool, ToolEnd, Watch,
    WatchFailure,
};

/// Files of the host. In `/var/log/azure`, where others may write, no link is followed on the way to a file, and none is
/// opened.
pub trait Files {
    /// Reads a regular file of at most `limit` bytes, and never waits for one that is not.
    fn read(&mut self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadFailure>;
    /// Bytes of a regular file from `offset` on: `count`, or fewer where it ends. A link is not followed.
    fn read_at(&mut self, path: &Path, offset: u64, count: u64) -> io::Result<Vec<u8>>;
    /// Returns the kind of a path, following a link at its end.
    fn kind(&mut self, path: &Path) -> io::Result<EntryKind>;
    /// Returns the metadata of a path without following a link.
    fn entry(&mut self, path: &Path) -> io::Result<FileInfo>;
    fn read_link(&mut self, path: &Path) -> io::Result<PathBuf>;
    /// Returns the free space of the file system of a path.
    fn space(&mut self, path: &Path) -> io::Result<Space>;
    /// Creates a directory and its parents, mode 0755.
    fn create_dir_all(&mut self, path: &Path) -> io::Result<()>;
    /// Appends to a log, which is created with mode 0640; an existing one loses permissions beyond that. Anything but
    /// a regular file is [`io::ErrorKind::InvalidInput`], links included.
    fn append(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Creates a new file with this mode, independent of the umask. A crash or an error may leave an incomplete one.
    fn write_new(&mut self, path: &Path, bytes: &[u8], mode: u32) -> io::Result<()>;
    /// Renames in one instant, never following a link at `to`.
    fn rename(&mut self, from: &Path, to: &Path, replace: Replace) -> io::Result<()>;
    /// Syncs a file or directory to disk.
    fn sync(&mut self, path: &Path) -> io::Result<()>;
    fn remove(&mut self, path: &Path) -> io::Result<()>;
    /// Acquires a lock for the lifetime of this process; returns false if another process has it.
    fn lock(&mut self, path: &Path) -> io::Result<bool>;
}

/// Everything that a command of the agent can see or change.
pub trait World: Files {
    fn now(&mut self) -> SystemTime;
    fn environment(&self) -> Vec<(OsString, OsString)>;
    fn variable(&self, name: &str) -> Option<OsString> {
        self.environment().into_iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }
    /// Writes to a standard stream; ignores a closed one.
    fn print(&mut self, stream: Stream, bytes: &[u8]);
    fn random(&mut self, bytes: &mut [u8]) -> io::Result<()>;

    fn pid(&self) -> u32;
    /// Returns the start time of a process in ticks since the boot; `None` if it does not exist.
    fn process_start(&mut self, pid: u32) -> Option<u64>;
    fn boot_id(&mut self) -> Option<String>;
    /// Starts a short command, found on `PATH`, whose standard output is waited for later. It gets nothing of this
    /// process's environment but `PATH` and `HOME`, and is killed after a few seconds ([`io::ErrorKind::TimedOut`]),
    /// or when nobody waits.
    fn probe(&mut self, program: &str, arguments: &[&OsStr]) -> io::Result<Probe>;
    /// From now on a panic calls `last_words` with the place where it happened, and prints nothing
    /// else: a panic's own text may quote a secret. With an exit code, the process then ends with that.
    fn on_panic(&mut self, exit_code: Option<u8>, last_words: Box<dyn Fn(&str) + Send + Sync>);
    /// From now on SIGTERM and SIGINT do not end this process; [`Self::run`] stops the program when one arrives.
    fn catch_signals(&mut self) -> io::Result<()>;
    /// Returns a caught signal once.
    fn caught_signal(&mut self) -> Option<Signal>;
    /// Runs a command; `filter` transforms its output.
    fn run(&mut self, child: &ChildSpec, filter: &mut dyn OutputFilter) -> io::Result<ChildEnd>;
    /// Starts to watch directories; later changes are not missed.
    fn watch(&mut self, folders: &[&Path]) -> Result<Box<dyn Watch>, WatchFailure>;

    /// The time since some fixed instant. Unlike [`Self::now`] it never jumps, which the time of day
    /// does on a machine that has just booted.
    fn monotonic(&mut self) -> Duration;
    fn sleep(&mut self, pause: Duration);
    fn connect(&mut self, host: &str, port: u16, limit: Duration) -> Result<(), HttpFailure>;
    /// Returns the same world for another thread.
    fn apart(&self) -> Box<dyn World + Send>;
    /// Sends a request and reads the whole response.
    fn fetch(&mut self, request: &HttpRequest<'_>) -> Result<HttpResponse, HttpFailure>;
    fn dial(&mut self, dial: &Dial<'_>) -> Result<Box<dyn Duplex>, HttpFailure>;
    /// Runs a short command with a secret on its standard input.
    fn run_tool(&mut self, tool: &Tool<'_>) -> io::Result<ToolEnd>;
}

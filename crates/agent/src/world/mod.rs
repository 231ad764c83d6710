//! I/O of the process, through one trait.
//!
//! The agent's commands access the host only through [`World`], so that a test can set the clock, fill the
//! disk or interrupt a write. [`Host`] is the real implementation.

mod child;
mod files;
mod host;
mod http;
mod process;
mod tool;
#[cfg(target_os = "linux")]
mod tree;
#[cfg(not(target_os = "linux"))]
#[path = "tree_elsewhere.rs"]
mod tree;
mod watch;

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use mooring_redact::Secret;

pub use host::Host;
#[doc(hidden)]
pub use http::read_response;
pub use http::{
    Dial, Duplex, HttpFailure, HttpFailureKind, HttpRequest, HttpResponse, MAX_BODY, Roots, Url,
    UrlError,
};

/// Everything that a command of the agent can see or change.
pub trait World {
    fn now(&mut self) -> SystemTime;
    fn environment(&self) -> Vec<(OsString, OsString)>;
    fn variable(&self, name: &str) -> Option<OsString> {
        self.environment().into_iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }
    /// Writes to a standard stream; ignores a closed one.
    fn print(&mut self, stream: Stream, bytes: &[u8]);
    fn random(&mut self, bytes: &mut [u8]) -> io::Result<()>;

    /// Reads a file of at most `limit` bytes.
    fn read(&mut self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadFailure>;
    /// Bytes of a file from `offset` on: `count`, or fewer where it ends.
    fn read_at(&mut self, path: &Path, offset: u64, count: u64) -> io::Result<Vec<u8>>;
    /// Returns the metadata of a path, following links.
    fn kind(&mut self, path: &Path) -> io::Result<FileKind>;
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
    /// Creates a new file. A crash or an error may leave an incomplete one.
    fn write_new(&mut self, path: &Path, bytes: &[u8], mode: u32) -> io::Result<()>;
    /// Sets the permissions of a file, independent of the umask.
    fn set_mode(&mut self, path: &Path, mode: u32) -> io::Result<()>;
    /// Renames in one instant, never following a link at `to`.
    fn rename(&mut self, from: &Path, to: &Path, replace: Replace) -> io::Result<()>;
    /// Syncs a file or directory to disk.
    fn sync(&mut self, path: &Path) -> io::Result<()>;
    fn remove(&mut self, path: &Path) -> io::Result<()>;
    /// Acquires a lock for the lifetime of this process; returns false if another process has it.
    fn lock(&mut self, path: &Path) -> io::Result<bool>;

    fn pid(&self) -> u32;
    /// Returns the start time of a process in ticks since the boot; `None` if it does not exist.
    fn process_start(&mut self, pid: u32) -> Option<u64>;
    fn boot_id(&mut self) -> Option<String>;
    /// Returns the standard output of a short command, found on `PATH`. It gets nothing of this process's environment
    /// but `PATH` and `HOME`, and is killed after a few seconds ([`io::ErrorKind::TimedOut`]).
    fn probe(&mut self, program: &str, arguments: &[&OsStr]) -> io::Result<Vec<u8>>;
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Out,
    Err,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    File,
    Folder,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileInfo {
    pub kind: EntryKind,
    pub mode: u32,
    pub length: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Folder,
    Link,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    pub free_bytes: u64,
    /// Files that can still be made; `None` where the file system does not count them.
    pub free_files: Option<u64>,
}

/// Policy for a rename whose target exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replace {
    Yes,
    /// It fails with [`io::ErrorKind::AlreadyExists`].
    No,
    /// Both change places; a file system that cannot do so fails with [`io::ErrorKind::Unsupported`].
    Exchange,
}

/// The reason why a file could not be read; Go has a message for each.
#[derive(Debug)]
pub enum ReadFailure {
    Open(io::Error),
    Read(io::Error),
    TooLarge { limit: u64 },
}

/// A signal that stops the agent and the scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    Terminate,
    Interrupt,
}

impl Signal {
    pub fn name(self) -> &'static str {
        match self {
            Self::Terminate => "SIGTERM",
            Self::Interrupt => "SIGINT",
        }
    }

    pub fn number(self) -> i32 {
        match self {
            Self::Terminate => 15,
            Self::Interrupt => 2,
        }
    }
}

#[derive(Clone)]
pub struct ChildSpec {
    pub program: &'static str,
    /// Arguments, which never contain secrets: any user on the node can read them.
    pub arguments: Vec<OsString>,
    /// Variables that beat the inherited ones.
    pub variables: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildEnd {
    pub status: ChildStatus,
    /// Result of a stop by a signal.
    pub stopped: Option<Stopped>,
    /// True if a leftover process kept its output open.
    pub output_left_open: bool,
}

/// Root of a process tree to stop.
#[derive(Debug, Clone, Copy)]
enum Scope {
    /// With every child of this process, the adopted ones included.
    Children(u32),
    Process(u32),
}

/// A program that was stopped, with all processes that it had started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    pub signal: Signal,
    pub processes: usize,
    pub killed: usize,
    /// Processes that could not be stopped: number and name.
    pub left: Vec<(u32, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChildStatus {
    Exited(i32),
    Signaled { number: i32, core_dumped: bool },
}

/// A small program to run for a limited time; its output is kept, not printed.
#[derive(Debug)]
pub struct Tool<'a> {
    pub program: &'a Path,
    /// Arguments, which never contain secrets: any user on the node can read them.
    pub arguments: Vec<OsString>,
    /// Variables in addition to `PATH`, `HOME` and `LANG`; nothing else is inherited.
    pub variables: Vec<(&'static str, OsString)>,
    pub input: &'a Secret,
    pub limit: Duration,
}

#[derive(Clone)]
pub struct ToolEnd {
    /// `None` if its time was up.
    pub status: Option<ChildStatus>,
    /// The beginning of its standard output, then that of its standard error. It may hold a secret.
    pub output: Vec<u8>,
}

/// Sees a program's output as it comes, and decides what is printed.
pub trait OutputFilter {
    /// The program has been started, as this process.
    fn started(&mut self, _pid: u32) {}
    /// Filters a chunk of output; appends to `printed` the part that is safe to print.
    fn push(&mut self, stream: Stream, piece: &[u8], printed: &mut Vec<u8>);
    /// Ends the stream; appends the rest.
    fn finish(&mut self, stream: Stream, printed: &mut Vec<u8>);
}

pub trait Watch {
    /// Sleeps until a name appears in a watched directory, `pid` ends, or `deadline` passes.
    fn wait(&mut self, pid: Option<u32>, deadline: Option<Duration>) -> io::Result<WakeReason>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WakeReason {
    Changed,
    ProcessEnded,
    TimedOut,
}

#[derive(Debug)]
pub enum WatchFailure {
    Create(io::Error),
    Folder(io::Error),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_have_the_names_and_numbers_of_the_system() {
        let shown = |signal: Signal| (signal.name(), signal.number());
        assert_eq!(shown(Signal::Terminate), ("SIGTERM", 15));
        assert_eq!(shown(Signal::Interrupt), ("SIGINT", 2));
    }
}

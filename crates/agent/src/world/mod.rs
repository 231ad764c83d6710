//! Everything outside the process, behind one seam.
//!
//! The agent's commands see the machine only through [`World`], so that a test can turn the clock,
//! fill the disk or cut a write in half. [`Host`] is the real one.

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
    /// The time of day.
    fn now(&mut self) -> SystemTime;
    /// The environment that this process was started with.
    fn environment(&self) -> Vec<(OsString, OsString)>;
    /// One variable of that environment.
    fn variable(&self, name: &str) -> Option<OsString> {
        self.environment().into_iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }
    /// Writes to a standard stream; a closed one is nobody's problem.
    fn print(&mut self, stream: Stream, bytes: &[u8]);
    /// Bytes that nobody can guess.
    fn random(&mut self, bytes: &mut [u8]) -> io::Result<()>;

    /// Reads a file of at most `limit` bytes.
    fn read(&mut self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadFailure>;
    /// Bytes of a file from `offset` on: `count`, or fewer where it ends.
    fn read_at(&mut self, path: &Path, offset: u64, count: u64) -> io::Result<Vec<u8>>;
    /// What a path leads to, links followed.
    fn kind(&mut self, path: &Path) -> io::Result<FileKind>;
    /// What stands at a path itself, a link included.
    fn entry(&mut self, path: &Path) -> io::Result<Entry>;
    fn read_link(&mut self, path: &Path) -> io::Result<PathBuf>;
    /// How much room is left in the file system that holds a path.
    fn space(&mut self, path: &Path) -> io::Result<Space>;
    /// Makes a folder and its parents, mode 0755.
    fn create_dir_all(&mut self, path: &Path) -> io::Result<()>;
    /// Appends to a log, which is created with mode 0640; an existing one loses permissions beyond that. Anything but
    /// a regular file is [`io::ErrorKind::InvalidInput`], links included.
    fn append(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Creates a file that was not there. A crash or an error may leave a part of it.
    fn write_new(&mut self, path: &Path, bytes: &[u8], mode: u32) -> io::Result<()>;
    /// Sets the permissions of a file, independent of the umask.
    fn set_mode(&mut self, path: &Path, mode: u32) -> io::Result<()>;
    /// Renames in one instant, never following a link at `to`.
    fn rename(&mut self, from: &Path, to: &Path, replace: Replace) -> io::Result<()>;
    /// Puts a file's content, or a folder's names, on the disk.
    fn sync(&mut self, path: &Path) -> io::Result<()>;
    fn remove(&mut self, path: &Path) -> io::Result<()>;
    /// Takes a lock that lasts as long as this process; `false` if another process has it.
    fn lock(&mut self, path: &Path) -> io::Result<bool>;

    /// The process that this is.
    fn pid(&self) -> u32;
    /// When a process started, in ticks since the boot; `None` if there is no such process.
    fn process_start(&mut self, pid: u32) -> Option<u64>;
    /// Which boot this is; `None` where the system does not tell.
    fn boot_id(&mut self) -> Option<String>;
    /// Returns the standard output of a short command, found on `PATH`. It gets nothing of this process's environment
    /// but `PATH` and `HOME`, and is killed after a few seconds ([`io::ErrorKind::TimedOut`]).
    fn probe(&mut self, program: &str, arguments: &[&OsStr]) -> io::Result<Vec<u8>>;
    /// From now on a panic calls `last_words` with the place where it happened, and prints nothing
    /// else: a panic's own text may quote a secret. With an exit code, the process then ends with that.
    fn on_panic(&mut self, exit_code: Option<u8>, last_words: Box<dyn Fn(&str) + Send + Sync>);
    /// From now on SIGTERM and SIGINT do not end this process; [`Self::run`] stops the program when one arrives.
    fn catch_signals(&mut self) -> io::Result<()>;
    /// A signal that was caught and not yet asked for.
    fn caught_signal(&mut self) -> Option<Signal>;
    /// Runs a program to its end; `filter` sees its output and says what is printed of it.
    fn run(&mut self, child: &ChildSpec, filter: &mut dyn OutputFilter) -> io::Result<ChildEnd>;
    /// Begins to watch folders; what happens from now on is not missed.
    fn watch(&mut self, folders: &[&Path]) -> Result<Box<dyn Watch>, WatchFailure>;

    /// The time since some fixed instant. Unlike [`Self::now`] it never jumps, which the time of day
    /// does on a machine that has just booted.
    fn monotonic(&mut self) -> Duration;
    /// Does nothing for a while.
    fn sleep(&mut self, pause: Duration);
    /// Looks a name up and connects to it, and that is all.
    fn connect(&mut self, host: &str, port: u16, limit: Duration) -> Result<(), HttpFailure>;
    /// The same world, for a thread of its own.
    fn apart(&self) -> Box<dyn World + Send>;
    /// Asks a server and reads its whole answer.
    fn fetch(&mut self, request: &HttpRequest<'_>) -> Result<HttpResponse, HttpFailure>;
    /// Opens a connection with TLS.
    fn dial(&mut self, dial: &Dial<'_>) -> Result<Box<dyn Duplex>, HttpFailure>;
    /// Runs a small program that takes a secret on its standard input.
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

/// What stands at a path, links not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// A regular file, a folder, a link or something else.
    pub kind: EntryKind,
    pub mode: u32,
    /// The size in bytes.
    pub length: u64,
}

/// What stands at a path, links not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Folder,
    Link,
    Other,
}

/// Room in a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// Bytes that can still be written.
    pub free_bytes: u64,
    /// Files that can still be made; `None` where the file system does not count them.
    pub free_files: Option<u64>,
}

/// Whether a rename may replace what stands at its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replace {
    Yes,
    /// It fails with [`io::ErrorKind::AlreadyExists`].
    No,
    /// Both change places; a file system that cannot do so fails with [`io::ErrorKind::Unsupported`].
    Exchange,
}

/// Why a file could not be read; Go tells the two apart, and so do its messages.
#[derive(Debug)]
pub enum ReadFailure {
    /// It could not be opened.
    Open(io::Error),
    /// It could be opened, but not read.
    Read(io::Error),
    /// It is larger than the limit.
    TooLarge { limit: u64 },
}

/// A signal that stops the agent and the scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    Terminate,
    Interrupt,
}

impl Signal {
    /// Its name, as `kill -l` has it.
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

/// A program to run.
#[derive(Clone)]
pub struct ChildSpec {
    pub program: &'static str,
    /// Its arguments. They never hold a secret: everybody on the node can read them.
    pub arguments: Vec<OsString>,
    /// Variables that beat the inherited ones.
    pub variables: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildEnd {
    /// By itself, or by a signal.
    pub status: ChildStatus,
    /// What a signal made of it, if one arrived.
    pub stopped: Option<Stopped>,
    /// True if a process that it left behind kept its output open, and was not waited for.
    pub output_left_open: bool,
}

/// Where a tree of processes that is to be stopped begins.
#[derive(Debug, Clone, Copy)]
enum Scope {
    /// With every child of this process, the adopted ones included.
    Children(u32),
    Process(u32),
}

/// A program that was stopped, with all processes that it had started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    /// The signal that this process received.
    pub signal: Signal,
    pub processes: usize,
    /// How many of them had to be killed.
    pub killed: usize,
    /// Processes that could not be stopped: number and name.
    pub left: Vec<(u32, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChildStatus {
    /// By itself, with this code.
    Exited(i32),
    Signaled {
        number: i32,
        core_dumped: bool,
    },
}

/// A small program to run for a limited time; its output is kept, not printed.
#[derive(Debug)]
pub struct Tool<'a> {
    pub program: &'a Path,
    /// Its arguments. They never hold a secret: everybody on the node can read them.
    pub arguments: Vec<OsString>,
    /// Its variables besides `PATH`, `HOME` and `LANG`; nothing else is inherited.
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
    /// Takes a piece of output; appends to `printed` what may be printed now.
    fn push(&mut self, stream: Stream, piece: &[u8], printed: &mut Vec<u8>);
    /// The stream is over; appends what was held back.
    fn finish(&mut self, stream: Stream, printed: &mut Vec<u8>);
}

/// A watch over folders.
pub trait Watch {
    /// Sleeps until a name appears in a watched folder, `pid` ends, or `deadline` passes.
    fn wait(&mut self, pid: Option<u32>, deadline: Option<Duration>) -> io::Result<Woken>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Woken {
    /// Something appeared; look again.
    Changed,
    ProcessEnded,
    /// The time is up.
    TimedOut,
}

/// Why a watch could not be set up.
#[derive(Debug)]
pub enum WatchFailure {
    /// The system gives no watcher.
    Create(io::Error),
    /// A folder cannot be watched.
    Folder(io::Error),
}

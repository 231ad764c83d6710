//! I/O of the process, through one trait.
//!
//! The agent's commands access the host only through [`World`], so that a test can set the clock, fill the
//! disk or interrupt a write. [`Host`] is the real implementation.

mod child;
mod files;
mod host;
mod http;
mod interface;
mod process;
mod tool;
#[cfg(target_os = "linux")]
mod tree;
#[cfg(not(target_os = "linux"))]
#[path = "tree_elsewhere.rs"]
mod tree;
mod watch;

pub use host::Host;
#[doc(hidden)]
pub use http::read_response;
pub use http::{
    Dial, Duplex, HttpFailure, HttpFailureKind, HttpRequest, HttpResponse, MAX_BODY, Roots, Url,
    UrlError,
};
pub use interface::{Files, World};
pub use watch::{Watch, WatchFailure};

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::time::Duration;

use mooring_redact::Secret;

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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Out,
    Err,
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

/// A short command that was started; waits for its standard output.
pub type Probe = Box<dyn FnOnce() -> io::Result<Vec<u8>>>;

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

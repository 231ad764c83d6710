//! Programs that the agent runs: their output, signals and end.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::time::Duration;

use mooring_redact::Secret;

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
pub(super) enum Scope {
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

//! I/O of the process, through one trait.
//!
//! The agent's commands access the host only through [`World`], so that a test can set the clock, fill the
//! disk or interrupt a write. [`Host`] is the real implementation.

mod child;
mod clock;
mod file_info;
mod files;
mod host;
mod http;
mod interface;
mod place;
mod process;
mod program;
mod tool;
#[cfg(target_os = "linux")]
mod tree;
#[cfg(not(target_os = "linux"))]
#[path = "tree_elsewhere.rs"]
mod tree;
mod watch;

pub use file_info::{EntryKind, FileInfo, ReadFailure, Replace, Space};
pub use host::Host;
#[doc(hidden)]
pub use http::read_response;
pub use http::{
    Dial, Duplex, HttpFailure, HttpFailureKind, HttpRequest, HttpResponse, MAX_BODY, Roots, Url,
    UrlError,
};
pub use interface::World;
pub use program::{
    ChildEnd, ChildSpec, ChildStatus, OutputFilter, Probe, Signal, Stopped, Stream, Tool, ToolEnd,
};
pub use watch::{Watch, WatchFailure};

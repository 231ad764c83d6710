//! Builds one timeline from a node's report, event files and logs, and renders it in five formats.
//!
//! ```
//! use mooring_trace::{TraceFile, TimelineOutcome, read};
//!
//! let event = r#"{"Timestamp":"2026-11-15 02:00:01.000","OperationId":"2026-11-15 02:00:04.300","Version":"1.23",
//!     "TaskName":"AKS.CSE.ensureKubelet","EventLevel":"Informational","Message":"Completed: ensureKubelet"}"#;
//! let report = r#"{"ExitCode":"0","ExecDuration":"5","CSEStartTime":"Sun Nov 15 02:00:00 UTC 2026"}"#;
//! let files = [
//!     TraceFile { path: "var/log/azure/events/1794708001000.json".into(), bytes: event.into() },
//!     TraceFile { path: "var/log/azure/aks/provision.json".into(), bytes: report.into() },
//! ];
//! let timelines = read(&files);
//! assert_eq!(timelines[0].outcome, TimelineOutcome::Succeeded);
//! assert_eq!(timelines[0].spans[1].name, "AKS.CSE.ensureKubelet");
//! ```
//!
//! No I/O; never panics on any input. Invalid files are listed and skipped.
//!
//! | step | modules |
//! |---|---|
//! | classify and parse files, collect their data | `read` |
//! | the cluster's and Azure's view | [`life`] |
//! | one timeline | `assemble`, `stages`, `steps`, `tree`: [`timeline`], [`production`] |
//! | human-readable formats, in `output` | [`mod@table`], [`html`], [`waterfall`] |
//! | machine-readable formats, in `output` | [`json`], [`chrome`], [`otlp`] |
//! | building blocks of pages | [`page`], [`bars`], [`mod@escape`] |

mod assemble;
pub mod escape;
pub mod life;
mod output;
pub mod production;
mod read;
mod stages;
mod steps;
pub mod timeline;
mod tree;

pub use assemble::read;
pub use output::{bars, chrome, html, json, otlp, page, table, waterfall};
pub use read::ended_at;
pub use read::files::{TraceFile, is_wanted};
pub use timeline::{
    BootstrapAttempt, Extent, Gap, RunningStep, SkippedFile, Span, SpanKind, SpanSource,
    SpanStatus, Timeline, TimelineOutcome,
};

//! From a node's report, event files and logs to one timeline, shown in five ways.
//!
//! ```
//! use mooring_trace::{File, Outcome, read};
//!
//! let event = r#"{"Timestamp":"2026-11-15 02:00:01.000","OperationId":"2026-11-15 02:00:04.300","Version":"1.23",
//!     "TaskName":"AKS.CSE.ensureKubelet","EventLevel":"Informational","Message":"Completed: ensureKubelet"}"#;
//! let report = r#"{"ExitCode":"0","ExecDuration":"5","CSEStartTime":"Sun Nov 15 02:00:00 UTC 2026"}"#;
//! let files = [
//!     File { path: "var/log/azure/events/1794708001000.json".into(), bytes: event.into() },
//!     File { path: "var/log/azure/aks/provision.json".into(), bytes: report.into() },
//! ];
//! let timelines = read(&files);
//! assert_eq!(timelines[0].outcome, Outcome::Succeeded);
//! assert_eq!(timelines[0].spans[1].name, "AKS.CSE.ensureKubelet");
//! ```
//!
//! Nothing in here does I/O or panics on any input. A broken file is named and left out.
//!
//! | step | modules |
//! |---|---|
//! | what is in which file | `files`, `read`, `stamp` |
//! | what all of them tell | `gather` |
//! | one timeline | [`timeline`], `assemble`, `tree`, `chain`, `gaps`, `steps`, [`field`] |
//! | for people | [`mod@table`], [`html`], [`waterfall`] |
//! | for programs | [`json`], [`chrome`], [`otlp`] |
//! | pages of any kind | [`page`], [`bars`], [`mod@escape`] |

mod assemble;
pub mod bars;
mod chain;
pub mod chrome;
pub mod escape;
pub mod field;
mod files;
mod gaps;
mod gather;
pub mod html;
pub mod json;
pub mod otlp;
pub mod page;
mod read;
mod stamp;
mod steps;
pub mod table;
pub mod timeline;
mod tree;
pub mod waterfall;

pub use assemble::read;
pub use files::{File, is_wanted};
pub use timeline::{
    Attempt, Extent, Gap, Kind, Outcome, Running, Skipped, Source, Span, Status, Timeline,
};

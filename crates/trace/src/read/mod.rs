//! Parsers of a node's files.

mod agent_log;
mod cloud_init;
pub(crate) mod collect;
mod event;
pub(crate) mod files;
mod handler;
pub(crate) mod life;
mod report;
mod span;
pub(crate) mod timestamp;
mod trace;

pub(crate) use agent_log::read as agent_log;
pub(crate) use cloud_init::read as cloud_init;
pub(crate) use event::{RecordedEvent, exit_code, read as event};
pub(crate) use handler::read as handler;
pub use report::ended_at;
pub(crate) use report::{ReportFacts, boot, read as report};
pub(crate) use span::{FoundSpan, MAX_MESSAGE, MAX_NAME, MAX_SPANS, RawSpan, kind_of};
pub(crate) use trace::{Traced, read as trace};

//! Parsers of a node's files.

mod agent_log;
mod cloud_init;
pub(crate) mod collect;
mod event;
pub(crate) mod files;
mod handler;
pub(crate) mod life;
mod report;
pub(crate) mod timestamp;
mod trace;

pub(crate) use agent_log::read as agent_log;
pub(crate) use cloud_init::read as cloud_init;
pub(crate) use event::{Event, exit_code, read as event};
pub(crate) use handler::read as handler;
pub use report::ended_at;
pub(crate) use report::{Facts, boot, read as report};
pub(crate) use trace::{Traced, read as trace};

use crate::model::timeline::{Kind, Source};
use timestamp::Stamp;

pub(crate) const MAX_NAME: usize = 120;
pub(crate) const MAX_MESSAGE: usize = 300;
/// Maximum per kind; the rest is dropped and reported.
pub(crate) const MAX_SPANS: usize = 5000;

/// A span in the file's own time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RawSpan {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) start: Stamp,
    /// None if it has not ended.
    pub(crate) end: Option<Stamp>,
    pub(crate) failed: bool,
    pub(crate) source: Source,
    pub(crate) message: String,
}

pub(crate) fn kind_of(task: &str) -> Kind {
    match task {
        "AKS.CSE.cse_start" => Kind::Run,
        "AKS.AKSNodeController.Provision" => Kind::Agent,
        _ if task.starts_with("AKS.CSE.") => Kind::Step,
        _ => Kind::Beside,
    }
}

//! From a node's files to what each of them tells.

mod agent_log;
mod cloud_init;
mod event;
mod handler;
mod report;
mod trace;

pub(crate) use agent_log::read as agent_log;
pub(crate) use cloud_init::read as cloud_init;
pub(crate) use event::{Event, exit_code, read as event};
pub(crate) use handler::read as handler;
pub(crate) use report::{Facts, boot, read as report};
pub(crate) use trace::{Traced, read as trace};

use crate::stamp::Stamp;
use crate::timeline::{Kind, Source};

/// Names and messages are cut to this many characters.
pub(crate) const LONGEST_NAME: usize = 120;
pub(crate) const LONGEST_MESSAGE: usize = 300;
/// Of one kind, no node has more than this; what is beyond it is dropped, and told.
pub(crate) const MOST: usize = 5000;

/// Something that a file tells of, in the file's own time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Told {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) start: Stamp,
    /// None if it has not ended.
    pub(crate) end: Option<Stamp>,
    pub(crate) failed: bool,
    pub(crate) source: Source,
    pub(crate) message: String,
}

/// What a task is, by its name.
pub(crate) fn kind_of(task: &str) -> Kind {
    match task {
        "AKS.CSE.cse_start" => Kind::Run,
        "AKS.AKSNodeController.Provision" => Kind::Agent,
        _ if task.starts_with("AKS.CSE.") => Kind::Step,
        _ => Kind::Beside,
    }
}

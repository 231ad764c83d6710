//! Preflight: checks of an image and a config before a script runs, so that a failure is reported
//! by its cause and not by its first symptom.
//!
//! Checks are data ([`CHECKS`]): all of them run, all results are shown. `provision` runs them as its
//! first phase; `preflight` prints them for a user or a pipeline, on a node or on a mounted image.
//!
//! | module | contents |
//! |---|---|
//! | `check` | checks and their results |
//! | `catalog` | the list of all checks |
//! | `facts` | facts about the node: stage, root, config |
//! | `program` | lookup of a binary like a shell, with the reason if it is not found |
//! | `rooted_path` | resolution of links below the root |
//! | `oras`, `image`, `node`, `hotfix` | the checks |
//! | `network` | network probes, run in parallel |
//! | `show` | the results as a table or JSON |
//! | `command` | the command `preflight` |

mod catalog;
mod check;
mod command;
mod facts;
mod hotfix;
mod image;
mod network;
mod node;
mod oras;
mod program;
mod rooted_path;
mod show;

pub(crate) use catalog::CHECKS;
pub use catalog::checks;
pub use check::PreflightCheck;
pub(crate) use check::{PreflightFinding, PreflightVerdict, Result, first_fatal, run};
pub(crate) use command::preflight;
pub(crate) use facts::{ConfigState, PreflightFacts};
pub(crate) use oras::find_oras;
pub(crate) use show::{code_name, report};

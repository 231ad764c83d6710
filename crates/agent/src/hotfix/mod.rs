//! Hotfixes: repaired scripts and agents for an image that was published with broken ones.
//!
//! `check-hotfix` refreshes the pointer, `download-hotfix` acts on it. Neither stops a boot.
//!
//! | file | idea | I/O |
//! |---|---|---|
//! | `pointer`, `version` | what is requested, and for which version | stages the pointer |
//! | `policy` | what the image takes | reads it |
//! | `service` | the service that is asked, and its outcome | yes |
//! | `download` | acting on the pointer | through the others |
//! | `write_files`, `gzip` | files in custom data, decoded and bounded | |
//! | `scripts`, `record`, `replace` | all files in place, or none, at any instant | yes |
//! | `package`, `binary` | the agent of Microsoft's package, examined before it is left | yes |
//! | `state` | which agent and scripts a node has | reads it |

mod binary;
mod download;
mod gzip;
mod package;
mod pointer;
mod policy;
mod record;
mod replace;
mod scripts;
mod service;
mod state;
mod version;

pub mod write_files;

pub(crate) use download::{apply_embedded_hotfix, download_hotfix};
pub use pointer::normalize_pointer;
pub(crate) use pointer::of_node as read_pointer;
pub(crate) use policy::NOT_APPLIED;
pub(crate) use service::check::check_hotfix;
pub use service::grpc;
pub(crate) use state::{announce, find_not_taken, finish_pending, read as read_state};

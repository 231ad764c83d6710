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

pub(crate) use download::download_hotfix;
pub(crate) use pointer::of_node as read_pointer;
pub(crate) use service::check::check_hotfix;
pub use service::grpc;
pub(crate) use state::{announce, find_not_taken, finish_pending, read as read_state};

use crate::node::agent::Agent;

/// A pointer as it would be staged; `None` if it is malformed.
pub fn normalize_pointer(text: &[u8]) -> Option<String> {
    pointer::Pointer::parse(text).ok().map(|pointer| pointer.to_json())
}

/// Runs `apply-embedded-hotfix`: upstream's patched agents have scripts inside, this one has none.
pub(crate) fn apply_embedded_hotfix(agent: &mut Agent<'_>) -> u8 {
    agent.info("no script hotfix is embedded in this agent; nothing to apply", &[]);
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointer_is_staged_in_one_form_or_refused() {
        let text = br#"{ "VERSION": " 1 ", "hotfixes": {"b": "2"}, "unknown": 1 }"#;
        let staged = r#"{"version":"1","hotfixes":{"b":"2"}}"#;
        assert_eq!(normalize_pointer(text).as_deref(), Some(staged));
        assert_eq!(normalize_pointer(b"[]"), None);
    }
}

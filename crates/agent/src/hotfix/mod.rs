//! Hotfixes: repaired scripts and agents for an image that was published with broken ones.
//!
//! `check-hotfix` refreshes the pointer, `download-hotfix` acts on it. Neither stops a boot.
//!
//! | file | idea | I/O |
//! |---|---|---|
//! | `pointer`, `version` | what is requested, and for which version | stages the pointer |
//! | `policy` | what the image takes | reads it |
//! | `check`, `target`, `live` | the service that is asked, and its outcome | yes |

mod check;
mod live;
mod pointer;
mod policy;
mod target;
mod version;

pub(crate) use check::check_hotfix;

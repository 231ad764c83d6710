//! `registry-login`: logs this node in to its bootstrap registry, or reports the cause of the failure.
//!
//! Replaces the image's shell function `oras_login_with_kubelet_identity`, but keeps causes apart: a
//! missing binary is not a network failure, and a denied request is not a timeout.
//!
//! | file | contents | I/O |
//! |---|---|---|
//! | `login` | runs the steps | through the session |
//! | `steps` | the steps, as executed, logged and documented: `oras`, `anonymous`, `identity`, `exchange`, `permission` | through the session |
//! | `session` | state and result of the steps; attempts, their log and retries | yes |
//! | `flags` | parameters of a login | |
//! | `error` | errors and their exit codes | |
//! | `budget` | time limit, and pauses between attempts | |
//! | `responses`, `token`, `form` | bodies, tokens and forms | |
//! | `proxy`, `ca_certs` | proxy selection, and trusted certificates | reads files |

mod budget;
mod ca_certs;
mod error;
mod flags;
mod form;
mod login;
mod proxy;
mod responses;
mod session;
mod steps;
mod token;

pub(crate) use budget::{TimeBudget, cse_left};
pub(crate) use ca_certs::system as system_certificates;
pub(crate) use flags::{Identity, LoginFlags};
pub(crate) use login::login;
pub(crate) use proxy::Proxies;
pub(crate) use steps::help;

//! `mooring demo`: a story in which everything is real except the clouds.
//!
//! The simulated Azure, its Kubernetes API and Karpenter run in this process and answer over TLS on loopback. All
//! else is this very program, as an operator and a node run it: the controller and the repair are processes of
//! their own, and each machine is a folder in which the agent runs the bootstrap protocol.
//!
//! ```text
//! scenario ──▶ play ──▶ acts ──▶ stage: clouds, machine room, controller, observer
//!                        │          └──▶ room ──▶ node: image, custom data, agent, extension
//!                        └──▶ story ──▶ voice, report
//! ```
//!
//! | module | idea |
//! |---|---|
//! | [`scenario`] | what is played and what must come of it, as YAML |
//! | `play` | chapter by chapter, each with a bound, and the end |
//! | `acts` | how each act is played |
//! | `stage` | what a story needs to happen |
//! | `room`, `node` | machines that boot in folders |
//! | `image`, `cloud_init` | what an image holds, and what cloud-init does; no I/O |
//! | `observer` | what stood on NodeClaims that are gone |
//! | `commands`, `kubectl` | this program and kubectl, asked, started and followed |
//! | `story`, `report` | what has happened, as data and as a page |
//! | [`Voice`], `wrap` | how it is told |
//! | `place`, `processes`, `files` | where things lie, and what must not be left behind |

mod acts;
mod cloud_init;
mod commands;
mod files;
mod image;
mod kubectl;
mod node;
mod observer;
mod place;
mod play;
mod processes;
mod report;
mod room;
pub mod scenario;
mod stage;
mod story;
mod trouble;
mod voice;
mod wrap;

pub use play::{Options, play};
pub use scenario::{Scenario, ScenarioError};
pub use trouble::Trouble;
pub use voice::{Style, Voice};

//! `mooring demo`: scenarios with a simulated Azure and Kubernetes; everything else is real.
//!
//! The simulated Azure, its Kubernetes API and Karpenter run in this process and serve TLS on loopback. All else is
//! this binary, as an operator and a node run it: the controller and the repair are separate processes, and each VM is
//! a directory in which the agent runs the bootstrap protocol.
//!
//! ```text
//! scenario ──▶ runner ──▶ steps ──▶ environment: clouds, VMs, controller, observer
//!                          │             └──▶ vms ──▶ node: image, custom data, agent, extension
//!                          └──▶ result ──▶ output, report
//! ```
//!
//! | module | idea |
//! |---|---|
//! | [`scenario`] | stages, steps and expected results, as YAML |
//! | `runner` | runs stage by stage, each with a timeout |
//! | `steps` | runs each step |
//! | `environment` | everything that a scenario needs |
//! | `vms`, `node` | VMs that boot in directories |
//! | `image`, `cloud_init` | files of an image, and the work of cloud-init; no I/O |
//! | `observer` | states of deleted NodeClaims |
//! | `commands`, `kubectl` | run this binary and kubectl |
//! | `result`, `report` | results as data and as a page |
//! | [`Output`], `wrap` | terminal output |
//! | `workdir`, `processes`, `files` | directories, files and cleanup |

mod cloud_init;
mod commands;
mod environment;
mod error;
mod files;
mod image;
mod kubectl;
mod node;
mod observer;
mod output;
mod processes;
mod report;
mod result;
mod runner;
pub mod scenario;
mod steps;
mod vms;
mod workdir;
mod wrap;

pub use error::DemoError;
pub use output::{Output, Style};
pub use runner::{Options, run};
pub use scenario::{Scenario, ScenarioError};

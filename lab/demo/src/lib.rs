//! `mooring-lab demo`: scenarios with a simulated Azure and Kubernetes; everything else is real.
//!
//! The simulated Azure, its Kubernetes API and Karpenter run in this process and serve TLS on loopback. All else is
//! the programs, as an operator and a node run them: the controller and the repair are separate processes, and each VM is
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
//! | [`scenario`] | stages, steps and expected results, as YAML; files of an image |
//! | `runner` | runs stage by stage, each with a timeout |
//! | `steps` | runs each step |
//! | `environment` | everything that a scenario needs |
//! | `vm` | VMs that boot in directories, with the work of cloud-init |
//! | `observer` | states of deleted NodeClaims |
//! | `commands`, `kubectl` | run `mooring` and kubectl |
//! | `present` | results as data and as a page; terminal output ([`Output`]) |
//! | `host` | directories, files, processes and cleanup |

mod commands;
mod environment;
mod error;
mod host;
mod kubectl;
mod observer;
mod present;
mod runner;
pub mod scenario;
mod steps;
mod vm;

pub use commands::{AGENT, MOORING};
pub use environment::DemoOptions;
pub use error::DemoError;
pub use present::output::{DemoStyle, Output};
pub use runner::run;
pub use scenario::{Scenario, ScenarioError};

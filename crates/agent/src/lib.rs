//! The node agent: a drop-in for AgentBaker's `aks-node-controller`.
//!
//! The library is the whole agent, so that tests can embed it; the binary only calls [`run`].
//!
//! | module | contents |
//! |---|---|
//! | `cli` | the command line, parsed like that of the upstream Go agent |
//! | `provision` | from the node config to a bootstrapped node, or to a report |
//! | `wait` | waiting for the result |
//! | [`preflight`] | checks before a script runs |
//! | `render` | environment, custom data and CSE command, printed |
//! | `hotfix` | repaired scripts and agents for an image that was published with broken ones |
//! | `registry` | logging in to the bootstrap registry |
//! | [`environment`] | the variables for the scripts, without I/O |
//! | `node` | the node's paths, programs and inputs ([`nbc`], [`compare`]), [`secrets`], log, and files that pass results between processes |
//! | `format` | formats that other tools read: events, times, JSON, and the texts of Go |
//! | [`world`] | I/O of the process |

mod cli;
pub mod environment;
mod format;
#[doc(hidden)] // Its readers are public for fuzzing.
pub mod hotfix;
mod node;
pub mod preflight;
mod provision;
mod registry;
mod render;
mod version;
mod wait;
pub mod world;

pub use cli::parse_duration;
pub use node::{inputs, nbc};

pub use version::VERSION;

use std::ffi::OsString;

use cli::{Command, Invocation, UsageError};
use node::agent::{Agent, Log};
use node::paths::Layout;
use world::{Host, Stream, World};

/// Root directory of the node's fixed paths, like `--root`.
const ROOT_VARIABLE: &str = "AKS_NODE_ROOT";

/// Runs the agent with its arguments; returns the exit code.
pub fn run(words: &[OsString], world: &mut dyn World) -> u8 {
    run_as(VERSION, words, world)
}

/// Runs the agent as if the build were stamped with `version`.
#[doc(hidden)] // For tests of what depends on the version.
pub fn run_as(version: &'static str, words: &[OsString], world: &mut dyn World) -> u8 {
    let Invocation { root, command } = cli::read(words, world.variable(ROOT_VARIABLE));
    // Absolute, since children may change their directory.
    let layout = Layout::new(root.map(|root| std::path::absolute(&root).unwrap_or(root)));
    // Read-only commands write nothing, not even a log.
    match &command {
        Ok(Command::Render(flags)) => return render::render(world, &layout, flags),
        Ok(Command::Preflight(flags)) => {
            return preflight::preflight(world, &layout, version, flags);
        }
        _ => {}
    }
    let log = match Log::open(world, &layout) {
        Ok(log) => log,
        Err(error) => {
            world.print(Stream::Out, format!("{error}\n").as_bytes());
            let is_provision = match &command {
                Ok(command) => matches!(command, Command::Provision(_)),
                Err(error) => error.of_provision,
            };
            if is_provision {
                provision::result::leave_early_result(world, &layout, &error);
            }
            return 1;
        }
    };
    match command {
        Err(error) => refuse(world, &layout, &error),
        Ok(command) => dispatch(&mut Agent::new(world, layout, log, version), &command),
    }
}

fn dispatch(agent: &mut Agent<'_>, command: &Command) -> u8 {
    let print = |agent: &mut Agent<'_>, text: &str| {
        agent.world.print(Stream::Out, text.as_bytes());
        0
    };
    match command {
        Command::Provision(flags) => {
            leave_result_on_panic(agent);
            provision::provision(agent, flags)
        }
        Command::RegistryLogin(flags) => registry::login(agent, flags),
        Command::ProvisionWait { timeout } => wait::provision_wait(agent, *timeout),
        Command::Version => print(agent, &[VERSION, "\n"].concat()),
        Command::VersionFlag => print(agent, &format!("aks-node-controller version {VERSION}\n")),
        Command::Help(text) => print(agent, text),
        Command::CheckHotfix { has_extra_words } => hotfix::check_hotfix(agent, *has_extra_words),
        Command::DownloadHotfix => hotfix::download_hotfix(agent),
        Command::ApplyEmbeddedHotfix => hotfix::apply_embedded_hotfix(agent),
        // Done before there was a log.
        Command::Render(_) | Command::Preflight(_) => 0,
    }
}

/// A panic is a failure with a report, never a success. The shipped build aborts on a panic, so the
/// report is written before that, through a separate world.
fn leave_result_on_panic(agent: &mut Agent<'_>) {
    let layout = agent.layout.clone();
    let last_words = move |place: &str| {
        let mut world = Host::default();
        let error = format!("panic during provisioning at {place}");
        world.print(Stream::Err, format!("{error}\n").as_bytes());
        provision::result::leave_last_result(&mut world, &layout, &error);
    };
    agent.world.on_panic(None, Box::new(last_words));
}

/// Prints a usage error. A `provision` that was started incorrectly also writes a result, since a
/// `provision-wait` may be waiting for it.
fn refuse(world: &mut dyn World, layout: &Layout, error: &UsageError) -> u8 {
    world.print(Stream::Err, error.text.as_bytes());
    if error.with_help {
        world.print(Stream::Out, cli::general_help().as_bytes());
    }
    if error.of_provision {
        provision::result::leave_early_result(world, layout, error.text.trim_end());
    }
    error.exit_code
}

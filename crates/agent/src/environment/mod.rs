//! The environment: the variables that the agent hands to the image's bootstrap scripts.
//!
//! Everything here is a function of three inputs, without I/O: the node config, the GPU images
//! that `components.json` lists, and what `containerd --version` printed. The scripts were written
//! for the Go program of the same name, so its values are kept byte for byte, quirks included; each
//! quirk is marked as such where it is made.
//!
//! | module | what it decides |
//! |---|---|
//! | `variables` | what an environment is: ordered, silent about values |
//! | [`command`] | the command line that runs in it |
//! | `paths` | where the scripts lie, and how to move them under another root |
//! | `identity`, `cluster`, `cloud`, `network`, `node` | the variables of one part of the config |
//! | `kubelet`, `containerd`, `corefile`, `sysctl` | the files that travel inside variables |
//! | `gpu`, `components` | drivers by VM size, and the image's list of them |
//! | [`version`], `case`, `number` | how the Go program compares versions and letters, prints numbers |
//!
//! ```
//! use mooring_agent::environment::{self, ContainerdFlavour, GpuImages};
//!
//! let config = mooring_contract::node_config::parse(br#"{"version": "v1"}"#)?.config;
//! let gpu = GpuImages::from_components(b"{}")?;
//! let built = environment::build(&config, &gpu, ContainerdFlavour::detect(None))?;
//! assert_eq!(built.environment.expose("ADMINUSER"), Some("azureuser"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod case;
mod cloud;
mod cluster;
pub mod command;
mod components;
mod containerd;
mod corefile;
mod gpu;
mod identity;
mod kubelet;
mod network;
mod node;
mod number;
mod paths;
mod sysctl;
mod variables;
pub mod version;

pub use components::{ComponentsError, GpuImage, GpuImages};
pub use containerd::ContainerdFlavour;
pub use paths::{Root, RootError};
pub use sysctl::{Note, PortRangeFault};
pub use variables::Environment;

use mooring_contract::NodeConfig;

/// An environment, and what is worth a line in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    pub environment: Environment,
    /// What the Go program logs at INFO while it builds them.
    pub notes: Vec<Note>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// No process can be started with such a variable. The value is not told: it may be a secret.
    #[error("the value of {variable} contains a NUL character, which no variable can hold")]
    Nul {
        /// The first such variable, by name.
        variable: String,
    },
}

impl BuildError {
    /// A short, stable word for labels and conditions.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Nul { .. } => "NulInVariable",
        }
    }
}

/// Builds the environment of a node.
pub fn build(
    config: &NodeConfig,
    gpu_images: &GpuImages,
    containerd: ContainerdFlavour,
) -> Result<Built, BuildError> {
    let mut environment = Environment::default();
    paths::variables(&mut environment);
    node::variables(config, &mut environment);
    identity::variables(config, &mut environment);
    cluster::variables(config, &mut environment);
    cloud::variables(config, &mut environment);
    network::variables(config, &mut environment);
    kubelet::variables(config, &mut environment);
    containerd::variables(config, containerd, &mut environment);
    gpu::variables(config, gpu_images, &mut environment);
    corefile::variables(config, &mut environment);
    let note = sysctl::variables(config, &mut environment);
    if let Some(variable) = environment.first_with_nul() {
        return Err(BuildError::Nul { variable: variable.to_owned() });
    }
    Ok(Built { environment, notes: note.into_iter().collect() })
}

//! The environment variables of the image's bootstrap scripts.
//!
//! Everything here is a function of three inputs, without I/O: the node config, the GPU images that `components.json`
//! lists, and the output of `containerd --version`. The scripts were written for the upstream Go agent, so its values
//! are kept byte for byte, including quirks, which are marked as such.
//!
//! | module | contents |
//! |---|---|
//! | `variables` | ordered variables whose values are not printed |
//! | [`command`] | the command line that runs in it |
//! | `paths` | paths of the scripts, also under another root |
//! | `identity`, `cluster`, `cloud`, `network`, `node` | the variables of one part of the config |
//! | `files` | files passed in variables: of kubelet, containerd, CoreDNS and sysctl |
//! | `gpu` | drivers by VM size, and the image's list of them |
//! | `go` | Go's comparison of versions and letters, and format of numbers |
//!
//! ```
//! use mooring_agent::environment::{self, ContainerdLayout, GpuImages};
//!
//! let config = mooring_contract::node_config::parse(br#"{"version": "v1"}"#)?.config;
//! let gpu = GpuImages::from_components(b"{}")?;
//! let built = environment::build(&config, &gpu, ContainerdLayout::detect(None))?;
//! assert_eq!(built.environment.expose("ADMINUSER"), Some("azureuser"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cloud;
mod cluster;
pub mod command;
mod files;
mod go;
mod gpu;
mod identity;
mod network;
mod node;
mod paths;
mod variables;

pub use files::containerd::ContainerdLayout;
pub use files::sysctl::{Note, PortRangeFault};
pub use go::version;
pub use gpu::components::{ComponentsError, GpuImage, GpuImages};
pub use paths::{Root, RootError};
pub use variables::Environment;

use mooring_contract::NodeConfig;

/// An environment, and what is worth a line in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    pub environment: Environment,
    /// Messages that the upstream Go agent logs at INFO.
    pub notes: Vec<Note>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A process cannot be started with such a variable. The value is omitted: it may be a secret.
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

pub fn build(
    config: &NodeConfig,
    gpu_images: &GpuImages,
    containerd: ContainerdLayout,
) -> Result<Built, BuildError> {
    let mut environment = Environment::default();
    paths::variables(&mut environment);
    node::variables(config, &mut environment);
    identity::variables(config, &mut environment);
    cluster::variables(config, &mut environment);
    cloud::variables(config, &mut environment);
    network::variables(config, &mut environment);
    files::kubelet::variables(config, &mut environment);
    files::containerd::variables(config, containerd, &mut environment);
    gpu::variables(config, gpu_images, &mut environment);
    files::corefile::variables(config, &mut environment);
    let note = files::sysctl::variables(config, &mut environment);
    if let Some(variable) = environment.first_with_nul() {
        return Err(BuildError::Nul { variable: variable.to_owned() });
    }
    Ok(Built { environment, notes: note.into_iter().collect() })
}

//! The whole environment.

use mooring_codes::Date;
use mooring_contract::NodeConfig;

use super::{
    ContainerdLayout, Environment, GpuImages, Note, cloud, cluster, files, gpu, identity, network,
    node, paths,
};

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

/// Builds the environment for the scripts of an image. Some rules depend on its version; an image of unknown version gets
/// what the scripts of every image understand.
pub fn build(
    config: &NodeConfig,
    gpu_images: &GpuImages,
    containerd: ContainerdLayout,
    image: Option<Date>,
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
    gpu::variables(config, gpu_images, image, &mut environment);
    files::corefile::variables(config, &mut environment);
    let note = files::sysctl::variables(config, &mut environment);
    if let Some(variable) = environment.first_with_nul() {
        return Err(BuildError::Nul { variable: variable.to_owned() });
    }
    Ok(Built { environment, notes: note.into_iter().collect() })
}

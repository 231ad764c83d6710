//! The whole environment.

use mooring_codes::Date;
use mooring_contract::NodeConfig;

use crate::environment::{
    ContainerdLayout, Environment, GpuImages, command, config, containerd, corefile, gpu, kubelet,
};

/// An environment, and what is worth a line in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    pub environment: Environment,
    /// A message that the upstream Go agent logs at INFO.
    pub note: Option<String>,
}

/// A process cannot be started with such a variable. The value is omitted: it may be a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the value of {variable} contains a NUL character, which no variable can hold")]
pub struct NulError {
    /// The first such variable, by name.
    pub variable: String,
}

/// Builds the environment for the scripts of an image. Some rules depend on its version; an image of unknown version gets
/// what the scripts of every image understand.
pub fn build(
    node_config: &NodeConfig,
    gpu_images: &GpuImages,
    containerd: ContainerdLayout,
    image: Option<Date>,
) -> Result<Built, NulError> {
    let mut environment = Environment::default();
    command::variables(&mut environment);
    config::identity(node_config, &mut environment);
    config::cluster(node_config, &mut environment);
    config::cloud(node_config, &mut environment);
    config::network(node_config, &mut environment);
    config::node(node_config, &mut environment);
    kubelet::variables(node_config, &mut environment);
    containerd::variables(node_config, containerd, &mut environment);
    gpu::variables(node_config, gpu_images, image, &mut environment);
    corefile::variables(node_config, &mut environment);
    let note = kubelet::sysctl(node_config, &mut environment);
    if let Some(variable) = environment.first_with_nul() {
        return Err(NulError { variable: variable.to_owned() });
    }
    Ok(Built { environment, note })
}

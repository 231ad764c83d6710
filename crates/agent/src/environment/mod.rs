//! The environment variables of the image's bootstrap scripts.
//!
//! Everything here is a function of four inputs, without I/O: the node config, the GPU images that `components.json`
//! lists, the output of `containerd --version`, and the date of the image's version. The scripts were written for the upstream Go agent, so its values
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
//! | `build` | all of them, in one environment |
//! | `go` | Go's comparison of versions and letters, and format of numbers |
//!
//! ```
//! use mooring_agent::environment::{self, ContainerdLayout, GpuImages};
//!
//! let config = mooring_contract::node_config::parse(br#"{"version": "v1"}"#)?.config;
//! let gpu = GpuImages::from_components(b"{}")?;
//! let built = environment::build(&config, &gpu, ContainerdLayout::detect(None), None)?;
//! assert_eq!(built.environment.expose("ADMINUSER"), Some("azureuser"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod build;
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

pub use build::{BuildError, Built, build};
pub use files::containerd::ContainerdLayout;
pub use files::sysctl::{Note, PortRangeFault};
pub use go::version;
pub use gpu::components::{ComponentsError, GpuImage, GpuImages};
pub use paths::{Root, RootError};
pub use variables::Environment;

//! Custom data: the document that delivers a node config to a new VM.
//!
//! A control plane renders the node config into a document that Azure passes to the VM at its first
//! boot. The document writes the config to a file and starts the agent. Three forms exist:
//!
//! | [`CustomDataForm`] | read by | carries feature toggles |
//! |---|---|---|
//! | `boothook` | cloud-init, before anything else; the current form | yes |
//! | `cloud-config` | cloud-init, as `write_files`; the form of November 2025 | no |
//! | `ignition` | Ignition 3.4.0, on Flatcar | no |
//!
//! ```
//! use std::collections::BTreeMap;
//! use mooring_contract::custom_data::{Boundary, CustomData, CustomDataForm, Features};
//!
//! let features = Features::from(BTreeMap::from([("NOT-A-NAME".into(), "true".into())]));
//! let boundary = Boundary::from_random([7; 30]); // drawn by the caller
//! let data = CustomData::render(CustomDataForm::Boothook, b"{}", &features, &boundary)?;
//!
//! assert_eq!(data.dropped()[0].key(), "NOT-A-NAME"); // dropped toggles are listed
//! assert!(!data.expose_base64().is_empty()); // value of Azure's `customData` field
//! # Ok::<(), mooring_contract::custom_data::TooLarge>(())
//! ```
//!
//! The node config holds secrets, so the rendered document cannot be printed: [`CustomData`] masks
//! it, and the accessors are named `expose_…`.

mod boundary;
mod features;
mod format;

// The three documents, each as the text around the encoded config.
mod boothook;
mod cloud_config;
mod frame;
mod ignition;
mod multipart;

mod node_bootstrap;
mod rendered;
mod size;

mod paths;

pub use boundary::Boundary;
pub use features::{DropReason, DroppedFeature, Features};
pub use format::{CustomDataForm, UnknownFormat};
pub use node_bootstrap::NodeBootstrap;
pub use paths::{CONFIG_PATH, CSE_COMMAND, FEATURES_PATH};
pub use rendered::CustomData;
pub use size::{MAX_BASE64_CHARS, MAX_RAW_BYTES, TooLarge};

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
//! assert_eq!(data.dropped()[0].key, "NOT-A-NAME"); // dropped toggles are listed
//! assert!(!data.expose_base64().is_empty()); // value of Azure's `customData` field
//! # Ok::<(), mooring_contract::custom_data::TooLarge>(())
//! ```
//!
//! The node config holds secrets, so the rendered document cannot be printed: [`CustomData`] masks
//! it, and the accessors are named `expose_…`.

mod documents;
mod features;
mod rendered;

pub use documents::{Boundary, CONFIG_PATH, CSE_COMMAND, FEATURES_PATH};
pub use features::{CustomDataForm, DropReason, DroppedFeature, Features, UnknownFormat};
pub use rendered::{CustomData, MAX_BASE64_CHARS, MAX_RAW_BYTES, NodeBootstrap, TooLarge};

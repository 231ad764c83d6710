//! Custom data and the command of the extension, from one config.

use super::boundary::Boundary;
use super::features::Features;
use super::format::CustomDataForm;
use super::paths::CSE_COMMAND;
use super::rendered::CustomData;
use super::size::TooLarge;
use crate::NodeConfig;

/// What a VM or a scale set needs to boot nodes: `customData` of its OS profile, and `commandToExecute` in the protected
/// settings of its Custom Script Extension. `examples/scale_set.rs` builds the model of a scale set with both.
///
/// ```
/// use mooring_contract::custom_data::{Boundary, CustomDataForm, NodeBootstrap};
/// use mooring_contract::node_config;
///
/// let config = node_config::parse(br#"{"version": "v1", "vm_size": "Standard_D4s_v5"}"#)?.config;
/// let boundary = Boundary::from_random([7; 30]); // drawn by the caller
/// let bootstrap = NodeBootstrap::of(&config, CustomDataForm::Boothook, &boundary)?;
///
/// assert!(!bootstrap.custom_data.expose_base64().is_empty());
/// assert_eq!(bootstrap.cse_command, "/opt/azure/containers/aks-node-controller provision-wait");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct NodeBootstrap {
    pub custom_data: CustomData,
    pub cse_command: &'static str,
}

impl NodeBootstrap {
    /// Renders both, with the feature toggles of the config. The config is not checked:
    /// [`validate`](crate::node_config::validate) does that.
    pub fn of(
        config: &NodeConfig,
        form: CustomDataForm,
        boundary: &Boundary,
    ) -> Result<Self, TooLarge> {
        let features = Features::from(config.enabled_features.clone());
        let json = config.to_json_with_secrets();
        let custom_data = CustomData::render(form, json.as_bytes(), &features, boundary)?;
        Ok(Self { custom_data, cse_command: CSE_COMMAND })
    }
}

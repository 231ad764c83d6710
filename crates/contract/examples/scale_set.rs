//! The model of a scale set whose nodes the agent bootstraps: `customData` and the extension `vmssCSE`.
//!
//! ```sh
//! cargo run -p mooring-contract --example scale_set -- node-config.json
//! ```
//!
//! Merge the result into the body of a scale set. It contains the secrets of the config.

use std::error::Error;
use std::io::{Read as _, Write as _};

use mooring_contract::custom_data::{Boundary, CustomDataForm, NodeBootstrap};
use mooring_contract::node_config;
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: scale_set NODE-CONFIG")?;
    let mut random = [0; 30];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut random)?;
    let model = model(&std::fs::read(path)?, random)?;
    Ok(writeln!(std::io::stdout(), "{model:#}")?)
}

/// Builds the parts of a scale set's model that bootstrap a node.
pub(crate) fn model(config: &[u8], random: [u8; 30]) -> Result<Value, Box<dyn Error>> {
    let config = node_config::parse(config)?.config;
    node_config::validate(&config)?;
    let boundary = Boundary::from_random(random);
    let bootstrap = NodeBootstrap::of(&config, CustomDataForm::Boothook, &boundary)?;
    Ok(json!({"properties": {"virtualMachineProfile": {
        "osProfile": {"customData": bootstrap.custom_data.expose_base64()},
        "extensionProfile": {"extensions": [{
            "name": "vmssCSE",
            "properties": {
                "publisher": "Microsoft.Azure.Extensions",
                "type": "CustomScript",
                "typeHandlerVersion": "2.0",
                "autoUpgradeMinorVersion": true,
                "settings": {},
                "protectedSettings": {"commandToExecute": bootstrap.cse_command},
            },
        }]},
    }}}))
}

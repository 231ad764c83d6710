//! Which values must never leave this node.

use std::path::Path;

use mooring_contract::NodeConfig;
use mooring_contract::node_config::{self, MAX_BYTES};

use crate::nbc;
use crate::paths::{Layout, NBC_COMMAND, NODE_CONFIG};
use crate::redact::Redactor;
use crate::world::World;

/// The most that is read of a file that custom data left.
pub(crate) const MAX_FILE_BYTES: u64 = MAX_BYTES as u64;

/// A redactor that knows no secret.
pub(crate) fn none() -> Redactor {
    Redactor::new([""; 0])
}

/// A redactor for a config's secrets.
pub(crate) fn of_config(config: &NodeConfig) -> Redactor {
    Redactor::new(config.expose_secrets())
}

/// A redactor for everything that custom data may have left on this node: the config and the NBC
/// command, in their places or where the command line says they are.
pub(crate) fn of_node(
    world: &mut dyn World,
    layout: &Layout,
    typed_config: Option<&Path>,
    typed_nbc_command: Option<&Path>,
) -> Redactor {
    Redactor::new(values_of_node(world, layout, typed_config, typed_nbc_command))
}

/// Every secret in the text of a node config, for a [`Redactor`].
#[must_use]
pub fn in_config(text: &[u8]) -> Vec<Vec<u8>> {
    let Ok(parsed) = node_config::parse(text) else { return Vec::new() };
    parsed.config.expose_secrets().into_iter().map(Vec::from).collect()
}

/// Every secret in the text of an NBC command, for a [`Redactor`].
#[must_use]
pub fn in_nbc_command(text: &[u8]) -> Vec<Vec<u8>> {
    nbc::assignments(text).expose_secrets().map(Vec::from).collect()
}

/// The secrets themselves, for a redactor that must know others, too.
pub(crate) fn values_of_node(
    world: &mut dyn World,
    layout: &Layout,
    typed_config: Option<&Path>,
    typed_nbc_command: Option<&Path>,
) -> Vec<Vec<u8>> {
    let left_config = layout.at(NODE_CONFIG);
    let left_nbc_command = layout.at(NBC_COMMAND);
    let mut secrets: Vec<Vec<u8>> = Vec::new();
    for path in [Some(left_config.as_path()), typed_config].into_iter().flatten() {
        let text = world.read(path, MAX_FILE_BYTES).unwrap_or_default();
        secrets.extend(in_config(&text));
    }
    for path in [Some(left_nbc_command.as_path()), typed_nbc_command].into_iter().flatten() {
        let text = world.read(path, MAX_FILE_BYTES).unwrap_or_default();
        secrets.extend(in_nbc_command(&text));
    }
    secrets
}

//! Connects a repair to Azure.

use std::path::Path;
use std::rc::Rc;

use jiff::Timestamp;
use mooring_arm::Client;
use mooring_repair::runtime::{CredentialSource, Operator};
use mooring_repair::settings::Settings;

use crate::output::failure::CommandFailure;
use crate::workflows::runs::Signals;

pub(crate) fn operator(
    client: &Client,
    kubeconfig: Option<&Path>,
    settings: Settings,
) -> Result<(Operator, Signals), CommandFailure> {
    let access =
        kubeconfig.map_or(CredentialSource::Azure, |path| CredentialSource::File(path.to_owned()));
    let (signals, stopped) = Signals::channel();
    let operator = Operator::new(client, access, settings, Rc::new(Timestamp::now), stopped)
        .map_err(|error| CommandFailure::usage(error.to_string()))?;
    Ok((operator, signals))
}

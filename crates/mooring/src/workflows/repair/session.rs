//! The operator of a command, and the flags that select it.

use std::path::Path;
use std::rc::Rc;

use jiff::Timestamp;
use mooring_arm::Client;
use mooring_repair::runtime::{CredentialSource, Operator};
use mooring_repair::settings::Settings;

use super::arguments::TargetArguments;
use crate::output::failure::CommandFailure;
use crate::workflows::runs::{ReadLimit, Signals, confirm, confirm_protected};

pub(crate) struct RepairSession<'a> {
    pub(crate) operator: Operator,
    pub(crate) target: &'a TargetArguments,
    /// The context whose changes are confirmed on a terminal, also if flags approve them.
    pub(crate) protected: Option<&'a str>,
    pub(crate) limit: Option<ReadLimit>,
}

impl RepairSession<'_> {
    /// Returns the flags of a further command on the same pool.
    pub(crate) fn flags(&self) -> String {
        self.target.repeated(&self.operator.settings().target.pool)
    }

    /// Prompts for `CLUSTER/POOL`.
    pub(crate) fn ask(&self, unattended: &str) -> Result<(), CommandFailure> {
        confirm(&self.typed_name(), &format!("mooring repair {unattended}"))
    }

    /// Prompts for `CLUSTER/POOL` although flags approve the change, if its context is protected.
    pub(crate) fn ask_protected(&self) -> Result<(), CommandFailure> {
        self.protected.map_or(Ok(()), |context| confirm_protected(&self.typed_name(), context))
    }

    fn typed_name(&self) -> String {
        let target = &self.operator.settings().target;
        format!("{}/{}", target.cluster, target.pool)
    }
}

/// Returns the operator of a cluster, and the signals that stop its runs.
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

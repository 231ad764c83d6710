//! The time that a command waits for Azure: one limit for the sign-in and all reads.

use std::time::Duration;

use mooring_arm::Client;
use mooring_arm::identity::Credential;
use tokio::time::Instant;

use super::connect;
use super::waiting::wait;
use crate::arguments::{AzureMode, SourceArguments};
use crate::output::failure::CommandFailure;

/// Without a response, a command continues without Azure.
const OPTIONAL: Duration = Duration::from_secs(10);
/// Calls end later than the limit, except those that Azure asks to repeat even later: they are errors at once.
const MARGIN: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy)]
pub(crate) struct AzureLimit {
    limit: Duration,
    end: Instant,
    /// What the command does at the end.
    then: &'static str,
}

impl AzureLimit {
    /// Starts the limit of the flags: at most `--timeout`, and less where the command continues without Azure.
    pub(crate) fn start(arguments: &SourceArguments) -> Self {
        match arguments.azure {
            AzureMode::Always => Self::start_required(arguments.timeout),
            AzureMode::Auto | AzureMode::Never => {
                Self::start_optional(OPTIONAL.min(arguments.timeout))
            }
        }
    }

    /// Starts a limit after which the command continues.
    pub(crate) fn start_optional(limit: Duration) -> Self {
        Self { limit, end: Instant::now() + limit, then: "continuing without it" }
    }

    /// Starts a limit after which the command gives up.
    pub(crate) fn start_required(limit: Duration) -> Self {
        Self { limit, end: Instant::now() + limit, then: "giving up" }
    }

    /// Signs in to Azure. Returns the credential that succeeded; the error names each that was tried.
    pub(crate) async fn sign_in(&self, arm: &Client) -> Result<Option<Credential>, CommandFailure> {
        let ways = connect::credentials();
        let what = format!("signing in to Azure by {ways}");
        let signed_in = wait(&what, self.remaining(), self.then, connect::sign_in(arm)).await;
        signed_in
            .unwrap_or_else(|| Err(self.late(&format!("not signed in: no response by {ways}"))))
    }

    /// Returns a client whose calls do not outlast the limit.
    pub(crate) fn client(&self, arm: &Client) -> Client {
        arm.within(self.remaining() + MARGIN)
    }

    /// Awaits reads of Azure.
    pub(crate) async fn read<T>(&self, work: impl Future<Output = T>) -> Result<T, CommandFailure> {
        let read = wait("waiting for Azure", self.remaining(), self.then, work).await;
        read.ok_or_else(|| self.late("Azure did not respond"))
    }

    fn remaining(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    fn late(&self, what: &str) -> CommandFailure {
        CommandFailure::io(format!("{what} within {}s", self.limit.as_secs()))
    }
}

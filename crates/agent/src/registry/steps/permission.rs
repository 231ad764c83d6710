//! Step 5: check for permission to pull, since the error of the first pull would come later and with less detail.

use crate::registry::error::{Code, RegistryStop};
use crate::registry::session::{RegistrySession, StepResult};
use crate::registry::token::{self, Pull};

pub(super) fn check(session: &mut RegistrySession<'_, '_>) -> Result<StepResult, RegistryStop> {
    match token::pull(&session.refresh_token) {
        Pull::Allowed => Ok(StepResult::Next("the token may pull")),
        Pull::NotTold => Ok(StepResult::Next(
            "the token lists no permissions (ABAC): the registry decides at the pull",
        )),
        Pull::Missing => Err(RegistryStop {
            hint: Some(
                "give the kubelet identity the role AcrPull on the registry; a new role takes minutes to spread",
            ),
            ..RegistryStop::new(
                Code::Refused,
                format!(
                    "the token for {} lacks the permission to pull (read)",
                    session.flags.registry
                ),
            )
        }),
    }
}

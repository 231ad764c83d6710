//! Step 5: check for permission to pull, since the error of the first pull would come later and with less detail.

use crate::registry::error::{Code, Stop};
use crate::registry::session::{Session, StepResult};
use crate::registry::token::{self, Pull};

pub(super) fn check(session: &mut Session<'_, '_>) -> Result<StepResult, Stop> {
    match token::pull(&session.refresh_token) {
        Pull::Allowed => Ok(StepResult::Next("the token may pull")),
        Pull::NotTold => Ok(StepResult::Next(
            "the token lists no permissions (ABAC): the registry decides at the pull",
        )),
        Pull::Missing => Err(Stop {
            hint: Some(
                "give the kubelet identity the role AcrPull on the registry; a new role takes minutes to spread",
            ),
            ..Stop::new(
                Code::Refused,
                format!(
                    "the token for {} lacks the permission to pull (read)",
                    session.flags.registry
                ),
            )
        }),
    }
}

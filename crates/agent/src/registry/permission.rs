//! Step 5: may the token pull? Asked now, since the answer at the first pull would come late and
//! say less.

use super::flow::Flow;
use super::session::Session;
use super::token::{self, Pull};
use super::trouble::{Code, Stop};

pub(super) fn check(session: &mut Session<'_, '_>) -> Result<Flow, Stop> {
    match token::pull(&session.refresh_token) {
        Pull::Allowed => Ok(Flow::Next("the token may pull")),
        Pull::NotTold => Ok(Flow::Next(
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

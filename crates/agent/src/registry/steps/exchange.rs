//! Step 4: the identity's token becomes a refresh token of the registry.

use mooring_redact::Secret;

use super::identity;
use crate::registry::error::{LoginError, RegistryStop, Service};
use crate::registry::session::{Question, RegistrySession, StepResult};
use crate::registry::{form, responses};

const PATH: &str = "/oauth2/exchange";

pub(super) fn exchange(session: &mut RegistrySession<'_, '_>) -> Result<StepResult, RegistryStop> {
    let tenant = session.flags.identity.as_ref().map_or("", |identity| &identity.tenant_id);
    let form = Secret::from(form::encoded(&[
        ("grant_type", "access_token"),
        ("service", &session.flags.registry),
        ("tenant", tenant),
        ("access_token", session.access_token.expose()),
    ]));
    let url = session.flags.registry_url.with_target(PATH);
    let question =
        Question { party: Service::Registry, url: &url, headers: &[], form: Some(&form) };
    let token = session.ask(&question, |response| match response.status {
        200 => responses::token(&response.body, "refresh_token")
            .ok_or_else(|| LoginError::nonsense("no refresh token in it")),
        _ => Err(LoginError::of_status(Service::Registry, response)),
    });
    match token {
        Ok(token) => {
            session.keep_secret(&token);
            session.refresh_token = token;
            Ok(StepResult::Next("the registry gave a refresh token"))
        }
        Err(stop) => Err(stop.with_audience(identity::AUDIENCE)),
    }
}

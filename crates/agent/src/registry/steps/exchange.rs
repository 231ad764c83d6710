//! Step 4: the identity's token becomes a refresh token of the registry.

use mooring_redact::Secret;

use super::identity::ask_token;
use crate::registry::error::{RegistryStop, Service};
use crate::registry::form;
use crate::registry::session::{Question, RegistrySession, StepResult};

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
    session.refresh_token = ask_token(session, &question, "refresh_token")?;
    Ok(StepResult::Next("the registry gave a refresh token"))
}

//! Step 4: the identity's token becomes a refresh token of the registry.

use mooring_redact::Secret;

use super::flow::Flow;
use super::session::{Question, Session};
use super::trouble::{Party, Stop, Trouble};
use super::{answers, form, identity};

const PATH: &str = "/oauth2/exchange";

pub(super) fn exchange(session: &mut Session<'_, '_>) -> Result<Flow, Stop> {
    let tenant = session.flags.identity.as_ref().map_or("", |identity| &identity.tenant_id);
    let form = Secret::from(form::encoded(&[
        ("grant_type", "access_token"),
        ("service", &session.flags.registry),
        ("tenant", tenant),
        ("access_token", session.access_token.expose()),
    ]));
    let url = session.flags.registry_url.with_target(PATH);
    let question = Question { party: Party::Registry, url: &url, headers: &[], form: Some(&form) };
    let token = session.ask(&question, |response| match response.status {
        200 => answers::token(&response.body, "refresh_token")
            .ok_or_else(|| Trouble::nonsense("no refresh token in it")),
        _ => Err(Trouble::of_status(Party::Registry, response)),
    });
    match token {
        Ok(token) => {
            session.keep_secret(&token);
            session.refresh_token = token;
            Ok(Flow::Next("the registry gave a refresh token"))
        }
        Err(stop) => Err(stop.with_audience(identity::AUDIENCE)),
    }
}

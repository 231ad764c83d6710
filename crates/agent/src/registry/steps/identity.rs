//! Step 3: a token of the kubelet identity, from the instance metadata service (IMDS).

use mooring_redact::Secret;

use crate::registry::error::{LoginError, RegistryStop, Service};
use crate::registry::session::{Question, RegistrySession, StepResult};
use crate::registry::{form, responses};

const PATH: &str = "/metadata/identity/oauth2/token";
const API_VERSION: &str = "2018-02-01";
/// The only audience that a token is requested for, in every cloud. A registry that rejects it gets no other: a token
/// for Azure Resource Manager would let it act as the node's identity everywhere.
const AUDIENCE: &str = "https://containerregistry.azure.net/";

pub(super) fn ask_imds(session: &mut RegistrySession<'_, '_>) -> Result<StepResult, RegistryStop> {
    let client_id = session.flags.identity.as_ref().map_or("", |identity| &identity.client_id);
    let query = form::encoded(&[
        ("api-version", API_VERSION),
        ("resource", AUDIENCE),
        ("client_id", client_id),
    ]);
    let url = session.flags.imds_url.with_target(format!("{PATH}?{query}"));
    let headers = [("Metadata", Secret::from("true"))];
    let question = Question { party: Service::Imds, url: &url, headers: &headers, form: None };
    session.access_token = ask_token(session, &question, "access_token")?;
    Ok(StepResult::Next("IMDS gave a token"))
}

/// Requests a token for the identity, which the response has in this member.
pub(super) fn ask_token(
    session: &mut RegistrySession<'_, '_>,
    question: &Question<'_>,
    member: &str,
) -> Result<Secret, RegistryStop> {
    let token = session.ask(question, |response| match response.status {
        200 => responses::token(&response.body, member)
            .ok_or_else(|| LoginError::nonsense(&format!("no {} in it", member.replace('_', " ")))),
        _ => Err(LoginError::of_status(question.party, response)),
    });
    let token = token.map_err(|stop| stop.with_audience(AUDIENCE))?;
    session.keep_secret(&token);
    Ok(token)
}

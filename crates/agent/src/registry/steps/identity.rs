//! Step 3: a token of the kubelet identity, from the instance metadata service (IMDS).

use mooring_redact::Secret;

use crate::registry::error::{LoginError, RegistryStop, Service};
use crate::registry::session::{Question, RegistrySession, StepResult};
use crate::registry::{form, responses};

const PATH: &str = "/metadata/identity/oauth2/token";
const API_VERSION: &str = "2018-02-01";
/// The only audience that a token is requested for, in every cloud. A registry that rejects it gets no other: a token
/// for Azure Resource Manager would let it act as the node's identity everywhere.
pub(super) const AUDIENCE: &str = "https://containerregistry.azure.net/";

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
    let token = session.ask(&question, |response| match response.status {
        200 => responses::token(&response.body, "access_token")
            .ok_or_else(|| LoginError::nonsense("no access token in it")),
        _ => Err(LoginError::of_status(Service::Imds, response)),
    });
    match token {
        Ok(token) => {
            session.keep_secret(&token);
            session.access_token = token;
            Ok(StepResult::Next("IMDS gave a token"))
        }
        Err(stop) => Err(stop.with_audience(AUDIENCE)),
    }
}

//! Step 3: a token of the kubelet identity, from the instance metadata service (IMDS).

use mooring_contract::Secret;

use super::flow::{Flow, IDENTITY};
use super::session::{Question, Session};
use super::trouble::{Code, Party, Stop, Trouble};
use super::{answers, form};

const PATH: &str = "/metadata/identity/oauth2/token";
const API_VERSION: &str = "2018-02-01";
/// What registries want; those that do not know it want one for Azure Resource Manager.
const REGISTRIES: &str = "https://containerregistry.azure.net/";

pub(super) fn ask_imds(session: &mut Session<'_, '_>) -> Result<Flow, Stop> {
    let client_id = session.flags.identity.as_ref().map_or("", |identity| &identity.client_id);
    let resource = resource(session);
    let query = form::encoded(&[
        ("api-version", API_VERSION),
        ("resource", &resource),
        ("client_id", client_id),
    ]);
    let url = session.flags.imds_url.with_target(format!("{PATH}?{query}"));
    let headers = [("Metadata", Secret::from("true"))];
    let question = Question { party: Party::Imds, url: &url, headers: &headers, form: None };
    let token = session.ask(&question, |response| match response.status {
        200 => answers::token(&response.body, "access_token")
            .ok_or_else(|| Trouble::nonsense("no access token in it")),
        _ => Err(Trouble::of_status(Party::Imds, response)),
    });
    match token {
        Ok(token) => {
            session.keep_secret(&token);
            session.access_token = token;
            Ok(Flow::Next("IMDS gave a token"))
        }
        Err(stop) => other_audience(session, stop),
    }
}

/// Whom the token is for.
pub(super) fn resource(session: &Session<'_, '_>) -> String {
    match session.audience {
        0 => REGISTRIES.to_owned(),
        _ => session.arm_endpoint.clone(),
    }
}

/// A refusal may be of the token's audience, so the other one is tried; unless the identity itself
/// is unknown, which no audience changes.
pub(super) fn other_audience(session: &mut Session<'_, '_>, stop: Stop) -> Result<Flow, Stop> {
    let is_unknown = stop.text.to_ascii_lowercase().contains("identity not found");
    if stop.code != Code::Refused || is_unknown || session.audience > 0 {
        let text = match stop.code {
            Code::Refused => format!("{} (token for {})", stop.text, resource(session)),
            _ => stop.text,
        };
        return Err(Stop { text, ..stop });
    }
    session.audience += 1;
    Ok(Flow::Back(IDENTITY))
}

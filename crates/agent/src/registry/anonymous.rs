//! Step 2: does the registry let everybody in?
//!
//! Upstream runs `oras repo ls`, which asks for `/v2/_catalog`, fetches a token for nobody in
//! particular where the registry's challenge says so, and asks again. So does this, without the
//! login of an earlier run, which could not tell what everybody may do.

use mooring_redact::Secret;

use super::answers::{self, Challenge};
use super::flow::Flow;
use super::session::{Question, Session};
use super::trouble::{Party, Stop, Trouble};
use super::{form, oras, trust};
use crate::world::{HttpResponse, Url};

/// One repository is enough to know.
const CATALOGUE: &str = "/v2/_catalog?n=1";
/// What the list of repositories is called in a token.
const CATALOGUE_SCOPE: &str = "registry:catalog:*";

/// What the registry says to a stranger.
enum Access {
    Open,
    Closed,
    /// Perhaps, with a token that is to be had there.
    WithToken(Challenge),
}

pub(super) fn probe(session: &mut Session<'_, '_>) -> Result<Flow, Stop> {
    if session.flags.identity.is_none() {
        return Ok(Flow::Done(
            "client id or tenant id is not set: no login, images are pulled anonymously",
        ));
    }
    session.roots = trust::roots(session)?;
    let access = match ask(session, &[])? {
        Access::WithToken(challenge) => match anonymous_token(session, &challenge)? {
            None => Access::Closed,
            Some(token) => {
                let bearer = format!("Bearer {}", token.expose());
                ask(session, &[("Authorization", bearer.into())])?
            }
        },
        access => access,
    };
    Ok(match access {
        Access::Open => {
            oras::forget_login(session);
            Flow::Done("the registry allows anonymous access: no login needed")
        }
        Access::Closed | Access::WithToken(_) => Flow::Next("the registry wants an identity"),
    })
}

fn ask(session: &mut Session<'_, '_>, headers: &[(&'static str, Secret)]) -> Result<Access, Stop> {
    let url = session.flags.registry_url.with_target(CATALOGUE);
    let question = Question { party: Party::Registry, url: &url, headers, form: None };
    session.ask(&question, |response| match response.status {
        200 if answers::is_catalogue(&response.body) => Ok(Access::Open),
        200 => Err(Trouble::nonsense("not a list of repositories")),
        401 => {
            let challenge = response.header("www-authenticate").and_then(answers::challenge);
            Ok(challenge.map_or(Access::Closed, Access::WithToken))
        }
        _ => closed_or_trouble(response, Access::Closed),
    })
}

fn anonymous_token(
    session: &mut Session<'_, '_>,
    challenge: &Challenge,
) -> Result<Option<Secret>, Stop> {
    let registry = &session.flags.registry_url;
    let Ok(realm) = Url::parse(&challenge.realm) else { return Ok(None) };
    if !realm.tls && !realm.is_same_server(registry) {
        return Ok(None);
    }
    let service = challenge.service.clone().unwrap_or_else(|| registry.authority());
    let scope = challenge.scope.as_deref().unwrap_or(CATALOGUE_SCOPE);
    let query = form::encoded(&[("service", &service), ("scope", scope)]);
    let separator = if realm.target.contains('?') { '&' } else { '?' };
    let url = realm.with_target(format!("{}{separator}{query}", realm.target));
    let question = Question { party: Party::Registry, url: &url, headers: &[], form: None };
    let token = session.ask(&question, |response| match response.status {
        200 => {
            let token = answers::token(&response.body, "access_token");
            let token = token.or_else(|| answers::token(&response.body, "token"));
            token.map(Some).ok_or_else(|| Trouble::nonsense("no token in it"))
        }
        _ => closed_or_trouble(response, None),
    })?;
    if let Some(token) = &token {
        session.keep_secret(token);
    }
    Ok(token)
}

/// A refusal of a stranger is no failure, but what this step wants to know.
fn closed_or_trouble<T>(response: &HttpResponse, closed: T) -> Result<T, Trouble> {
    let trouble = Trouble::of_status(Party::Registry, response);
    if trouble.kind == super::trouble::Kind::Refused { Ok(closed) } else { Err(trouble) }
}

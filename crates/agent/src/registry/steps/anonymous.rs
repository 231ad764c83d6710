//! Step 2: check for anonymous access.
//!
//! Upstream runs `oras repo ls`, which requests `/v2/_catalog`, gets an anonymous token according to the registry's
//! challenge, and repeats the request. This step does the same, without the login of an earlier run.

use mooring_redact::Secret;

use super::oras;
use crate::registry::error::{LoginError, RegistryErrorKind, RegistryStop, Service};
use crate::registry::responses::{self, Challenge};
use crate::registry::session::{Question, RegistrySession, StepResult};
use crate::registry::{ca_certs, form};
use crate::world::{HttpResponse, Url};

/// One repository is enough to know.
const CATALOG: &str = "/v2/_catalog?n=1";
const CATALOG_SCOPE: &str = "registry:catalog:*";

enum Access {
    Open,
    Closed,
    /// Perhaps, with a token that is to be had there.
    WithToken(Challenge),
}

pub(super) fn probe(session: &mut RegistrySession<'_, '_>) -> Result<StepResult, RegistryStop> {
    if session.flags.identity.is_none() {
        return Ok(StepResult::Done(
            "client id or tenant id is not set: no login, images are pulled anonymously",
        ));
    }
    session.roots = ca_certs::roots(session)?;
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
            StepResult::Done("the registry allows anonymous access: no login needed")
        }
        Access::Closed | Access::WithToken(_) => {
            StepResult::Next("the registry requires an identity")
        }
    })
}

fn ask(
    session: &mut RegistrySession<'_, '_>,
    headers: &[(&'static str, Secret)],
) -> Result<Access, RegistryStop> {
    let url = session.flags.registry_url.with_target(CATALOG);
    let question = Question { party: Service::Registry, url: &url, headers, form: None };
    session.ask(&question, |response| match response.status {
        200 if responses::is_catalog(&response.body) => Ok(Access::Open),
        200 => Err(LoginError::nonsense("not a list of repositories")),
        401 => {
            let challenge = response.header("www-authenticate").and_then(responses::challenge);
            Ok(challenge.map_or(Access::Closed, Access::WithToken))
        }
        _ => closed_or_error(response, Access::Closed),
    })
}

fn anonymous_token(
    session: &mut RegistrySession<'_, '_>,
    challenge: &Challenge,
) -> Result<Option<Secret>, RegistryStop> {
    let registry = &session.flags.registry_url;
    let Ok(realm) = Url::parse(&challenge.realm) else { return Ok(None) };
    if !realm.tls && !realm.is_same_server(registry) {
        return Ok(None);
    }
    let service = challenge.service.clone().unwrap_or_else(|| registry.authority());
    let scope = challenge.scope.as_deref().unwrap_or(CATALOG_SCOPE);
    let query = form::encoded(&[("service", &service), ("scope", scope)]);
    let separator = if realm.target.contains('?') { '&' } else { '?' };
    let url = realm.with_target(format!("{}{separator}{query}", realm.target));
    let question = Question { party: Service::Registry, url: &url, headers: &[], form: None };
    let token = session.ask(&question, |response| match response.status {
        200 => {
            let token = responses::token(&response.body, "access_token");
            let token = token.or_else(|| responses::token(&response.body, "token"));
            token.map(Some).ok_or_else(|| LoginError::nonsense("no token in it"))
        }
        _ => closed_or_error(response, None),
    })?;
    if let Some(token) = &token {
        session.keep_secret(token);
    }
    Ok(token)
}

/// Denied anonymous access is a result, not a failure.
fn closed_or_error<T>(response: &HttpResponse, closed: T) -> Result<T, LoginError> {
    let trouble = LoginError::of_status(Service::Registry, response);
    if trouble.kind == RegistryErrorKind::Refused { Ok(closed) } else { Err(trouble) }
}

//! Authentication of a container registry.

use http::{HeaderValue, StatusCode};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::exchange::{Request, ServerReply, header, json as answer};
use crate::secrets::{decode_claims, encode_claims};

#[derive(Debug, Clone)]
pub struct Registry {
    /// Host name in challenges.
    pub host: String,
    pub anonymous: bool,
    /// Client ids that may read; tokens of others are not exchanged.
    pub readers: Vec<String>,
    pub repositories: Vec<String>,
}

impl Registry {
    pub fn new(host: &str, readers: &[&str]) -> Self {
        Self {
            host: host.to_owned(),
            anonymous: false,
            readers: readers.iter().map(ToString::to_string).collect(),
            repositories: vec!["aks/components/kubernetes-node".to_owned()],
        }
    }

    pub fn handle(&self, request: &Request, now: Timestamp) -> ServerReply {
        let form = crate::exchange::query(std::str::from_utf8(request.body()).ok());
        let query = crate::exchange::query(request.uri().query());
        let field = |name: &str| form.get(name).or(query.get(name)).map_or("", String::as_str);
        match (request.method().as_str(), request.uri().path()) {
            ("POST", "/oauth2/exchange") => {
                self.exchange(field("grant_type"), field("access_token"), now)
            }
            ("POST", "/oauth2/token") => self.access(field("refresh_token"), field("scope"), now),
            ("GET", "/oauth2/token") if self.anonymous => {
                token("access_token", "nobody", field("scope"), now)
            }
            ("GET", "/oauth2/token") => unauthorized("authentication required"),
            ("GET", "/v2/") => self.inside(request, "", || json!({}), now),
            ("GET", "/v2/_catalog") => self.inside(
                request,
                "registry:catalog:*",
                || json!({"repositories": self.repositories}),
                now,
            ),
            _ => denied(
                StatusCode::NOT_FOUND,
                "NAME_UNKNOWN",
                "repository name not known to registry",
            ),
        }
    }

    /// Serves an authenticated request, or returns the challenge.
    fn inside(
        &self,
        request: &Request,
        scope: &str,
        body: impl Fn() -> Value,
        now: Timestamp,
    ) -> ServerReply {
        let token =
            header(request, "authorization").and_then(|header| header.strip_prefix("Bearer "));
        if token.and_then(|token| claims(token, "access_token", now)).is_some() {
            return ServerReply::Answer(answer(StatusCode::OK, &body()));
        }
        let host = &self.host;
        let scope = if scope.is_empty() { String::new() } else { format!(",scope=\"{scope}\"") };
        let challenge =
            format!("Bearer realm=\"https://{host}/oauth2/token\",service=\"{host}\"{scope}");
        let body =
            json!({"errors": [{"code": "UNAUTHORIZED", "message": "authentication required"}]});
        let mut response = answer(StatusCode::UNAUTHORIZED, &body);
        if let Ok(challenge) = HeaderValue::from_str(&challenge) {
            response.headers_mut().insert(http::header::WWW_AUTHENTICATE, challenge);
        }
        ServerReply::Answer(response)
    }

    /// Exchanges a token of Entra ID for a refresh token.
    fn exchange(&self, grant: &str, given: &str, now: Timestamp) -> ServerReply {
        if grant != "access_token" {
            return denied(
                StatusCode::BAD_REQUEST,
                "UNSUPPORTED",
                "grant_type must be access_token",
            );
        }
        let claims = given.split('.').nth(1).and_then(decode_claims);
        let application = claims.and_then(|claims| claims["appid"].as_str().map(str::to_owned));
        match application {
            Some(application) if self.readers.contains(&application) => {
                token("refresh_token", &application, "", now)
            }
            Some(_) => {
                denied(StatusCode::FORBIDDEN, "DENIED", "the identity has no role on this registry")
            }
            None => unauthorized("the access token is invalid"),
        }
    }

    /// Exchanges a refresh token for an access token.
    fn access(&self, refresh: &str, scope: &str, now: Timestamp) -> ServerReply {
        match claims(refresh, "refresh_token", now) {
            Some(reader) if self.readers.contains(&reader) => {
                token("access_token", &reader, scope, now)
            }
            _ => unauthorized("the refresh token is invalid"),
        }
    }
}

fn token(kind: &str, reader: &str, scope: &str, now: Timestamp) -> ServerReply {
    let claims = json!({"grant_type": kind, "appid": reader, "scope": scope, "exp": now.as_second() + 3 * 3600});
    let token = format!("simulated.{}.registry", encode_claims(&claims));
    ServerReply::Answer(answer(StatusCode::OK, &json!({kind: token})))
}

fn claims(token: &str, kind: &str, now: Timestamp) -> Option<String> {
    let body = token.strip_prefix("simulated.")?.strip_suffix(".registry")?;
    let claims = decode_claims(body)?;
    let valid = claims["grant_type"] == kind && claims["exp"].as_i64()? > now.as_second();
    valid.then(|| claims["appid"].as_str().unwrap_or_default().to_owned())
}

fn unauthorized(message: &str) -> ServerReply {
    denied(StatusCode::UNAUTHORIZED, "UNAUTHORIZED", message)
}

fn denied(status: StatusCode, code: &str, message: &str) -> ServerReply {
    ServerReply::Answer(answer(status, &json!({"errors": [{"code": code, "message": message}]})))
}

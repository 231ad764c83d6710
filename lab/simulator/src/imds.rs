//! The instance metadata service of one simulated VM: instance data, tokens of its identities, and
//! an attested document.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::StatusCode;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::exchange::{Request, ServerReply, json as answer, plain};
use crate::secrets::{encode_claims, token_head};

#[derive(Debug, Clone)]
pub struct Imds {
    pub compute: Value,
    /// Client ids of the VM's identities; tokens exist for these only.
    pub identities: Vec<String>,
    pub tenant: String,
}

/// First supported version.
const FIRST_VERSION: &str = "2017-04-02";
/// Seconds until a token expires.
const LIFETIME: i64 = 86_400;

impl Imds {
    /// Returns the service of a VM in this region, with one identity.
    pub fn new(location: &str, name: &str, identity: &str, tenant: &str) -> Self {
        Self {
            compute: json!({
                "azEnvironment": "AzurePublicCloud", "location": location, "name": name, "osType": "Linux",
                "provider": "Microsoft.Compute", "vmSize": "Standard_D4s_v5", "zone": "1",
                "resourceGroupName": "MC_rg-demo_demo_westeurope",
                "subscriptionId": "00000000-0000-0000-0000-000000000001",
                "vmId": "00000000-0000-4000-8000-0000000000d1",
            }),
            identities: vec![identity.to_owned()],
            tenant: tenant.to_owned(),
        }
    }

    pub fn handle(&self, request: &Request, now: Timestamp) -> ServerReply {
        let query = crate::exchange::query(request.uri().query());
        let get = |name: &str| query.get(name).map_or("", String::as_str);
        if request
            .headers()
            .get("metadata")
            .is_none_or(|value| !value.as_bytes().eq_ignore_ascii_case(b"true"))
        {
            return refuse(400, "Bad request. Required metadata header not specified");
        }
        if request.headers().contains_key("x-forwarded-for") {
            return refuse(400, "Bad request. Forwarded requests are refused");
        }
        let version = get("api-version");
        if version < FIRST_VERSION {
            return refuse(
                400,
                "Bad request. api-version is invalid or was not specified in the request.",
            );
        }
        let path = request.uri().path().trim_end_matches('/');
        match path {
            "/metadata/identity/oauth2/token" => self.token(get("resource"), get("client_id"), now),
            "/metadata/attested/document" => self.attested(get("nonce"), now),
            _ => match path.strip_prefix("/metadata/instance") {
                Some(rest) => self.instance(rest, get("format")),
                None => refuse(404, "Not found"),
            },
        }
    }

    fn instance(&self, rest: &str, format: &str) -> ServerReply {
        let whole = json!({
            "compute": self.compute,
            "network": {"interface": [{"ipv4": {"ipAddress": [{"privateIpAddress": "10.224.0.4", "publicIpAddress": ""}], "subnet": [{"address": "10.224.0.0", "prefix": "16"}]}, "macAddress": "000D3A000001"}]},
        });
        match whole.pointer(rest) {
            None => refuse(404, "Not found"),
            Some(Value::String(text)) if format == "text" => {
                ServerReply::Answer(plain(StatusCode::OK, text.clone()))
            }
            Some(_) if format == "text" => {
                refuse(400, "Bad request. The format text is for leaves only")
            }
            Some(value) => ServerReply::Answer(answer(StatusCode::OK, value)),
        }
    }

    fn token(&self, resource: &str, client: &str, now: Timestamp) -> ServerReply {
        if resource.is_empty() {
            return oauth_error("invalid_request", "Required query variable 'resource' is missing");
        }
        let identity = match (client, &self.identities[..]) {
            ("", [only]) => only,
            ("", _) => {
                return oauth_error(
                    "invalid_request",
                    "Multiple user assigned identities exist, please specify the clientId",
                );
            }
            (wanted, all) => match all.iter().find(|known| *known == wanted) {
                Some(known) => known,
                None => return oauth_error("invalid_request", "Identity not found"),
            },
        };
        let expires = now.as_second() + LIFETIME;
        let claims = json!({"aud": resource, "tid": self.tenant, "appid": identity, "exp": expires, "iat": now.as_second()});
        let token = format!("{}.{}.simulated", token_head(), encode_claims(&claims));
        let body = json!({
            "access_token": token, "client_id": identity, "expires_in": LIFETIME.to_string(),
            "expires_on": expires.to_string(), "ext_expires_in": LIFETIME.to_string(),
            "not_before": now.as_second().to_string(), "resource": resource, "token_type": "Bearer",
        });
        ServerReply::Answer(answer(StatusCode::OK, &body))
    }

    fn attested(&self, nonce: &str, now: Timestamp) -> ServerReply {
        let document = json!({
            "nonce": nonce, "vmId": self.compute["vmId"], "subscriptionId": self.compute["subscriptionId"],
            "timeStamp": {"createdOn": now.to_string(), "expiresOn": ""},
        });
        let body = json!({"encoding": "pkcs7", "signature": STANDARD.encode(document.to_string())});
        ServerReply::Answer(answer(StatusCode::OK, &body))
    }
}

fn refuse(status: u16, text: &str) -> ServerReply {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
    ServerReply::Answer(answer(status, &json!({"error": text})))
}

fn oauth_error(error: &str, text: &str) -> ServerReply {
    ServerReply::Answer(answer(
        StatusCode::BAD_REQUEST,
        &json!({"error": error, "error_description": text}),
    ))
}

//! Sign-in endpoints of Entra ID, as used by Azure's clients and `az`.

use jiff::Timestamp;
use mooring_contract::Secret;
use serde_json::{Value, json};

use super::assertion::Application;
use crate::azure::api::request::{ArmError, Reply};
use crate::azure::state::AzureOptions;
use crate::exchange::query;
use crate::secrets::{self, decode_claims, encode_claims, token_head};

/// Seconds until a token expires.
const LIFETIME: i64 = 3600;

/// Returns a response if the path is a sign-in endpoint.
pub(crate) fn answer(
    options: &AzureOptions,
    method: &str,
    segments: &[&str],
    body: &[u8],
    base: &str,
    now: Timestamp,
) -> Option<Reply> {
    let host = base.trim_start_matches("https://");
    Some(match (method, segments) {
        ("GET", ["metadata", "endpoints"]) => Reply::ok(endpoints(base)),
        ("GET", ["common", "discovery", "instance"]) => Reply::ok(json!({
            "tenant_discovery_endpoint": format!("{base}/{}/v2.0/.well-known/openid-configuration", options.tenant),
            "api-version": "1.1",
            "metadata": [{"preferred_network": host, "preferred_cache": host, "aliases": [host]}],
        })),
        (
            "GET",
            [tenant, "v2.0", ".well-known", "openid-configuration"]
            | [tenant, ".well-known", "openid-configuration"],
        ) => Reply::ok(openid(base, tenant, &options.tenant)),
        ("GET", [_, "discovery", ..]) => Reply::ok(json!({"keys": []})),
        ("GET", ["common", "userrealm", ..]) => {
            Reply::ok(json!({"account_type": "Managed", "domain_name": "simulated.example"}))
        }
        ("POST", [_, "oauth2", "v2.0", "token"] | [_, "oauth2", "token"]) => {
            token_endpoint(options, body, base, now)
        }
        _ => return None,
    })
}

fn endpoints(base: &str) -> Value {
    json!({
        "name": "MooringSimulator",
        "portal": base,
        "authentication": {
            "loginEndpoint": base,
            "audiences": [base, format!("{base}/")],
            "tenant": "common",
            "identityProvider": "AAD",
        },
        "media": base, "graphAudience": base, "graph": base, "gallery": base, "sqlManagement": base,
        "microsoftGraphResourceId": base, "activeDirectoryDataLake": base, "batch": base,
        "resourceManager": base, "vmImageAliasDoc": base, "logAnalyticsResourceId": base,
        "ossrDbmsResourceId": base, "appInsightsResourceId": base, "appInsightsTelemetryChannelResourceId": base,
        "synapseAnalyticsResourceId": base, "attestationResourceId": base,
        "suffixes": {
            "storage": "core.simulated.example", "keyVaultDns": "vault.simulated.example",
            "sqlServerHostname": "database.simulated.example", "acrLoginServer": "azurecr.simulated.example",
            "azureDataLakeStoreFileSystem": "azuredatalakestore.simulated.example",
            "azureDataLakeAnalyticsCatalogAndJob": "azuredatalakeanalytics.simulated.example",
            "mhsmDns": "managedhsm.simulated.example", "mysqlServerEndpoint": "mysql.simulated.example",
            "postgresqlServerEndpoint": "postgres.simulated.example", "mariadbServerEndpoint": "mariadb.simulated.example",
            "synapseAnalytics": "dev.azuresynapse.simulated.example", "attestationEndpoint": "attest.simulated.example",
        },
    })
}

fn openid(base: &str, tenant: &str, own: &str) -> Value {
    let issuer = if matches!(tenant, "common" | "organizations") { "{tenantid}" } else { own };
    json!({
        "token_endpoint": format!("{base}/{tenant}/oauth2/v2.0/token"),
        "token_endpoint_auth_methods_supported": ["client_secret_post", "private_key_jwt", "client_secret_basic"],
        "jwks_uri": format!("{base}/{tenant}/discovery/v2.0/keys"),
        "response_modes_supported": ["query", "fragment", "form_post"],
        "subject_types_supported": ["pairwise"],
        "id_token_signing_alg_values_supported": ["RS256"],
        "response_types_supported": ["code", "id_token", "code id_token", "id_token token"],
        "scopes_supported": ["openid", "profile", "email", "offline_access"],
        "issuer": format!("{base}/{issuer}/v2.0"),
        "authorization_endpoint": format!("{base}/{tenant}/oauth2/v2.0/authorize"),
        "device_authorization_endpoint": format!("{base}/{tenant}/oauth2/v2.0/devicecode"),
        "end_session_endpoint": format!("{base}/{tenant}/oauth2/v2.0/logout"),
        "tenant_region_scope": "EU",
        "cloud_instance_name": base.trim_start_matches("https://"),
    })
}

fn token_endpoint(options: &AzureOptions, body: &[u8], base: &str, now: Timestamp) -> Reply {
    let form = query(std::str::from_utf8(body).ok());
    let get = |name: &str| form.get(name).map_or("", String::as_str);
    let refuse = |status: u16, error: &str, text: &str| {
        Reply::new(status)
            .json(json!({"error": error, "error_description": text, "error_codes": []}))
    };
    if get("grant_type") != "client_credentials" {
        return refuse(
            400,
            "unsupported_grant_type",
            "AADSTS70003: only client credentials are given tokens here.",
        );
    }
    if get("client_id") != options.client_id {
        return refuse(
            400,
            "unauthorized_client",
            "AADSTS700016: the application was not found in the directory.",
        );
    }
    let assertion = get("client_assertion");
    if !assertion.is_empty() {
        let authority = format!("{base}/{}", options.tenant);
        let application = Application {
            client_id: &options.client_id,
            certificate: options.client_certificate.as_deref(),
            audiences: [format!("{authority}/oauth2/v2.0/token"), format!("{authority}/v2.0")],
        };
        if let Err(refusal) = application.check(get("client_assertion_type"), assertion, now) {
            return refuse(401, "invalid_client", &refusal.to_string());
        }
    } else if !secrets::matches(&options.client_secret, get("client_secret")) {
        return refuse(401, "invalid_client", "AADSTS7000215: Invalid client secret provided.");
    }
    let scope = get("scope");
    let audience =
        if scope.is_empty() { get("resource") } else { scope.trim_end_matches(".default") };
    let token = token(options, &options.principal, audience, base, now);
    Reply::ok(json!({
        "token_type": "Bearer", "expires_in": LIFETIME, "ext_expires_in": LIFETIME, "access_token": token,
    }))
}

pub(crate) fn token(
    options: &AzureOptions,
    principal: &str,
    audience: &str,
    base: &str,
    now: Timestamp,
) -> String {
    let issued = now.as_second();
    let claims = json!({
        "aud": audience,
        "iss": format!("{base}/{}/", options.tenant),
        "iat": issued, "nbf": issued, "exp": issued + LIFETIME,
        "oid": principal, "sub": principal, "tid": options.tenant,
        "appid": options.client_id, "idtyp": "app", "ver": "1.0",
    });
    let body = encode_claims(&claims);
    let signature = secrets::sign(&options.token_key, &body);
    format!("{}.{body}.{signature}", token_head())
}

/// Returns the principal of a request's token.
pub(crate) fn principal(
    key: &Secret,
    header: Option<&str>,
    now: Timestamp,
) -> Result<String, ArmError> {
    let refuse = |code: &str, text: &str| {
        Err(ArmError::new(401, code, text).with(
            "www-authenticate",
            r#"Bearer authorization_uri="https://login.simulated.example/", error="invalid_token""#,
        ))
    };
    let Some(token) =
        header.and_then(|header| header.strip_prefix("Bearer ").or(header.strip_prefix("bearer ")))
    else {
        return refuse(
            "AuthenticationFailed",
            "Authentication failed. The 'Authorization' header is missing.",
        );
    };
    let [_, body, signature] = token.split('.').collect::<Vec<_>>()[..] else {
        return refuse("InvalidAuthenticationToken", "The access token is invalid.");
    };
    let claims = decode_claims(body).filter(|_| secrets::is_signed(key, body, signature));
    let Some(claims) = claims else {
        return refuse("InvalidAuthenticationToken", "The access token is invalid.");
    };
    if claims["exp"].as_i64().is_none_or(|expires| expires <= now.as_second()) {
        return refuse("ExpiredAuthenticationToken", "The access token expiry is in the past.");
    }
    Ok(claims["oid"].as_str().unwrap_or_default().to_owned())
}

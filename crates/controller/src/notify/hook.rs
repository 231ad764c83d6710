//! Configured hooks.
//!
//! `MOORING_NOTIFY` has a list `[{"name", "format", "events"}]`. The URL of the hook number N, counted from 0, is in
//! `MOORING_NOTIFY_URL_N`, its key for signatures in `MOORING_NOTIFY_HMAC_N`: a pod gets them from Secrets.

use std::collections::BTreeSet;
use std::net::IpAddr;

use jiff::Timestamp;
use mooring_redact::Secret;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::alert::AlertEvent;
use super::chat::ChatMessage;
use super::signature::{SIGNATURE_HEADER, TIMESTAMP_HEADER, sign};
use super::transport::NotificationRequest;

pub const VARIABLE: &str = "MOORING_NOTIFY";
const MAX_HOOKS: usize = 16;
const MAX_NAME: usize = 63;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookFormat {
    #[default]
    Mooring,
    Slack,
    Teams,
}

impl HookFormat {
    /// Returns the body of a request from the document or the message of a notification.
    pub(super) fn body(
        self,
        document: impl FnOnce() -> Value,
        chat: impl FnOnce() -> ChatMessage,
    ) -> String {
        match self {
            Self::Mooring => document(),
            Self::Slack => chat().slack(),
            Self::Teams => chat().teams(),
        }
        .to_string()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    pub name: String,
    pub format: HookFormat,
    pub events: BTreeSet<AlertEvent>,
    pub url: Secret,
    /// Key for signatures.
    pub hmac: Option<Secret>,
}

impl Hook {
    /// Returns the signed request of a notification.
    pub fn request(&self, body: String, now: Timestamp) -> NotificationRequest {
        let mut headers = vec![(TIMESTAMP_HEADER, now.as_second().to_string())];
        if let Some(key) = &self.hmac {
            headers.push((SIGNATURE_HEADER, sign(key, now, &body)));
        }
        NotificationRequest { url: self.url.clone(), headers, body }
    }
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum HookError {
    #[error(
        "{VARIABLE} is not a list of hooks: {0}\nhint: use [{{\"name\": \"ops\", \"format\": \"slack\", \"events\": [\"finding\"]}}]"
    )]
    Invalid(String),
    #[error(
        "hook {0:?}: invalid or repeated name\nhint: use lowercase letters, digits and hyphens"
    )]
    Name(String),
    #[error("too many hooks: {0}\nhint: at most {MAX_HOOKS} are supported")]
    TooMany(usize),
    #[error("hook {0}: {1} is not set")]
    Missing(String, String),
    #[error(
        "hook {0}: {1} is not an https URL\nhint: plain http is allowed for loopback addresses only"
    )]
    Url(String, String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HookConfig {
    name: String,
    #[serde(default)]
    format: HookFormat,
    events: BTreeSet<AlertEvent>,
}

/// Reads hooks from environment variables; none if `MOORING_NOTIFY` is not set.
pub fn hooks(variable: impl Fn(&str) -> Option<String>) -> Result<Vec<Hook>, HookError> {
    let Some(text) = variable(VARIABLE).filter(|text| !text.is_empty()) else {
        return Ok(Vec::new());
    };
    let configs: Vec<HookConfig> =
        serde_json::from_str(&text).map_err(|error| HookError::Invalid(error.to_string()))?;
    if configs.len() > MAX_HOOKS {
        return Err(HookError::TooMany(configs.len()));
    }
    let mut hooks: Vec<Hook> = Vec::new();
    for (number, HookConfig { name, format, events }) in configs.into_iter().enumerate() {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let valid = !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(plain);
        if !valid || hooks.iter().any(|hook| hook.name == name) {
            return Err(HookError::Name(name));
        }
        let value = |kind: &str| {
            let variable_name = format!("{VARIABLE}_{kind}_{number}");
            // Secrets made from files often end in a newline.
            let value = variable(&variable_name).map(|value| value.trim_end().to_owned());
            (value.filter(|value| !value.is_empty()), variable_name)
        };
        let (url, url_variable) = value("URL");
        let Some(url) = url else { return Err(HookError::Missing(name, url_variable)) };
        if !is_allowed(&url) {
            return Err(HookError::Url(name, url_variable));
        }
        let hmac = value("HMAC").0.map(Secret::from);
        hooks.push(Hook { name, format, events, url: Secret::from(url), hmac });
    }
    Ok(hooks)
}

/// Returns true for an https URL, and for plain http to a loopback address.
fn is_allowed(url: &str) -> bool {
    let Ok(uri) = url.parse::<http::Uri>() else { return false };
    let Some(host) = uri.host().map(|host| host.trim_matches(['[', ']'])) else { return false };
    let is_loopback = host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
    match uri.scheme_str() {
        Some("https") => true,
        Some("http") => is_loopback,
        _ => false,
    }
}

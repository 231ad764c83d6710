//! Errors of the login and their exit codes.
//!
//! | failure | registry | IMDS | retried |
//! |---|---|---|---|
//! | no address, no connection, timeout, truncated response | 211 | 210 | until the time limit |
//! | certificate not trusted | 211 | – | no |
//! | another failure of TLS | 211 | – | until the time limit |
//! | denied by the proxy (4xx) | 211 | – | no |
//! | 408, 429, 5xx (IMDS also 404, 410: "being updated") | 211 | 210 | until the time limit |
//! | any other 4xx | 212 | 212 | no |
//! | invalid response: HTML, a redirect, no token | 211 | 210 | twice |
//!
//! An invalid response does not come from a working registry but mostly from a proxy or a portal: it is
//! a network failure, never a denied request.

use std::time::Duration;

use super::responses;
use crate::world::{HttpFailure, HttpFailureKind, HttpResponse};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Code {
    Failed,
    TimeUp,
    ImdsSilent,
    Network,
    Refused,
    NoOras,
}

impl Code {
    pub(super) fn number(self) -> u8 {
        match self {
            Self::Failed => 1,
            Self::TimeUp => 124,
            Self::ImdsSilent => 210,
            Self::Network => 211,
            Self::Refused => 212,
            Self::NoOras => 232,
        }
    }

    /// Prefix of all messages with this code.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Failed => "registry-login failed",
            Self::TimeUp => "the time is up",
            Self::ImdsSilent => "ERR_ORAS_IMDS_TIMEOUT",
            Self::Network => "ERR_ORAS_PULL_NETWORK_TIMEOUT",
            Self::Refused => "ERR_ORAS_PULL_UNAUTHORIZED",
            Self::NoOras => "ERR_ORAS_BINARY_NOT_FOUND",
        }
    }
}

/// The end of the command, unless a step knows another way.
#[derive(Debug)]
pub(super) struct RegistryStop {
    pub(super) code: Code,
    pub(super) text: String,
    pub(super) hint: Option<&'static str>,
}

impl RegistryStop {
    pub(super) fn new(code: Code, text: impl Into<String>) -> Self {
        Self { code, text: text.into(), hint: None }
    }

    /// Adds the identity of the rejected token.
    pub(super) fn with_audience(self, audience: &str) -> Self {
        match self.code {
            Code::Refused => Self { text: format!("{} (token for {audience})", self.text), ..self },
            _ => self,
        }
    }

    /// With the code's name in front, and the step.
    pub(super) fn at_step(self, step: &str) -> Self {
        let name = self.code.name();
        let text = self.text.strip_prefix(name).unwrap_or(&self.text);
        let text = format!("{name}: step {step}: {}", text.trim_start_matches([':', ' ']));
        Self { text, ..self }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Service {
    Registry,
    Imds,
    Oras,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RegistryErrorKind {
    Dns,
    Connect,
    Proxy,
    Certificate,
    Tls,
    TimedOut,
    Cut,
    Throttled,
    ServerError,
    Nonsense,
    Refused,
    /// oras itself failed, for a reason that has nothing to do with the registry.
    Tool,
}

impl RegistryErrorKind {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Dns => "dns",
            Self::Connect => "connect",
            Self::Proxy => "proxy",
            Self::Certificate => "certificate",
            Self::Tls => "tls",
            Self::TimedOut => "time-out",
            Self::Cut => "cut",
            Self::Throttled => "throttled",
            Self::ServerError => "server error",
            Self::Nonsense => "nonsense",
            Self::Refused => "refused",
            Self::Tool => "tool",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Retry {
    No,
    /// This many attempts are enough to know.
    Attempts(u32),
    WhileTimeLasts,
}

/// Retried twice: an invalid response may come from a restarting service.
const NONSENSE: Retry = Retry::Attempts(3);

#[derive(Debug, PartialEq, Eq)]
pub(super) struct LoginError {
    pub(super) kind: RegistryErrorKind,
    pub(super) text: String,
    pub(super) again: Retry,
    /// Value of `Retry-After`.
    pub(super) pause: Option<Duration>,
}

impl LoginError {
    pub(super) fn new(kind: RegistryErrorKind, again: Retry, text: impl Into<String>) -> Self {
        Self { kind, text: text.into(), again, pause: None }
    }

    pub(super) fn of_failure(failure: &HttpFailure) -> Self {
        let (kind, again) = match failure.kind {
            HttpFailureKind::Dns => (RegistryErrorKind::Dns, Retry::WhileTimeLasts),
            HttpFailureKind::Connect => (RegistryErrorKind::Connect, Retry::WhileTimeLasts),
            HttpFailureKind::Proxy(Some(status)) if !is_final(status) => {
                (RegistryErrorKind::Proxy, Retry::WhileTimeLasts)
            }
            HttpFailureKind::Proxy(_) => (RegistryErrorKind::Proxy, Retry::No),
            HttpFailureKind::Certificate => (RegistryErrorKind::Certificate, Retry::No),
            HttpFailureKind::Tls => (RegistryErrorKind::Tls, Retry::WhileTimeLasts),
            HttpFailureKind::TimedOut => (RegistryErrorKind::TimedOut, Retry::WhileTimeLasts),
            HttpFailureKind::Cut => (RegistryErrorKind::Cut, Retry::WhileTimeLasts),
            HttpFailureKind::Malformed => (RegistryErrorKind::Nonsense, NONSENSE),
        };
        Self::new(kind, again, failure.text.clone())
    }

    pub(super) fn of_status(party: Service, response: &HttpResponse) -> Self {
        let status = response.status;
        let message = responses::complaint(&response.body);
        let message = if message.is_empty() { message } else { format!(": {message}") };
        let being_updated = party == Service::Imds && matches!(status, 404 | 410);
        match status {
            408 | 429 => {
                let text = format!("returned {status}, throttled or timed out{message}");
                Self::new(RegistryErrorKind::Throttled, Retry::WhileTimeLasts, text)
            }
            500.. => {
                let text = format!("server error {status}{message}");
                Self::new(RegistryErrorKind::ServerError, Retry::WhileTimeLasts, text)
            }
            _ if being_updated => {
                let text = format!("returned {status}, it is being updated{message}");
                Self::new(RegistryErrorKind::ServerError, Retry::WhileTimeLasts, text)
            }
            400..500 => Self::new(
                RegistryErrorKind::Refused,
                Retry::No,
                format!("denied with {status}{message}"),
            ),
            300..400 => Self::nonsense(&format!("a redirect ({status})")),
            _ => Self::nonsense(&format!("an unexpected status, {status}")),
        }
    }

    pub(super) fn nonsense(what: &str) -> Self {
        let text = format!("invalid response: {what}");
        Self::new(RegistryErrorKind::Nonsense, NONSENSE, text)
    }

    /// Returns the exit code if it persists.
    pub(super) fn code(&self, party: Service) -> Code {
        match (self.kind, party) {
            (RegistryErrorKind::Refused, _) => Code::Refused,
            (RegistryErrorKind::Tool, _) => Code::Failed,
            (_, Service::Imds) => Code::ImdsSilent,
            (_, Service::Registry | Service::Oras) => Code::Network,
        }
    }

    pub(super) fn hint(&self, party: Service) -> &'static str {
        match (party, self.kind) {
            (Service::Imds, RegistryErrorKind::Refused) => {
                "check that the kubelet identity is assigned to this VM and that the client id is its own"
            }
            (Service::Imds, _) => {
                "look for routes, firewalls or software on the node that touch 169.254.169.254"
            }
            (_, RegistryErrorKind::Refused) => {
                "check that the kubelet identity has AcrPull on the registry, and the registry's firewall"
            }
            (_, RegistryErrorKind::Dns) => {
                "resolve the registry's name on the node; a private registry needs its private DNS zone linked to the node's network"
            }
            (_, RegistryErrorKind::Certificate) => {
                "check the issuer of the registry's certificate (a proxy that intercepts TLS needs its CA on the node, or --ca-file), and the node's clock"
            }
            (_, RegistryErrorKind::Proxy) => {
                "check HTTPS_PROXY and NO_PROXY, and the proxy's own log"
            }
            (_, RegistryErrorKind::Nonsense) => {
                "another server may respond in the registry's place: run `curl -v https://<registry>/v2/` on the node"
            }
            (_, RegistryErrorKind::Throttled | RegistryErrorKind::ServerError) => {
                "the registry failed or is overloaded: check Azure's status and the registry's limits"
            }
            (_, RegistryErrorKind::Tool) => {
                "read the output of oras above; registry and network are not at fault"
            }
            (
                _,
                RegistryErrorKind::Connect
                | RegistryErrorKind::Tls
                | RegistryErrorKind::TimedOut
                | RegistryErrorKind::Cut,
            ) => {
                "run `curl -v https://<registry>/v2/` on the node; check private endpoints, firewalls and routes"
            }
        }
    }
}

/// Returns true for a status that a retry will not change.
fn is_final(status: u16) -> bool {
    (400..500).contains(&status) && !matches!(status, 408 | 429)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mooring_codes::by_name;

    fn classified(party: Service, status: u16) -> (u8, Retry) {
        let trouble = LoginError::of_status(party, &HttpResponse { status, ..Default::default() });
        (trouble.code(party).number(), trouble.again)
    }

    #[test]
    fn status_maps_to_exit_code() {
        use Retry::{No, WhileTimeLasts};
        for status in [400, 401, 403, 404, 405, 451] {
            assert_eq!(classified(Service::Registry, status), (212, No), "{status}");
        }
        for status in [408, 429, 500, 502, 503, 504, 599] {
            assert_eq!(classified(Service::Registry, status), (211, WhileTimeLasts), "{status}");
            assert_eq!(classified(Service::Imds, status), (210, WhileTimeLasts), "{status}");
        }
        for status in [204, 301, 302, 307] {
            assert_eq!(classified(Service::Registry, status), (211, NONSENSE), "{status}");
        }
        for status in [400, 401, 403] {
            assert_eq!(classified(Service::Imds, status), (212, No), "{status}");
        }
        for status in [404, 410] {
            assert_eq!(classified(Service::Imds, status), (210, WhileTimeLasts), "{status}");
        }
    }

    #[test]
    fn network_failures_are_not_denials() {
        use HttpFailureKind as F;
        for kind in [
            F::Dns,
            F::Connect,
            F::Proxy(None),
            F::Proxy(Some(407)),
            F::Certificate,
            F::Tls,
            F::TimedOut,
            F::Cut,
            F::Malformed,
        ] {
            let trouble = LoginError::of_failure(&HttpFailure { kind, text: String::new() });
            assert_eq!(trouble.code(Service::Registry), Code::Network, "{kind:?}");
            assert_eq!(trouble.code(Service::Imds), Code::ImdsSilent, "{kind:?}");
            assert_eq!(trouble.code(Service::Oras), Code::Network, "{kind:?}");
        }
    }

    #[test]
    fn proxy_is_asked_again_unless_it_denies() {
        for (status, again) in [
            (None, Retry::No),
            (Some(399), Retry::WhileTimeLasts),
            (Some(400), Retry::No),
            (Some(407), Retry::No),
            (Some(408), Retry::WhileTimeLasts),
            (Some(429), Retry::WhileTimeLasts),
            (Some(499), Retry::No),
            (Some(500), Retry::WhileTimeLasts),
        ] {
            let kind = HttpFailureKind::Proxy(status);
            let trouble = LoginError::of_failure(&HttpFailure { kind, text: String::new() });
            assert_eq!(
                (trouble.kind, trouble.again),
                (RegistryErrorKind::Proxy, again),
                "{status:?}"
            );
        }
    }

    #[test]
    fn status_is_described() {
        for (status, text) in [
            (204, "invalid response: an unexpected status, 204"),
            (302, "invalid response: a redirect (302)"),
            (403, "denied with 403"),
            (404, "returned 404, it is being updated"),
            (429, "returned 429, throttled or timed out"),
            (500, "server error 500"),
        ] {
            let response = HttpResponse { status, ..Default::default() };
            assert_eq!(LoginError::of_status(Service::Imds, &response).text, text);
        }
    }

    #[test]
    fn names_equal_those_of_the_exit_codes() {
        for code in [Code::ImdsSilent, Code::Network, Code::Refused] {
            let found = by_name(code.name());
            let numbers: Vec<_> = found.iter().map(|found| found.number).collect();
            assert!(numbers.contains(&code.number().into()), "{} {numbers:?}", code.name());
        }
    }

    #[test]
    fn a_text_begins_with_its_name_once() {
        let message = |text: &str| RegistryStop::new(Code::NoOras, text).at_step("1/6 oras").text;
        let expected = "ERR_ORAS_BINARY_NOT_FOUND: step 1/6 oras: no oras in PATH";
        assert_eq!(message("no oras in PATH"), expected);
        assert_eq!(message("ERR_ORAS_BINARY_NOT_FOUND: no oras in PATH"), expected);
    }
}

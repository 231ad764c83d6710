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

use crate::registry::responses;
use crate::world::{HttpFailure, HttpFailureKind, HttpResponse};

/// An exit code, and the prefix of all messages with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Code(pub(super) u8, &'static str);

impl Code {
    pub(super) const FAILED: Self = Self(1, "registry-login failed");
    pub(super) const TIME_UP: Self = Self(124, "the time is up");
    pub(super) const IMDS_SILENT: Self = Self(210, "ERR_ORAS_IMDS_TIMEOUT");
    pub(super) const NETWORK: Self = Self(211, "ERR_ORAS_PULL_NETWORK_TIMEOUT");
    pub(super) const REFUSED: Self = Self(212, "ERR_ORAS_PULL_UNAUTHORIZED");
    pub(super) const NO_ORAS: Self = Self(232, "ERR_ORAS_BINARY_NOT_FOUND");
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
            Code::REFUSED => Self { text: format!("{} (token for {audience})", self.text), ..self },
            _ => self,
        }
    }

    /// With the code's name in front, and the step.
    pub(super) fn at_step(self, step: &str) -> Self {
        let name = self.code.1;
        Self { text: format!("{name}: step {step}: {}", self.text), ..self }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Service {
    Registry,
    Imds,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RegistryErrorKind {
    /// There is no response, or one that makes no sense.
    Http(HttpFailureKind),
    Throttled,
    ServerError,
    Refused,
    /// oras itself failed, for a reason that has nothing to do with the registry.
    Tool,
}

impl RegistryErrorKind {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Http(HttpFailureKind::Dns) => "dns",
            Self::Http(HttpFailureKind::Connect) => "connect",
            Self::Http(HttpFailureKind::Proxy(_)) => "proxy",
            Self::Http(HttpFailureKind::Certificate) => "certificate",
            Self::Http(HttpFailureKind::Tls) => "tls",
            Self::Http(HttpFailureKind::TimedOut) => "time-out",
            Self::Http(HttpFailureKind::Cut) => "cut",
            Self::Http(HttpFailureKind::Malformed) => "nonsense",
            Self::Throttled => "throttled",
            Self::ServerError => "server error",
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
        let again = match failure.kind {
            HttpFailureKind::Proxy(Some(status)) if !is_final(status) => Retry::WhileTimeLasts,
            HttpFailureKind::Proxy(_) | HttpFailureKind::Certificate => Retry::No,
            HttpFailureKind::Malformed => NONSENSE,
            _ => Retry::WhileTimeLasts,
        };
        Self::new(RegistryErrorKind::Http(failure.kind), again, failure.text.clone())
    }

    pub(super) fn of_status(party: Service, response: &HttpResponse) -> Self {
        let status = response.status;
        let message = responses::complaint(&response.body);
        let message = if message.is_empty() { message } else { format!(": {message}") };
        let (kind, again, what) = match status {
            408 | 429 => {
                let what = format!("returned {status}, throttled or timed out");
                (RegistryErrorKind::Throttled, Retry::WhileTimeLasts, what)
            }
            404 | 410 if party == Service::Imds => {
                let what = format!("returned {status}, it is being updated");
                (RegistryErrorKind::ServerError, Retry::WhileTimeLasts, what)
            }
            500.. => {
                let what = format!("server error {status}");
                (RegistryErrorKind::ServerError, Retry::WhileTimeLasts, what)
            }
            400..500 => (RegistryErrorKind::Refused, Retry::No, format!("denied with {status}")),
            300..400 => return Self::nonsense(&format!("a redirect ({status})")),
            _ => return Self::nonsense(&format!("an unexpected status, {status}")),
        };
        Self::new(kind, again, what + &message)
    }

    pub(super) fn nonsense(what: &str) -> Self {
        let text = format!("invalid response: {what}");
        Self::new(RegistryErrorKind::Http(HttpFailureKind::Malformed), NONSENSE, text)
    }

    /// Returns the exit code if it persists.
    pub(super) fn code(&self, party: Service) -> Code {
        match (self.kind, party) {
            (RegistryErrorKind::Refused, _) => Code::REFUSED,
            (RegistryErrorKind::Tool, _) => Code::FAILED,
            (_, Service::Imds) => Code::IMDS_SILENT,
            (_, Service::Registry) => Code::NETWORK,
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
            (_, RegistryErrorKind::Http(HttpFailureKind::Dns)) => {
                "resolve the registry's name on the node; a private registry needs its private DNS zone linked to the node's network"
            }
            (_, RegistryErrorKind::Http(HttpFailureKind::Certificate)) => {
                "check the issuer of the registry's certificate (a proxy that intercepts TLS needs its CA on the node, or --ca-file), and the node's clock"
            }
            (_, RegistryErrorKind::Http(HttpFailureKind::Proxy(_))) => {
                "check HTTPS_PROXY and NO_PROXY, and the proxy's own log"
            }
            (_, RegistryErrorKind::Http(HttpFailureKind::Malformed)) => {
                "another server may respond in the registry's place: run `curl -v https://<registry>/v2/` on the node"
            }
            (_, RegistryErrorKind::Throttled | RegistryErrorKind::ServerError) => {
                "the registry failed or is overloaded: check Azure's status and the registry's limits"
            }
            (_, RegistryErrorKind::Tool) => {
                "read the output of oras above; registry and network are not at fault"
            }
            (_, RegistryErrorKind::Http(_)) => {
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
        (trouble.code(party).0, trouble.again)
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
            assert_eq!(trouble.code(Service::Registry), Code::NETWORK, "{kind:?}");
            assert_eq!(trouble.code(Service::Imds), Code::IMDS_SILENT, "{kind:?}");
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
                (RegistryErrorKind::Http(kind), again),
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
        for code in [Code::IMDS_SILENT, Code::NETWORK, Code::REFUSED] {
            let found = by_name(code.1);
            let numbers: Vec<_> = found.iter().map(|found| found.number).collect();
            assert!(numbers.contains(&code.0.into()), "{} {numbers:?}", code.1);
        }
    }
}

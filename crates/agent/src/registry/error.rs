//! What an answer, or none, means, and with which code it ends.
//!
//! | what happened | registry | IMDS | asked again |
//! |---|---|---|---|
//! | no address, no connection, time-out, cut answer | 211 | 210 | while the time lasts |
//! | certificate not trusted | 211 | – | no: it stays so |
//! | another failure of TLS | 211 | – | while the time lasts |
//! | the proxy refuses (4xx) | 211 | – | no |
//! | 408, 429, 5xx (IMDS also 404, 410: "being updated") | 211 | 210 | while the time lasts |
//! | any other 4xx | 212 | 212 | no |
//! | an answer that makes no sense: HTML, a redirect, no token | 211 | 210 | twice |
//!
//! An answer that makes no sense does not come from a working registry, but from something in its
//! place, mostly a proxy or a portal: it is the network's, and never a refusal.

use std::time::Duration;

use super::answers;
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

    /// What every text of this code begins with.
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
pub(super) struct Stop {
    pub(super) code: Code,
    pub(super) text: String,
    pub(super) hint: Option<&'static str>,
}

impl Stop {
    pub(super) fn new(code: Code, text: impl Into<String>) -> Self {
        Self { code, text: text.into(), hint: None }
    }

    /// Adds whom the rejected token was for.
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
pub(super) enum Party {
    Registry,
    Imds,
    Oras,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
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

impl Kind {
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

/// Whether the same question may get another answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    No,
    /// This many attempts are enough to know.
    Attempts(u32),
    WhileTimeLasts,
}

/// Whatever answers nonsense once may be in the middle of a restart; three times, it is not.
const NONSENSE: Again = Again::Attempts(3);

/// An attempt that failed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Trouble {
    pub(super) kind: Kind,
    pub(super) text: String,
    pub(super) again: Again,
    /// How long the other side wants to be left alone.
    pub(super) pause: Option<Duration>,
}

impl Trouble {
    pub(super) fn new(kind: Kind, again: Again, text: impl Into<String>) -> Self {
        Self { kind, text: text.into(), again, pause: None }
    }

    /// There was no answer.
    pub(super) fn of_failure(failure: &HttpFailure) -> Self {
        let (kind, again) = match failure.kind {
            HttpFailureKind::Dns => (Kind::Dns, Again::WhileTimeLasts),
            HttpFailureKind::Connect => (Kind::Connect, Again::WhileTimeLasts),
            HttpFailureKind::Proxy(Some(status)) if is_final(status) => (Kind::Proxy, Again::No),
            HttpFailureKind::Proxy(Some(_)) => (Kind::Proxy, Again::WhileTimeLasts),
            HttpFailureKind::Proxy(None) => (Kind::Proxy, Again::No),
            HttpFailureKind::Certificate => (Kind::Certificate, Again::No),
            HttpFailureKind::Tls => (Kind::Tls, Again::WhileTimeLasts),
            HttpFailureKind::TimedOut => (Kind::TimedOut, Again::WhileTimeLasts),
            HttpFailureKind::Cut => (Kind::Cut, Again::WhileTimeLasts),
            HttpFailureKind::Malformed => (Kind::Nonsense, NONSENSE),
        };
        Self::new(kind, again, failure.text.clone())
    }

    /// The answer is no success.
    pub(super) fn of_status(party: Party, response: &HttpResponse) -> Self {
        let status = response.status;
        let said = answers::complaint(&response.body);
        let said = if said.is_empty() { said } else { format!(": {said}") };
        let being_updated = party == Party::Imds && matches!(status, 404 | 410);
        match status {
            408 | 429 => {
                let text = format!("answered {status}, asked too often or too slowly{said}");
                Self::new(Kind::Throttled, Again::WhileTimeLasts, text)
            }
            500.. => {
                let text = format!("server error {status}{said}");
                Self::new(Kind::ServerError, Again::WhileTimeLasts, text)
            }
            _ if being_updated => {
                let text = format!("answered {status}, it is being updated{said}");
                Self::new(Kind::ServerError, Again::WhileTimeLasts, text)
            }
            400..500 => Self::new(Kind::Refused, Again::No, format!("refused with {status}{said}")),
            300..400 => Self::nonsense(&format!("a redirect ({status}) to somewhere else")),
            _ => Self::nonsense(&format!("an unexpected status, {status}")),
        }
    }

    /// The answer makes no sense.
    pub(super) fn nonsense(what: &str) -> Self {
        let text = format!("the answer makes no sense: {what}");
        Self::new(Kind::Nonsense, NONSENSE, text)
    }

    /// The code with which it ends when it does not change.
    pub(super) fn code(&self, party: Party) -> Code {
        match (self.kind, party) {
            (Kind::Refused, _) => Code::Refused,
            (Kind::Tool, _) => Code::Failed,
            (_, Party::Imds) => Code::ImdsSilent,
            (_, Party::Registry | Party::Oras) => Code::Network,
        }
    }

    pub(super) fn hint(&self, party: Party) -> &'static str {
        match (party, self.kind) {
            (Party::Imds, Kind::Refused) => {
                "check that the kubelet identity is assigned to this VM and that the client id is its own"
            }
            (Party::Imds, _) => {
                "look for routes, firewalls or software on the node that touch 169.254.169.254"
            }
            (_, Kind::Refused) => {
                "check that the kubelet identity has AcrPull on the registry, and the registry's firewall"
            }
            (_, Kind::Dns) => {
                "look the registry's name up from the node; a private registry needs its private DNS zone linked to the node's network"
            }
            (_, Kind::Certificate) => {
                "check who signs the registry's certificate (a proxy that reads TLS needs its CA on the node, or --ca-file), and the node's clock"
            }
            (_, Kind::Proxy) => "check HTTPS_PROXY and NO_PROXY, and the proxy's own log",
            (_, Kind::Nonsense) => {
                "something may answer in the registry's place: run `curl -v https://<registry>/v2/` on the node"
            }
            (_, Kind::Throttled | Kind::ServerError) => {
                "the registry itself is at fault or overloaded: look at Azure's status and the registry's limits"
            }
            (_, Kind::Tool) => "read what oras says above; registry and network are not at fault",
            (_, Kind::Connect | Kind::Tls | Kind::TimedOut | Kind::Cut) => {
                "run `curl -v https://<registry>/v2/` on the node; check private endpoints, firewalls and routes"
            }
        }
    }
}

/// Whether a status is an answer that asking again will not change.
fn is_final(status: u16) -> bool {
    (400..500).contains(&status) && !matches!(status, 408 | 429)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mooring_codes::by_name;

    fn judged(party: Party, status: u16) -> (u8, Again) {
        let trouble = Trouble::of_status(party, &HttpResponse { status, ..Default::default() });
        (trouble.code(party).number(), trouble.again)
    }

    #[test]
    fn a_status_ends_in_the_code_that_tells_the_truth() {
        use Again::{No, WhileTimeLasts};
        for status in [400, 401, 403, 404, 405, 451] {
            assert_eq!(judged(Party::Registry, status), (212, No), "{status}");
        }
        for status in [408, 429, 500, 502, 503, 504, 599] {
            assert_eq!(judged(Party::Registry, status), (211, WhileTimeLasts), "{status}");
            assert_eq!(judged(Party::Imds, status), (210, WhileTimeLasts), "{status}");
        }
        for status in [204, 301, 302, 307] {
            assert_eq!(judged(Party::Registry, status), (211, NONSENSE), "{status}");
        }
        for status in [400, 401, 403] {
            assert_eq!(judged(Party::Imds, status), (212, No), "{status}");
        }
        for status in [404, 410] {
            assert_eq!(judged(Party::Imds, status), (210, WhileTimeLasts), "{status}");
        }
    }

    #[test]
    fn no_failure_of_the_network_is_a_refusal() {
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
            let trouble = Trouble::of_failure(&HttpFailure { kind, text: String::new() });
            assert_eq!(trouble.code(Party::Registry), Code::Network, "{kind:?}");
            assert_eq!(trouble.code(Party::Imds), Code::ImdsSilent, "{kind:?}");
            assert_eq!(trouble.code(Party::Oras), Code::Network, "{kind:?}");
        }
    }

    #[test]
    fn the_names_are_those_of_the_catalogue() {
        for code in [Code::ImdsSilent, Code::Network, Code::Refused] {
            let found = by_name(code.name());
            let numbers: Vec<_> = found.iter().map(|found| found.number).collect();
            assert!(numbers.contains(&code.number().into()), "{} {numbers:?}", code.name());
        }
    }

    #[test]
    fn a_text_begins_with_its_name_once() {
        let told = |text: &str| Stop::new(Code::NoOras, text).at_step("1/6 oras").text;
        let expected = "ERR_ORAS_BINARY_NOT_FOUND: step 1/6 oras: no oras in PATH";
        assert_eq!(told("no oras in PATH"), expected);
        assert_eq!(told("ERR_ORAS_BINARY_NOT_FOUND: no oras in PATH"), expected);
    }
}

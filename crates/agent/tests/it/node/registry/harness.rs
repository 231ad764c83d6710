//! A node with a fake oras, a registry and an IMDS with programmable responses.

use std::fs;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::server::{Authority, ReceivedRequest, Reply, Server};
use crate::support::{LOG, Node, end_of, text, write_program};

/// The tokens that are given out.
pub(super) const ACCESS_TOKEN: &str = "canary.access~token-0123456789abcdef";
pub(super) const ANONYMOUS_TOKEN: &str = "canary.anonymous.token-0123456789";

/// A refresh token that may pull.
pub(super) fn refresh_token() -> String {
    jwt(r#"{"permissions":{"actions":["read"]},"canary":"refresh"}"#)
}

pub(super) fn jwt(claims: &str) -> String {
    format!("eyJhbGciOiJub25lIn0.{}.canary-signature", URL_SAFE_NO_PAD.encode(claims))
}

/// A registry that requires an identity and accepts any.
pub(super) fn registry(seen: &ReceivedRequest) -> Reply {
    match seen.path() {
        "/v2/_catalog" => challenge(seen),
        "/oauth2/token" => Reply::json(401, UNAUTHORIZED),
        "/oauth2/exchange" => {
            Reply::json(200, format!(r#"{{"refresh_token":"{}"}}"#, refresh_token()))
        }
        _ => Reply::json(404, ""),
    }
}

pub(super) const UNAUTHORIZED: &str =
    r#"{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}"#;

pub(super) fn challenge(seen: &ReceivedRequest) -> Reply {
    let host = seen.header("host").unwrap();
    let realm = format!(
        r#"Bearer realm="https://{host}/oauth2/token",service="{host}",scope="registry:catalog:*""#
    );
    Reply::json(401, UNAUTHORIZED).header("WWW-Authenticate", realm)
}

/// An IMDS that knows the identity.
pub(super) fn imds(seen: &ReceivedRequest) -> Reply {
    assert_eq!(seen.path(), "/metadata/identity/oauth2/token");
    assert_eq!(seen.header("metadata"), Some("true"));
    Reply::json(200, format!(r#"{{"access_token":"{ACCESS_TOKEN}","expires_in":"3600"}}"#))
}

pub(super) struct Harness {
    pub(super) node: Node,
    pub(super) registry: Server,
    pub(super) imds: Server,
    /// Variables of the agent.
    pub(super) variables: Vec<(String, String)>,
    /// Args that replace or add to the usual ones: the last one wins.
    pub(super) words: Vec<String>,
}

pub(super) struct LoginOutcome {
    pub(super) code: i32,
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) took: Duration,
    log: Vec<serde_json::Value>,
}

impl LoginOutcome {
    /// The attempts of a step, as (status, kind).
    pub(super) fn attempts(&self, step: &str) -> Vec<(Option<u64>, Option<&str>)> {
        let attempts = self.log.iter().filter(|record| record["msg"] == "registry-login attempt");
        let of_step = attempts.filter(|record| record["step"] == step);
        of_step
            .map(|record| {
                assert!(record["durationMs"].is_u64() && record["attempt"].is_u64(), "{record}");
                let endpoint = record["endpoint"].as_str().unwrap();
                assert!(!endpoint.contains('?'), "{record}");
                (record["status"].as_u64(), record["kind"].as_str())
            })
            .collect()
    }

    /// Fails unless it ended with this code, and with these words in the message.
    #[track_caller]
    pub(super) fn must_be(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "{}", self.stderr);
        let message = if code == 0 {
            let done = self.log.iter().rev().find(|record| record["msg"] == "registry-login");
            done.unwrap()["result"].as_str().unwrap()
        } else {
            let name = match code {
                210 => "ERR_ORAS_IMDS_TIMEOUT: step ",
                211 => "ERR_ORAS_PULL_NETWORK_TIMEOUT: step ",
                212 => "ERR_ORAS_PULL_UNAUTHORIZED: step ",
                232 => "ERR_ORAS_BINARY_NOT_FOUND: step ",
                _ => "registry-login failed: step ",
            };
            // The message for users follows the log.
            let at = self.stderr.find(&format!("\n{name}"));
            &self.stderr[at.unwrap_or_else(|| panic!("no {name} in {}", self.stderr))..]
        };
        for word in words {
            assert!(message.contains(word), "no {word:?} in {message}");
        }
    }
}

impl Harness {
    pub(super) fn new(
        registry: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static,
        imds: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let authority = Authority::new();
        let lab = Self {
            node: Node::new(),
            registry: Server::https(&authority, registry),
            imds: Server::http(imds),
            variables: Vec::new(),
            words: Vec::new(),
        };
        lab.node.write_typed("ca.pem", authority.pem());
        lab.oras("exit 0");
        lab
    }

    /// A node whose registry and IMDS do what they should.
    pub(super) fn usual() -> Self {
        Self::new(registry, imds)
    }

    pub(super) fn with(mut self, words: &[&str]) -> Self {
        self.words.extend(words.iter().map(ToString::to_string));
        self
    }

    /// Makes an oras that records how it was called, and then does this.
    pub(super) fn oras(&self, then: &str) {
        let folder = self.node.typed("");
        let folder = folder.display();
        let script = format!(
            "#!/bin/sh\nprintf '%s\\n' \"$@\" > {folder}/oras.argv\nenv > {folder}/oras.env\n\
             cat > {folder}/oras.stdin\n{then}\n"
        );
        write_program(&self.node.typed("bin/oras"), script, 0o755);
    }

    /// Input of oras: `argv`, `stdin` or `env`.
    pub(super) fn oras_got(&self, what: &str) -> Option<String> {
        fs::read_to_string(self.node.typed(&format!("oras.{what}"))).ok()
    }

    pub(super) fn run(&self) -> LoginOutcome {
        let ca_file = self.node.typed("ca.pem").display().to_string();
        let (registry, imds) = (self.registry.url(), self.imds.url());
        let usual = [
            "registry-login",
            "--registry=my.azurecr.io",
            "--client-id=my-client",
            "--tenant-id=my-tenant",
            "--attempt-timeout=10s",
            "--budget=30s",
            "--ca-file",
            &ca_file,
            "--registry-endpoint",
            &registry,
            "--imds-endpoint",
            &imds,
        ];
        let words: Vec<&str> =
            usual.into_iter().chain(self.words.iter().map(String::as_str)).collect();
        let bin = self.node.typed("bin").display().to_string();
        let start = Instant::now();
        let output = end_of(
            self.node
                .command(&words)
                .env("PATH", format!("{bin}:/usr/bin:/bin"))
                .envs(self.variables.iter().map(|(name, value)| (name, value)))
                .spawn()
                .unwrap(),
        );
        let log = self.node.read(LOG).unwrap_or_default();
        LoginOutcome {
            code: output.status.code().unwrap(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
            took: start.elapsed(),
            log: log.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
        }
    }
}

//! Steps 1 and 6: the program that keeps the login and uses it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use mooring_contract::json::lossy;
use mooring_redact::Secret;

use crate::format::go_text::child_error;
use crate::node::log::LogValue::Text;
use crate::registry::error::{Code, LoginError, RegistryErrorKind, RegistryStop, Retry, Service};
use crate::registry::responses::excerpt;
use crate::registry::session::{RegistrySession, StepResult};
use crate::world::{ChildStatus, Tool};

/// Path of the login, as in the scripts: without a home directory oras has no default.
const CONFIG: &str = "/etc/oras/config.yaml";
const QUOTED: usize = 500;
/// Enough for deleting a line from a file.
const LOGOUT: Duration = Duration::from_secs(10);

pub(super) fn find(session: &mut RegistrySession<'_, '_>) -> Result<StepResult, RegistryStop> {
    match (session.find_oras)(session.agent) {
        Ok(oras) => {
            session.oras = oras;
            Ok(StepResult::Next("found"))
        }
        Err(text) => Err(no_oras(text)),
    }
}

fn no_oras(text: String) -> RegistryStop {
    let hint =
        "the node image lacks a working oras; the network is not at fault: use another image";
    RegistryStop { hint: Some(hint), ..RegistryStop::new(Code::NoOras, text) }
}

pub(super) fn login(session: &mut RegistrySession<'_, '_>) -> Result<StepResult, RegistryStop> {
    let arguments = arguments(session, "login", Some("--identity-token-stdin"));
    let endpoint = format!("oras login {}", session.flags.registry);
    let mut not_started = None;
    let result = session.retry(Service::Oras, &endpoint, |session, limit| {
        let tool = Tool {
            program: &session.oras,
            arguments: arguments.clone(),
            variables: variables(session),
            input: &session.refresh_token,
            limit,
        };
        let result = match session.agent.world.run_tool(&tool) {
            Err(error) => {
                not_started = Some(format!("{} cannot be run: {error}", session.oras.display()));
                Err(LoginError::new(RegistryErrorKind::Tool, Retry::No, error.to_string()))
            }
            // Masked before it is cut: half a token is a token to those who have the other half.
            Ok(end) => {
                classify(end.status, &session.agent.redactor.redact_foreign(&lossy(&end.output)))
            }
        };
        (None, result)
    });
    match (result, not_started) {
        (_, Some(text)) => Err(no_oras(text)),
        (Ok(()), None) => Ok(StepResult::Next("oras has the login")),
        (Err(stop), None) => Err(stop),
    }
}

/// Takes back the login of an earlier run, which would be used in place of anonymous access and may
/// be worth less. Nothing depends on it, so a failure is only logged.
pub(super) fn forget_login(session: &mut RegistrySession<'_, '_>) {
    let config = config(session);
    if session.agent.world.kind(&config).is_err() {
        return;
    }
    let arguments = arguments(session, "logout", None);
    let tool = Tool {
        program: &session.oras,
        arguments,
        variables: Vec::new(),
        input: &Secret::default(),
        limit: LOGOUT,
    };
    if let Err(error) = session.agent.world.run_tool(&tool) {
        session.agent.warn("oras logout could not be run", &[("error", Text(&error.to_string()))]);
    }
}

fn arguments(session: &RegistrySession<'_, '_>, verb: &str, flag: Option<&str>) -> Vec<OsString> {
    let mut arguments = vec![verb.into(), session.flags.registry.clone().into()];
    arguments.extend(flag.map(OsString::from));
    arguments.extend(["--registry-config".into(), config(session).into()]);
    arguments
}

fn config(session: &RegistrySession<'_, '_>) -> PathBuf {
    let typed = session.flags.registry_config.clone();
    typed.unwrap_or_else(|| session.agent.layout.at(CONFIG))
}

/// Network variables of Go programs. No other variables are passed on: the environment of the scripts that start
/// this command contains the node's tokens and keys.
const NETWORK_VARIABLES: [&str; 8] = [
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "NO_PROXY",
    "no_proxy",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
];

/// Passes our CA to oras. The flag of oras would replace the system's certificates; this variable
/// adds to those in the system's directories.
fn variables(session: &RegistrySession<'_, '_>) -> Vec<(&'static str, OsString)> {
    let world = &session.agent.world;
    let inherited =
        NETWORK_VARIABLES.into_iter().filter_map(|name| Some((name, world.variable(name)?)));
    let file = session.flags.ca_file.iter();
    inherited.chain(file.map(|file| ("SSL_CERT_FILE", file.clone().into_os_string()))).collect()
}

/// Classifies the result of `oras login` by its output, since it has only one exit code.
fn classify(status: Option<ChildStatus>, output: &str) -> Result<(), LoginError> {
    let Some(status) = status else {
        let text = "oras login timed out";
        return Err(LoginError::new(RegistryErrorKind::TimedOut, Retry::WhileTimeLasts, text));
    };
    let Some(error) = child_error(status) else { return Ok(()) };
    let words = output.to_ascii_lowercase();
    let contains = |phrases: &[&str]| phrases.iter().any(|phrase| words.contains(phrase));
    let (kind, again, what) = if contains(&REFUSALS) {
        (RegistryErrorKind::Refused, Retry::No, "oras login was denied")
    } else if contains(&["no such host"]) {
        (RegistryErrorKind::Dns, Retry::WhileTimeLasts, "DNS, in oras login")
    } else if contains(&["x509:"]) {
        (RegistryErrorKind::Certificate, Retry::No, "TLS, in oras login")
    } else if contains(&NETWORK) {
        (RegistryErrorKind::Connect, Retry::WhileTimeLasts, "the network, in oras login")
    } else {
        (RegistryErrorKind::Tool, Retry::Attempts(3), "oras login failed")
    };
    Err(LoginError::new(kind, again, format!("{what}: {error}: {}", excerpt(output, QUOTED))))
}

/// `permission denied` is not among them: that is a file's.
const REFUSALS: [&str; 6] = [
    "unauthorized",
    "authentication required",
    "forbidden",
    "status code 401",
    "status code 403",
    "access to the resource is denied",
];

/// As Go's packages and oras's own word them.
const NETWORK: [&str; 11] = [
    "dial tcp",
    "i/o timeout",
    "connection refused",
    "connection reset",
    "network is unreachable",
    "no route to host",
    "context deadline exceeded",
    "tls: ",
    "proxyconnect",
    "status code 5",
    "eof",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_of_oras_determines_the_error() {
        let classified = |output: &str| {
            let trouble = classify(Some(ChildStatus::Exited(1)), output).unwrap_err();
            (trouble.code(Service::Oras).number(), trouble.again)
        };
        let dial = "Error: Get \"https://a/v2/\": dial tcp: lookup a";
        for (output, expected) in [
            ("Error response from registry: unauthorized: x", (212, Retry::No)),
            ("Error: GET https://a/v2/: response status code 403: denied", (212, Retry::No)),
            (&format!("{dial}: no such host"), (211, Retry::WhileTimeLasts)),
            (&format!("{dial}: i/o timeout"), (211, Retry::WhileTimeLasts)),
            ("Error: x509: certificate signed by unknown authority", (211, Retry::No)),
            ("Error: response status code 503: Service Unavailable", (211, Retry::WhileTimeLasts)),
            ("Error: open /etc/oras/config.yaml: permission denied", (1, Retry::Attempts(3))),
            ("Error: no space left on device", (1, Retry::Attempts(3))),
            ("", (1, Retry::Attempts(3))),
        ] {
            assert_eq!(classified(output), expected, "{output}");
        }
        assert_eq!(classify(Some(ChildStatus::Exited(0)), "unauthorized"), Ok(()));
        assert_eq!(classify(None, "").unwrap_err().code(Service::Oras), Code::Network);
    }
}

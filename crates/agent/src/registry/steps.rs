//! The steps of a login, as executed, logged and explained.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use mooring_contract::json::lossy;
use mooring_redact::Secret;

use crate::cli::LoginFlags;
use crate::format::child_error;
use crate::node::agent::LogValue::{Number, Text};
use crate::node::agent::{Agent, Task};
use crate::node::trust::{CERTIFICATES, MAX_CERTIFICATE_BYTES, system_certificates};
use crate::preflight;
use crate::registry::error::{Code, LoginError, RegistryErrorKind, RegistryStop, Retry, Service};
use crate::registry::responses::{self, Challenge, Pull, excerpt};
use crate::registry::{Question, RegistrySession, StepResult};
use crate::world::{
    ChildStatus, Host, HttpFailureKind, HttpResponse, ReadFailure, Roots, Stream, Tool, Url,
    World as _,
};

pub(crate) fn login(agent: &mut Agent<'_>, flags: &LoginFlags) -> u8 {
    let last_words = |place: &str| {
        let text = format!("panic during registry-login at {place}\n");
        Host::default().print(Stream::Err, text.as_bytes());
    };
    agent.world.on_panic(None, Box::new(last_words));
    let start = agent.started(Task::RegistryLogin);
    let mut session = RegistrySession::new(agent, flags);
    let ended = walk(&mut session);
    let agent = session.agent;
    match ended {
        Ok(result) => {
            agent.info("registry-login", &[("result", Text(result))]);
            agent.finished(Task::RegistryLogin, start, None);
            0
        }
        Err(stop) => {
            agent.finished(Task::RegistryLogin, start, Some(&stop.text));
            let message = match stop.hint {
                Some(hint) => format!("{}\nhint: {hint}\n", stop.text),
                None => format!("{}\n", stop.text),
            };
            let message = agent.redactor.redact(&message).into_owned();
            agent.world.print(Stream::Err, message.as_bytes());
            stop.code.0
        }
    }
}

fn walk(session: &mut RegistrySession<'_, '_>) -> Result<&'static str, RegistryStop> {
    for (at, step) in STEPS.iter().enumerate() {
        let shown = format!("{}/{} {}", at + 1, STEPS.len(), step.name);
        session.step = step.name;
        let began = session.agent.world.monotonic();
        let flow = (step.run)(session);
        let took = session.since(began);
        let result = match &flow {
            Ok(StepResult::Next(result) | StepResult::Done(result)) => *result,
            Err(_) => "failed",
        };
        session.agent.info(
            "registry-login step",
            &[("step", Text(&shown)), ("result", Text(result)), ("durationMs", Number(took))],
        );
        match flow {
            Ok(StepResult::Next(_)) => {}
            Ok(StepResult::Done(result)) => return Ok(result),
            Err(stop) => return Err(stop.at_step(&shown)),
        }
    }
    Ok("logged in")
}

struct Step {
    name: &'static str,
    run: fn(&mut RegistrySession<'_, '_>) -> Result<StepResult, RegistryStop>,
}

static STEPS: [Step; 6] = [
    Step { name: "oras", run: find_oras },
    Step { name: "anonymous", run: probe },
    Step { name: "identity", run: ask_imds },
    Step { name: "exchange", run: exchange },
    Step { name: "permission", run: check_permission },
    Step { name: "login", run: log_in },
];

/// Path of the login, as in the scripts: without a home directory oras has no default.
const CONFIG: &str = "/etc/oras/config.yaml";
const QUOTED: usize = 500;
/// Enough for deleting a line from a file.
const LOGOUT: Duration = Duration::from_secs(10);

pub(super) fn find_oras(session: &mut RegistrySession<'_, '_>) -> Result<StepResult, RegistryStop> {
    session.oras = preflight::find_oras(session.agent).map_err(no_oras)?;
    Ok(StepResult::Next("found"))
}

fn no_oras(text: String) -> RegistryStop {
    let hint =
        "the node image lacks a working oras; the network is not at fault: use another image";
    RegistryStop { hint: Some(hint), ..RegistryStop::new(Code::NO_ORAS, text) }
}

fn log_in(session: &mut RegistrySession<'_, '_>) -> Result<StepResult, RegistryStop> {
    let arguments = arguments(session, "login", Some("--identity-token-stdin"));
    let endpoint = format!("oras login {}", session.flags.registry);
    let mut not_started = None;
    let result = session.retry(Service::Registry, &endpoint, |session, limit| {
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
        let kind = RegistryErrorKind::Http(HttpFailureKind::TimedOut);
        return Err(LoginError::new(kind, Retry::WhileTimeLasts, "oras login timed out"));
    };
    let Some(error) = child_error(status) else { return Ok(()) };
    let words = output.to_ascii_lowercase();
    let contains = |phrases: &[&str]| phrases.iter().any(|phrase| words.contains(phrase));
    let http = RegistryErrorKind::Http;
    let (kind, again, what) = if contains(&REFUSALS) {
        (RegistryErrorKind::Refused, Retry::No, "oras login was denied")
    } else if contains(&["no such host"]) {
        (http(HttpFailureKind::Dns), Retry::WhileTimeLasts, "DNS, in oras login")
    } else if contains(&["x509:"]) {
        (http(HttpFailureKind::Certificate), Retry::No, "TLS, in oras login")
    } else if contains(&NETWORK) {
        (http(HttpFailureKind::Connect), Retry::WhileTimeLasts, "the network, in oras login")
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
    session.roots = roots(session)?;
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
            forget_login(session);
            StepResult::Done("the registry allows anonymous access: no login needed")
        }
        Access::Closed | Access::WithToken(_) => {
            StepResult::Next("the registry requires an identity")
        }
    })
}

/// Reads the certificates. An explicit file must contain some.
fn roots(session: &mut RegistrySession<'_, '_>) -> Result<Roots, RegistryStop> {
    let mut texts = Vec::new();
    if let Some(file) = &session.flags.ca_file {
        let failed = |why: String| {
            RegistryStop::new(Code::FAILED, format!("--ca-file {}: {why}", file.display()))
        };
        let text = session.agent.world.read(file, MAX_CERTIFICATE_BYTES);
        let text = text.map_err(|failure| {
            failed(match failure {
                ReadFailure::Open(error) | ReadFailure::Read(error) => error.to_string(),
                ReadFailure::TooLarge { limit } => format!("larger than {limit} bytes"),
            })
        })?;
        texts.push(text);
        if Roots::from_pem(&texts).count() == 0 {
            return Err(failed("no certificate in it".to_owned()));
        }
    }
    texts.extend(system_certificates(session.agent.world, &session.agent.layout));
    let roots = Roots::from_pem(&texts);
    if roots.count() == 0 {
        let looked = CERTIFICATES.join(", ");
        session.agent.warn("no CA certificates", &[("files", Text(&looked))]);
    }
    Ok(roots)
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
    let query = responses::encoded(&[("service", &service), ("scope", scope)]);
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

const IMDS_PATH: &str = "/metadata/identity/oauth2/token";
const API_VERSION: &str = "2018-02-01";
/// The only audience that a token is requested for, in every cloud. A registry that rejects it gets no other: a token
/// for Azure Resource Manager would let it act as the node's identity everywhere.
const AUDIENCE: &str = "https://containerregistry.azure.net/";

pub(super) fn ask_imds(session: &mut RegistrySession<'_, '_>) -> Result<StepResult, RegistryStop> {
    let client_id = session.flags.identity.as_ref().map_or("", |identity| &identity.client_id);
    let query = responses::encoded(&[
        ("api-version", API_VERSION),
        ("resource", AUDIENCE),
        ("client_id", client_id),
    ]);
    let url = session.flags.imds_url.with_target(format!("{IMDS_PATH}?{query}"));
    let headers = [("Metadata", Secret::from("true"))];
    let question = Question { party: Service::Imds, url: &url, headers: &headers, form: None };
    session.access_token = ask_token(session, &question, "access_token")?;
    Ok(StepResult::Next("IMDS gave a token"))
}

/// Requests a token for the identity, which the response has in this member.
pub(super) fn ask_token(
    session: &mut RegistrySession<'_, '_>,
    question: &Question<'_>,
    member: &str,
) -> Result<Secret, RegistryStop> {
    let token = session.ask(question, |response| match response.status {
        200 => responses::token(&response.body, member)
            .ok_or_else(|| LoginError::nonsense(&format!("no {} in it", member.replace('_', " ")))),
        _ => Err(LoginError::of_status(question.party, response)),
    });
    let token = token.map_err(|stop| stop.with_audience(AUDIENCE))?;
    session.keep_secret(&token);
    Ok(token)
}

const EXCHANGE_PATH: &str = "/oauth2/exchange";

pub(super) fn exchange(session: &mut RegistrySession<'_, '_>) -> Result<StepResult, RegistryStop> {
    let tenant = session.flags.identity.as_ref().map_or("", |identity| &identity.tenant_id);
    let form = Secret::from(responses::encoded(&[
        ("grant_type", "access_token"),
        ("service", &session.flags.registry),
        ("tenant", tenant),
        ("access_token", session.access_token.expose()),
    ]));
    let url = session.flags.registry_url.with_target(EXCHANGE_PATH);
    let question =
        Question { party: Service::Registry, url: &url, headers: &[], form: Some(&form) };
    session.refresh_token = ask_token(session, &question, "refresh_token")?;
    Ok(StepResult::Next("the registry gave a refresh token"))
}

pub(super) fn check_permission(
    session: &mut RegistrySession<'_, '_>,
) -> Result<StepResult, RegistryStop> {
    match responses::pull(&session.refresh_token) {
        Pull::Allowed => Ok(StepResult::Next("the token may pull")),
        Pull::NotTold => Ok(StepResult::Next(
            "the token lists no permissions (ABAC): the registry decides at the pull",
        )),
        Pull::Missing => {
            let registry = &session.flags.registry;
            let text = format!("the token for {registry} lacks the permission to pull (read)");
            let hint = "give the kubelet identity the role AcrPull on the registry; a new role takes minutes to spread";
            Err(RegistryStop { hint: Some(hint), ..RegistryStop::new(Code::REFUSED, text) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::help_of_command;

    #[test]
    fn output_of_oras_determines_the_error() {
        let classified = |output: &str| {
            let trouble = classify(Some(ChildStatus::Exited(1)), output).unwrap_err();
            (trouble.code(Service::Registry).0, trouble.again)
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
        assert_eq!(classify(None, "").unwrap_err().code(Service::Registry), Code::NETWORK);
    }

    #[test]
    fn the_help_lists_the_steps_that_are_executed() {
        let help = help_of_command("registry-login").unwrap();
        for (at, step) in STEPS.iter().enumerate() {
            assert!(help.contains(&format!("   {}. {} ", at + 1, step.name)), "{help}");
        }
        assert!(!help.contains(&format!("   {}. ", STEPS.len() + 1)));
    }
}

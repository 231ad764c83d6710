//! `check-hotfix`: refreshes the pointer from the live-patching service. It never fails a boot.
//!
//! The API server, the cluster CA and a fallback map come from custom data, the credential from the attested document of
//! IMDS.

use std::collections::BTreeMap;
use std::io;
use std::time::{Duration, SystemTime};

use mooring_contract::json::{Error, MAX_DEPTH, Reader, ValueKind};
use mooring_redact::Secret;
use serde_json::Value;

use crate::format::{self, decode_base64, json_error, read_failure};
use crate::hotfix::grpc::{self, CallFailure, GrpcCall, GrpcStatus};
use crate::hotfix::pointer::{self, Pointer, read_hotfixes};
use crate::hotfix::{self, Policy};
use crate::node::agent::LogValue::{Number, Text};
use crate::node::agent::{Agent, EventLevel, Log, Task};
use crate::node::inputs::MAX_FILE_BYTES;
use crate::node::nbc;
use crate::node::paths::{NBC_COMMAND, NODE_CONFIG};
use crate::world::{Dial, Host, HttpRequest, ReadFailure, Roots, Url};

/// Runs the command; the result is always 0, also after a panic.
pub(crate) fn check_hotfix(agent: &mut Agent<'_>, has_extra_words: bool) -> u8 {
    agent.info("aks-node-controller check-hotfix started", &[]);
    let start = agent.world.now();
    leave_event_on_panic(agent, start);
    if has_extra_words {
        agent.warn("check-hotfix takes no arguments; ignoring them", &[]);
    }
    match check(agent) {
        Ok(outcome) => {
            agent.info("check-hotfix completed", &[("outcome", Text(outcome))]);
            let message = format!("check-hotfix outcome={outcome}");
            agent.event(Task::CheckHotfix, EventLevel::Informational, &message, start);
        }
        Err(error) => {
            agent.warn(
                "check-hotfix completed with error (fail-open)",
                &[("outcome", Text("failed")), ("error", Text(&error))],
            );
            let message = format!("check-hotfix outcome=failed error={error}");
            agent.event(Task::CheckHotfix, EventLevel::Error, &message, start);
        }
    }
    0
}

/// A panic is an event, and no reason not to boot. The shipped build aborts on a panic, so both happen before that.
fn leave_event_on_panic(agent: &mut Agent<'_>, start: SystemTime) {
    let (layout, version) = (agent.layout.clone(), agent.version);
    let last_words = move |place: &str| {
        let mut world = Host::default();
        let Ok(log) = Log::open(&mut world, &layout) else { return };
        let mut agent = Agent::new(&mut world, layout.clone(), log, version);
        agent.error("check-hotfix panicked (fail-open)", &[("place", Text(place))]);
        let message = format!("check-hotfix outcome=failed panic=at {place}");
        agent.event(Task::CheckHotfix, EventLevel::Error, &message, start);
    };
    agent.world.on_panic(Some(0), Box::new(last_words));
}

/// Returns the outcome with its name in upstream's telemetry.
fn check(agent: &mut Agent<'_>) -> Result<&'static str, String> {
    if hotfix::read_policy(agent) == Policy::Off {
        // Upstream has no such policy.
        return Ok("disabledByPolicy");
    }
    let text = match fetch(agent) {
        Ok(text) => text,
        Err(FetchError::NothingPublished(why)) => {
            agent.info(
                "LPS reports no hotfix available for this node (fail-open)",
                &[("reason", Text(&why))],
            );
            return Ok("noHotfixAvailable");
        }
        Err(FetchError::Refused(why)) => {
            return Err(format!("LPS fetch failed with a client error, not falling back: {why}"));
        }
        Err(FetchError::Unreachable(why)) => return fall_back(agent, &why),
    };
    let Pointer { hotfixes, .. } =
        Pointer::parse(&text).map_err(|error| format!("parsing LPS hotfix pointer: {error}"))?;
    if hotfixes.is_empty() {
        agent.info("LPS returned no hotfixes for this node; existing pointer left intact", &[]);
        return Ok("noHotfixAvailable");
    }
    let served = Pointer { hotfixes: hotfixes.clone(), ..Pointer::default() };
    pointer::stage(agent, hotfixes).map_err(|error| format!("writing hotfix config: {error}"))?;
    Ok(match served.agent_version(agent.version) {
        Some(_) => "lpsRead",
        None => "noHotfixForBase",
    })
}

/// Uses the map of the node config, since the service is unreachable.
fn fall_back(agent: &mut Agent<'_>, why: &str) -> Result<&'static str, String> {
    let attributes = [("error", Text(why))];
    agent.warn("failed to reach LPS, attempting cold-start fallback", &attributes);
    let hotfixes = cold_start(agent).map_err(|error| {
        format!("LPS fetch failed ({why}) and cold-start fallback failed: {error}")
    })?;
    let Some(hotfixes) = hotfixes else {
        return Err(format!("LPS fetch failed and no cold-start pointer present: {why}"));
    };
    pointer::stage(agent, hotfixes)
        .map_err(|error| format!("writing cold-start hotfix config: {error}"))?;
    Ok("customDataFallback")
}

/// The metadata service's address for the document whose signature is the credential.
const ATTESTED_DOCUMENT: &str =
    "http://169.254.169.254/metadata/attested/document?api-version=2025-04-07";
const IMDS_ATTEMPTS: u32 = 2;
/// Per attempt; IMDS is link-local.
const IMDS_TIMEOUT: Duration = Duration::from_secs(2);

/// Connecting and the call together.
const CALL_TIMEOUT: Duration = Duration::from_secs(3);
/// The API server's front listens here, also if the config names another port.
const PORT: u16 = 443;
/// The front chooses the service by the first; the second is what is spoken.
const PROTOCOLS: &[&str] = &["aks-live-patching", "h2"];
/// The name that the service's certificate is for. As the name of the handshake it would lead to another service.
const CERTIFICATE_NAME: &str = "aks-security-patch.data.mcr.microsoft.com";
const METHOD: &str = "/akslivepatching.v1.LivePatchingService/GetComponentConfig";
const COMPONENT: &str = "aksNodeController";

/// The reason that the service returned no pointer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FetchError {
    /// The service has nothing for this node.
    NothingPublished(String),
    /// The service denied the request.
    Refused(String),
    /// The service could not be reached, or could not respond.
    Unreachable(String),
}

/// Returns the component's JSON as the service has it.
pub(super) fn fetch(agent: &mut Agent<'_>) -> Result<Vec<u8>, FetchError> {
    let target = find_target(agent)
        .map_err(|error| FetchError::Unreachable(format!("resolving LPS endpoint: {error}")))?;
    let signature = read_signature(agent)
        .map_err(|error| FetchError::Unreachable(format!("imds attested token: {error}")))?;
    call(agent, &target, &signature)
}

fn call(
    agent: &mut Agent<'_>,
    target: &ServiceTarget,
    signature: &Secret,
) -> Result<Vec<u8>, FetchError> {
    if target.ca.is_empty() {
        let why = "dialing LPS gRPC: cluster CA unavailable from provision-config; refusing to fetch over unverified TLS";
        return Err(FetchError::Unreachable(why.to_owned()));
    }
    agent.info(
        "check-hotfix LPS gRPC dial",
        &[
            ("dialHost", Text(&target.host)),
            ("alpn", Text(PROTOCOLS[0])),
            ("component", Text(COMPONENT)),
        ],
    );
    let dial = Dial {
        host: &target.host,
        port: PORT,
        ca: &target.ca,
        certificate_name: CERTIFICATE_NAME,
        protocols: PROTOCOLS,
        limit: CALL_TIMEOUT,
    };
    let mut stream = agent.world.dial(&dial).map_err(|failure| {
        FetchError::Unreachable(format!("dialing LPS gRPC: {}", failure.text))
    })?;
    let call = GrpcCall {
        authority: &format!("{}:{PORT}", target.host),
        path: METHOD,
        authorization: signature,
        argument: COMPONENT,
        timeout: CALL_TIMEOUT.as_millis(),
    };
    grpc::call(&mut *stream, &call).map_err(|failure| match failure {
        CallFailure::Connection(error) => {
            FetchError::Unreachable(format!("LPS gRPC call: {error}"))
        }
        CallFailure::Status(status) => error_of(status),
    })
}

fn error_of(status: GrpcStatus) -> FetchError {
    let text = format!("LPS gRPC call failed with code {status}");
    match status {
        GrpcStatus::Unauthenticated | GrpcStatus::PermissionDenied | GrpcStatus::NotFound => {
            FetchError::NothingPublished(text)
        }
        GrpcStatus::InvalidArgument | GrpcStatus::ResourceExhausted => FetchError::Refused(text),
        _ => FetchError::Unreachable(text),
    }
}

/// Returns the attested document's signature: two attempts, without a pause and without a proxy.
fn read_signature(agent: &mut Agent<'_>) -> Result<Secret, String> {
    let mut last = String::new();
    for attempt in 1..=IMDS_ATTEMPTS {
        match ask_imds(agent) {
            Ok(signature) => return Ok(signature),
            Err(error) => {
                let attributes = [("attempt", Number(attempt.into())), ("error", Text(&error))];
                agent.warn("failed to read the IMDS attested document", &attributes);
                last = error;
            }
        }
    }
    Err(last)
}

fn ask_imds(agent: &mut Agent<'_>) -> Result<Secret, String> {
    let url = Url::parse(ATTESTED_DOCUMENT).map_err(|error| error.to_string())?;
    let headers = [("Metadata", Secret::from("true"))];
    let request = HttpRequest {
        url: &url,
        headers: &headers,
        form: None,
        proxy: None,
        roots: &Roots::none(),
        limit: IMDS_TIMEOUT,
    };
    let response = agent.world.fetch(&request).map_err(|failure| failure.text)?;
    if response.status != 200 {
        return Err(format!("imds returned status {}", response.status));
    }
    let document: Value = serde_json::from_slice(&response.body).unwrap_or_default();
    if !document.is_object() {
        return Err("imds attested document is not a JSON object".to_owned());
    }
    let signature = document["signature"].as_str().unwrap_or_default();
    if signature.is_empty() {
        return Err("imds attested document had empty signature".to_owned());
    }
    Ok(Secret::from(signature))
}

/// The address and the CA of the live-patching service.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ServiceTarget {
    /// The API server's name, without a port.
    pub(super) host: String,
    /// The cluster CA in PEM; may be empty.
    pub(super) ca: Vec<u8>,
}

/// A node config, as far as it can be read.
#[derive(Debug, Default)]
struct Excerpt {
    api_server: String,
    ca: String,
    hotfixes: BTreeMap<String, String>,
    error: Option<String>,
}

/// Finds the target: in the node config, or in the NBC command without a config.
pub(super) fn find_target(agent: &mut Agent<'_>) -> Result<ServiceTarget, String> {
    let Some(excerpt) = read_config(agent)? else {
        let path = ("path", Text(NODE_CONFIG));
        agent.info("node config not found, trying nbc-cmd.sh fallback", &[path]);
        return find_in_nbc_command(agent);
    };
    if let Some(error) = &excerpt.error {
        let attributes = [("error", Text(error))];
        agent.info("node config parsed with errors, continuing with partial config", &attributes);
    }
    if excerpt.api_server.is_empty() {
        let why = excerpt.error.map(|error| format!(" (parse error: {error})")).unwrap_or_default();
        return Err(format!("node config has no api_server_config.api_server_name{why}"));
    }
    target(&excerpt.api_server, excerpt.ca.as_bytes())
        .ok_or_else(|| "decoding node config kubernetes_ca_cert: invalid base64".to_owned())
}

fn find_in_nbc_command(agent: &mut Agent<'_>) -> Result<ServiceTarget, String> {
    let text =
        agent.world.read(&agent.layout.at(NBC_COMMAND), MAX_FILE_BYTES).map_err(|failure| {
            format!(
                "reading nbc-cmd {NBC_COMMAND}: {}",
                read_failure(NBC_COMMAND.as_ref(), &failure)
            )
        })?;
    let assigned = nbc::assignments(&text);
    let api_server = assigned.expose("API_SERVER_NAME").unwrap_or_default();
    let api_server = String::from_utf8_lossy(api_server).into_owned();
    if api_server.is_empty() {
        return Err(format!("nbc-cmd {NBC_COMMAND} has no API_SERVER_NAME"));
    }
    let target = target(&api_server, assigned.expose("KUBE_CA_CRT").unwrap_or_default())
        .ok_or_else(|| "decoding nbc-cmd KUBE_CA_CRT: invalid base64".to_owned())?;
    let attributes = [("fqdn", Text(&api_server)), ("path", Text(NBC_COMMAND))];
    agent.info("loaded LPS target from nbc-cmd.sh fallback", &attributes);
    Ok(target)
}

/// The map of last resort in the node config; `None` where there is none.
pub(super) fn cold_start(
    agent: &mut Agent<'_>,
) -> Result<Option<BTreeMap<String, String>>, String> {
    match read_config(agent)? {
        Some(Excerpt { error: Some(error), .. }) => {
            Err(format!("parsing cold-start hotfixes from node config: {error}"))
        }
        excerpt => {
            Ok(excerpt.map(|excerpt| excerpt.hotfixes).filter(|hotfixes| !hotfixes.is_empty()))
        }
    }
}

fn read_config(agent: &mut Agent<'_>) -> Result<Option<Excerpt>, String> {
    let text = match agent.world.read(&agent.layout.at(NODE_CONFIG), MAX_FILE_BYTES) {
        Ok(text) => text,
        Err(ReadFailure::Open(error)) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(None);
        }
        Err(failure) => {
            let failure = read_failure(NODE_CONFIG.as_ref(), &failure);
            return Err(format!("reading node config {NODE_CONFIG}: {failure}"));
        }
    };
    let mut excerpt = Excerpt::default();
    if let Err(error) = read_members(&text, &mut excerpt) {
        excerpt.error = Some(json_error(&text, &error));
    }
    Ok(Some(excerpt))
}

fn read_members(text: &[u8], excerpt: &mut Excerpt) -> Result<(), Error> {
    format::object(text, &mut |reader, name| {
        match (name, reader.peek()?) {
            ("api_server_config" | "apiServerConfig", ValueKind::Object) => {
                read_api_server(reader, &mut excerpt.api_server)?;
            }
            ("kubernetes_ca_cert" | "kubernetesCaCert", ValueKind::String) => {
                excerpt.ca = reader.string()?.into_owned();
            }
            (name, _) if name.eq_ignore_ascii_case("hotfixes") => {
                read_hotfixes(reader, &mut excerpt.hotfixes)?;
            }
            _ => reader.skip(MAX_DEPTH)?,
        }
        Ok(())
    })
}

fn read_api_server(reader: &mut Reader<'_>, api_server: &mut String) -> Result<(), Error> {
    format::members(reader, &mut |reader, name| match (name, reader.peek()?) {
        ("api_server_name" | "apiServerName", ValueKind::String) => {
            format::set_string(reader, api_server)
        }
        _ => reader.skip(MAX_DEPTH),
    })
}

/// `None` if the CA is not base64.
fn target(api_server: &str, ca: &[u8]) -> Option<ServiceTarget> {
    let host = without_port(api_server).to_owned();
    Some(ServiceTarget { host, ca: decode_base64(ca)? })
}

/// A host without its port and brackets. The service listens where the API server does, on 443.
fn without_port(authority: &str) -> &str {
    let bracketed = authority.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    if let Some((host, _)) = bracketed {
        return host;
    }
    match authority.split_once(':') {
        Some((host, port)) if !port.contains(':') => host,
        _ => authority,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_of_the_service_decides_what_is_reported() {
        let text = |status: GrpcStatus| format!("LPS gRPC call failed with code {status}");
        for status in
            [GrpcStatus::Unauthenticated, GrpcStatus::PermissionDenied, GrpcStatus::NotFound]
        {
            assert_eq!(error_of(status), FetchError::NothingPublished(text(status)));
        }
        for status in [GrpcStatus::InvalidArgument, GrpcStatus::ResourceExhausted] {
            assert_eq!(error_of(status), FetchError::Refused(text(status)));
        }
        for status in [GrpcStatus::Unavailable, GrpcStatus::Internal, GrpcStatus::Other(99)] {
            assert_eq!(error_of(status), FetchError::Unreachable(text(status)));
        }
    }

    #[test]
    fn port_of_the_api_server_is_dropped() {
        for (authority, host) in [
            ("a.hcp.westeurope.azmk8s.io", "a.hcp.westeurope.azmk8s.io"),
            ("a:6443", "a"),
            ("a:", "a"),
            ("10.0.0.1:443", "10.0.0.1"),
            ("[fd00::1]:443", "fd00::1"),
            ("fd00::1", "fd00::1"),
        ] {
            assert_eq!(without_port(authority), host);
        }
    }

    #[test]
    fn config_is_used_as_far_as_it_can_be_read() {
        let mut excerpt = Excerpt::default();
        let text =
            br#"{"apiServerConfig":{"x":1,"apiServerName":"a:443"},"kubernetes_ca_cert":"QQ==","#;
        assert!(read_members(text, &mut excerpt).is_err());
        assert_eq!((excerpt.api_server.as_str(), excerpt.ca.as_str()), ("a:443", "QQ=="));
        assert_eq!(target("a", b"QUI=\n").unwrap().ca, b"AB");
        assert_eq!(target("a", b"?"), None);
    }
}

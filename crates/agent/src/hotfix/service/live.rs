//! Asking the live-patching service: the attested document of IMDS first, then one call.

use std::time::Duration;

use mooring_contract::json::MAX_DEPTH;
use mooring_redact::Secret;

use super::grpc::{self, CallFailure, GrpcCall, GrpcStatus};
use super::target::{self, ServiceTarget};
use crate::format::json;
use crate::node::agent::Agent;
use crate::node::log::LogValue::{Number, Text};
use crate::world::{Dial, HttpRequest, Roots, Url};

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
    let target = target::find(agent)
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
    let signature = read_member(&response.body)
        .ok_or_else(|| "imds attested document is not a JSON object".to_owned())?;
    if signature.is_empty() {
        return Err("imds attested document had empty signature".to_owned());
    }
    Ok(Secret::from(signature))
}

/// The document's `signature`, empty if there is none; `None` if it is not a document.
fn read_member(text: &[u8]) -> Option<String> {
    let mut signature = String::new();
    let read = json::object(text, &mut |reader, name| {
        if name.eq_ignore_ascii_case("signature") {
            json::set_string(reader, &mut signature)
        } else {
            reader.skip(MAX_DEPTH)
        }
    });
    read.ok().map(|()| signature)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signature_is_read_from_a_document_only() {
        let read = |text: &str| read_member(text.as_bytes());
        assert_eq!(read(r#"{"Signature": "s", "encoding": "pkcs7"}"#).as_deref(), Some("s"));
        assert_eq!(read(r#"{"signature": null, "other": null}"#).as_deref(), Some(""));
        assert_eq!(read("{}").as_deref(), Some(""));
        for bad in ["", "[]", r#"{"signature": 1}"#, r#"{"signature": "s"} x"#] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

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
}

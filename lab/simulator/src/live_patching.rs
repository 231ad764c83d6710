//! The live-patching service, served by the API server's frontend: one unary gRPC call that returns a component's JSON.
//!
//! A node authenticates with the signature of its attested document; here that is the document of the simulated IMDS.

use std::sync::{Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::Value;

use crate::exchange::{Request, Response, ServerReply, Trailers, header, plain};

pub const METHOD: &str = "/akslivepatching.v1.LivePatchingService/GetComponentConfig";
/// Name in the service's certificate.
pub const CERTIFICATE_NAME: &str = "aks-security-patch.data.mcr.microsoft.com";
/// ALPN protocol by which the frontend selects the service.
pub const PROTOCOL: &str = "aks-live-patching";

/// Component with hotfixes of the node agent.
const COMPONENT: &str = "aksNodeController";

const INVALID_ARGUMENT: u8 = 3;
const NOT_FOUND: u8 = 5;
const UNAUTHENTICATED: u8 = 16;

/// A component of `None` is not published.
#[derive(Debug, Default)]
pub struct LivePatching {
    component: Mutex<Option<String>>,
}

impl LivePatching {
    pub fn publish(&self, component: Option<String>) {
        *self.component.lock().unwrap_or_else(PoisonError::into_inner) = component;
    }

    /// Responds to one call; `vm` is the VM whose attested document is accepted.
    pub fn handle(&self, request: &Request, vm: &Value) -> ServerReply {
        ServerReply::Answer(self.config(request, vm).map_or_else(failed, |config| {
            let mut message = vec![0x0a];
            append_string(&mut message, COMPONENT.as_bytes());
            message.push(0x12);
            append_string(&mut message, config.as_bytes());
            let mut body = vec![0];
            body.extend(u32::try_from(message.len()).unwrap_or_default().to_be_bytes());
            body.extend(message);
            let mut response = respond(Bytes::from(body));
            response.extensions_mut().insert(Trailers(status(0)));
            response
        }))
    }

    fn config(&self, request: &Request, vm: &Value) -> Result<String, u8> {
        if !is_attested(request, vm) {
            return Err(UNAUTHENTICATED);
        }
        let component = component_of(request.body()).ok_or(INVALID_ARGUMENT)?;
        let published = self.component.lock().unwrap_or_else(PoisonError::into_inner).clone();
        published.filter(|_| component == COMPONENT).ok_or(NOT_FOUND)
    }
}

/// Returns true if the request carries the attested document of this VM.
fn is_attested(request: &Request, vm: &Value) -> bool {
    let sent = header(request, "authorization");
    let document = sent.and_then(|sent| STANDARD.decode(sent).ok());
    let document = document.and_then(|text| serde_json::from_slice::<Value>(&text).ok());
    document.is_some_and(|document| document["vmId"] == *vm)
}

/// Returns field 1 of the request's message, the only one.
fn component_of(body: &[u8]) -> Option<&str> {
    let (prefix, message) = body.split_first_chunk::<5>()?;
    let [0, l0, l1, l2, l3] = *prefix else { return None };
    let length = usize::try_from(u32::from_be_bytes([l0, l1, l2, l3])).ok()?;
    let [0x0a, named, name @ ..] = message else { return None };
    let is_whole = length == message.len() && usize::from(*named) == name.len();
    std::str::from_utf8(name).ok().filter(|_| is_whole)
}

/// Returns a status without a message: trailers only.
fn failed(number: u8) -> Response {
    let mut response = respond(Bytes::new());
    response.headers_mut().extend(status(number));
    response
}

fn respond(body: Bytes) -> Response {
    let mut response = plain(StatusCode::OK, body);
    let grpc = HeaderValue::from_static("application/grpc");
    response.headers_mut().insert(http::header::CONTENT_TYPE, grpc);
    response
}

fn status(number: u8) -> HeaderMap {
    let name = HeaderName::from_static("grpc-status");
    [(name, HeaderValue::from(u16::from(number)))].into_iter().collect()
}

fn append_string(message: &mut Vec<u8>, text: &[u8]) {
    let mut length = text.len();
    while length >= 0x80 {
        message.push(u8::try_from(length & 0x7f).unwrap_or_default() | 0x80);
        length >>= 7;
    }
    message.push(u8::try_from(length).unwrap_or_default());
    message.extend(text);
}

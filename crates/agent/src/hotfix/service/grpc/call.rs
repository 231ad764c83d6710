//! A call: its request and its response.

use std::io::{self, Read, Write};

use mooring_redact::Secret;

use super::frame::{self, Frame};
use super::hpack::{self, Header};
use super::protobuf::{append_varint, string_field};
use super::status::GrpcStatus;

/// The largest message that is accepted, as in upstream's client.
pub const MAX_MESSAGE: usize = 4 << 20;
/// A message and its prefix always fit, so no window is ever enlarged.
const WINDOW: u32 = (4 << 20) + (64 << 10);
/// The window that every connection begins with.
const FIRST_WINDOW: u32 = 65_535;
/// The longest header block that is accepted, over all its frames.
const MAX_HEADERS: usize = 64 * 1024;
/// The one stream of the connection.
const STREAM: u32 = 1;
/// Length and flag before a message.
const PREFIX: usize = 5;

#[derive(Debug)]
pub struct GrpcCall<'a> {
    /// The host of the service, with the port.
    pub authority: &'a str,
    pub path: &'a str,
    /// The value of the metadata `authorization`.
    pub authorization: &'a Secret,
    /// Field 1 of the request.
    pub argument: &'a str,
    /// The time limit for the server, in milliseconds.
    pub timeout: u128,
}

/// The reason that a call has no response.
#[derive(Debug)]
pub enum CallFailure {
    /// A status, the server's or one that describes what it did.
    Status(GrpcStatus),
    Connection(io::Error),
}

impl From<GrpcStatus> for CallFailure {
    fn from(status: GrpcStatus) -> Self {
        Self::Status(status)
    }
}

impl From<io::Error> for CallFailure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::TimedOut => Self::Status(GrpcStatus::DeadlineExceeded),
            _ => Self::Connection(error),
        }
    }
}

/// Makes the call; returns field 2 of the response.
pub fn call(
    stream: &mut (impl Read + Write + ?Sized),
    call: &GrpcCall<'_>,
) -> Result<Vec<u8>, CallFailure> {
    stream.write_all(&request(call))?;
    stream.flush()?;
    let message = read_response(stream)?;
    string_field(&message, 2).ok_or(CallFailure::Status(GrpcStatus::Internal))
}

/// Everything that the client sends unasked.
fn request(call: &GrpcCall<'_>) -> Vec<u8> {
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    let mut settings = Vec::new();
    let headers = u32::try_from(MAX_HEADERS).unwrap_or(u32::MAX);
    // Table size, push, window, header list.
    for (name, value) in [(1_u16, 0), (2, 0), (4, WINDOW), (6, headers)] {
        settings.extend(name.to_be_bytes());
        settings.extend(value.to_be_bytes());
    }
    frame::append(&mut bytes, frame::SETTINGS, 0, 0, &settings);
    let more = WINDOW - FIRST_WINDOW;
    frame::append(&mut bytes, frame::WINDOW_UPDATE, 0, 0, &more.to_be_bytes());

    let mut block = Vec::new();
    let timeout = format!("{}m", call.timeout);
    let agent = format!("aks-node-controller/{}", crate::VERSION);
    for (name, value) in [
        (":method", "POST"),
        (":scheme", "https"),
        (":path", call.path),
        (":authority", call.authority),
        ("content-type", "application/grpc"),
        ("user-agent", &agent),
        ("te", "trailers"),
        ("grpc-timeout", &timeout),
    ] {
        hpack::encode(&mut block, name, value, false);
    }
    hpack::encode(&mut block, "authorization", call.authorization.expose(), true);
    let mut pieces = block.chunks(frame::MAX_FRAME).peekable();
    let mut kind = frame::HEADERS;
    while let Some(piece) = pieces.next() {
        let flags = if pieces.peek().is_none() { frame::END_HEADERS } else { 0 };
        frame::append(&mut bytes, kind, flags, STREAM, piece);
        kind = frame::CONTINUATION;
    }

    let argument = call.argument.as_bytes();
    let mut message = vec![0x0a];
    append_varint(&mut message, argument.len());
    message.extend(argument);
    let mut body = vec![0];
    body.extend(u32::try_from(message.len()).unwrap_or_default().to_be_bytes());
    body.extend(message);
    frame::append(&mut bytes, frame::DATA, frame::END_STREAM, STREAM, &body);
    bytes
}

/// Reads frames until the response is whole; returns its message.
fn read_response(stream: &mut (impl Read + Write + ?Sized)) -> Result<Vec<u8>, CallFailure> {
    let mut is_accepted = false;
    let mut body = Vec::new();
    loop {
        let frame = Frame::read(stream)?.ok_or(GrpcStatus::Internal)?;
        match frame.kind {
            frame::HEADERS => {
                let headers = read_headers(stream, &frame)?;
                if frame.has(frame::END_STREAM) {
                    return end(&headers, is_accepted, &body).map_err(CallFailure::Status);
                }
                match field(&headers, ":status") {
                    Some(b"200") if is_grpc(&headers) => is_accepted = true,
                    Some([b'1', ..]) => {}
                    other => return Err(GrpcStatus::of_http(other.unwrap_or_default()).into()),
                }
            }
            frame::DATA if frame.stream == STREAM && is_accepted => {
                body.extend_from_slice(frame.content().ok_or(GrpcStatus::Internal)?);
                if announced(&body).is_some_and(|length| length > MAX_MESSAGE) {
                    return Err(GrpcStatus::ResourceExhausted.into());
                }
                if body.len() > PREFIX + MAX_MESSAGE || frame.has(frame::END_STREAM) {
                    return Err(GrpcStatus::Internal.into());
                }
            }
            frame::RST_STREAM if frame.stream == STREAM => {
                return Err(GrpcStatus::of_reset(frame.number().unwrap_or_default()).into());
            }
            frame::SETTINGS if frame.has(frame::ACK) => {}
            frame::SETTINGS => reply(stream, frame::SETTINGS, &[])?,
            frame::PING if !frame.has(frame::ACK) => {
                let payload = frame.payload.get(..8).ok_or(GrpcStatus::Internal)?;
                reply(stream, frame::PING, payload)?;
            }
            // The server may still finish streams up to this one.
            frame::GOAWAY if frame.number().ok_or(GrpcStatus::Internal)? & 0x7fff_ffff < STREAM => {
                return Err(GrpcStatus::Unavailable.into());
            }
            frame::DATA | frame::PUSH_PROMISE | frame::CONTINUATION => {
                return Err(GrpcStatus::Internal.into());
            }
            _ => {}
        }
    }
}

fn reply(stream: &mut (impl Write + ?Sized), kind: u8, payload: &[u8]) -> io::Result<()> {
    let mut bytes = Vec::new();
    frame::append(&mut bytes, kind, frame::ACK, 0, payload);
    stream.write_all(&bytes)?;
    stream.flush()
}

fn read_headers(
    stream: &mut (impl Read + ?Sized),
    first: &Frame,
) -> Result<Vec<Header>, CallFailure> {
    let mut block = first.content().ok_or(GrpcStatus::Internal)?.to_vec();
    let mut is_whole = first.has(frame::END_HEADERS);
    while !is_whole {
        let next = Frame::read(stream)?.ok_or(GrpcStatus::Internal)?;
        if (next.kind, next.stream) != (frame::CONTINUATION, first.stream) {
            return Err(GrpcStatus::Internal.into());
        }
        block.extend_from_slice(&next.payload);
        if block.len() > MAX_HEADERS {
            return Err(GrpcStatus::Internal.into());
        }
        is_whole = next.has(frame::END_HEADERS);
    }
    let headers = hpack::decode(&block).map_err(|_| GrpcStatus::Internal)?;
    if first.stream == STREAM { Ok(headers) } else { Err(GrpcStatus::Internal.into()) }
}

pub(super) fn field<'a>(headers: &'a [Header], name: &str) -> Option<&'a [u8]> {
    let found = headers.iter().find(|(known, _)| known == name.as_bytes());
    found.map(|(_, value)| value.as_slice())
}

fn is_grpc(headers: &[Header]) -> bool {
    field(headers, "content-type").is_some_and(|value| value.starts_with(b"application/grpc"))
}

/// The response's end: its trailers, which may be all that there is.
fn end(headers: &[Header], is_accepted: bool, body: &[u8]) -> Result<Vec<u8>, GrpcStatus> {
    if !is_accepted && !is_grpc(headers) {
        return Err(GrpcStatus::of_http(field(headers, ":status").unwrap_or_default()));
    }
    let number = field(headers, "grpc-status").and_then(|value| std::str::from_utf8(value).ok());
    let number = number.and_then(|digits| digits.parse().ok()).ok_or(GrpcStatus::Internal)?;
    if let Some(status) = GrpcStatus::of_number(number) {
        return Err(status);
    }
    // Not compressed, since compression was not offered, and one message.
    let is_whole = body.first() == Some(&0)
        && announced(body).is_some_and(|length| PREFIX + length == body.len());
    if is_whole { Ok(body[PREFIX..].to_vec()) } else { Err(GrpcStatus::Internal) }
}

/// The length that a message's prefix states, once the prefix is complete.
fn announced(body: &[u8]) -> Option<usize> {
    let bytes = body.get(1..PREFIX)?.try_into().ok()?;
    usize::try_from(u32::from_be_bytes(bytes)).ok()
}

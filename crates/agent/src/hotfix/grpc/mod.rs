//! One unary call of gRPC over a dedicated connection, without a runtime: frames of HTTP/2 (RFC 9113), and headers (HPACK,
//! RFC 7541) for one response: no dynamic table, which our SETTINGS forbid, and Huffman as a canonical code.

#[cfg(test)]
mod tests;

use std::fmt;
use std::io::{self, Read, Write};

use mooring_redact::Secret;

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
    append_frame(&mut bytes, SETTINGS, 0, 0, &settings);
    let more = WINDOW - FIRST_WINDOW;
    append_frame(&mut bytes, WINDOW_UPDATE, 0, 0, &more.to_be_bytes());

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
        encode_header(&mut block, name, value, false);
    }
    encode_header(&mut block, "authorization", call.authorization.expose(), true);
    let mut pieces = block.chunks(MAX_FRAME).peekable();
    let mut kind = HEADERS;
    while let Some(piece) = pieces.next() {
        let flags = if pieces.peek().is_none() { END_HEADERS } else { 0 };
        append_frame(&mut bytes, kind, flags, STREAM, piece);
        kind = CONTINUATION;
    }

    let argument = call.argument.as_bytes();
    let mut message = vec![0x0a];
    append_varint(&mut message, argument.len());
    message.extend(argument);
    let mut body = vec![0];
    body.extend(u32::try_from(message.len()).unwrap_or_default().to_be_bytes());
    body.extend(message);
    append_frame(&mut bytes, DATA, END_STREAM, STREAM, &body);
    bytes
}

/// Reads frames until the response is whole; returns its message.
fn read_response(stream: &mut (impl Read + Write + ?Sized)) -> Result<Vec<u8>, CallFailure> {
    let mut is_accepted = false;
    let mut body = Vec::new();
    loop {
        let frame = Frame::read(stream)?.ok_or(GrpcStatus::Internal)?;
        match frame.kind {
            HEADERS => {
                let headers = read_headers(stream, &frame)?;
                if frame.has(END_STREAM) {
                    return end(&headers, is_accepted, &body).map_err(CallFailure::Status);
                }
                match field(&headers, ":status") {
                    Some(b"200") if is_grpc(&headers) => is_accepted = true,
                    Some([b'1', ..]) => {}
                    other => return Err(GrpcStatus::of_http(other.unwrap_or_default()).into()),
                }
            }
            DATA if frame.stream == STREAM && is_accepted => {
                body.extend_from_slice(frame.content().ok_or(GrpcStatus::Internal)?);
                if announced(&body).is_some_and(|length| length > MAX_MESSAGE) {
                    return Err(GrpcStatus::ResourceExhausted.into());
                }
                if body.len() > PREFIX + MAX_MESSAGE || frame.has(END_STREAM) {
                    return Err(GrpcStatus::Internal.into());
                }
            }
            RST_STREAM if frame.stream == STREAM => {
                return Err(GrpcStatus::of_reset(frame.number().unwrap_or_default()).into());
            }
            SETTINGS if frame.has(ACK) => {}
            SETTINGS => reply(stream, SETTINGS, &[])?,
            PING if !frame.has(ACK) => {
                let payload = frame.payload.get(..8).ok_or(GrpcStatus::Internal)?;
                reply(stream, PING, payload)?;
            }
            // The server may still finish streams up to this one.
            GOAWAY if frame.number().ok_or(GrpcStatus::Internal)? & 0x7fff_ffff < STREAM => {
                return Err(GrpcStatus::Unavailable.into());
            }
            DATA | PUSH_PROMISE | CONTINUATION => {
                return Err(GrpcStatus::Internal.into());
            }
            _ => {}
        }
    }
}

fn reply(stream: &mut (impl Write + ?Sized), kind: u8, payload: &[u8]) -> io::Result<()> {
    let mut bytes = Vec::new();
    append_frame(&mut bytes, kind, ACK, 0, payload);
    stream.write_all(&bytes)?;
    stream.flush()
}

fn read_headers(
    stream: &mut (impl Read + ?Sized),
    first: &Frame,
) -> Result<Vec<Header>, CallFailure> {
    let mut block = first.content().ok_or(GrpcStatus::Internal)?.to_vec();
    let mut is_whole = first.has(END_HEADERS);
    while !is_whole {
        let next = Frame::read(stream)?.ok_or(GrpcStatus::Internal)?;
        if (next.kind, next.stream) != (CONTINUATION, first.stream) {
            return Err(GrpcStatus::Internal.into());
        }
        block.extend_from_slice(&next.payload);
        if block.len() > MAX_HEADERS {
            return Err(GrpcStatus::Internal.into());
        }
        is_whole = next.has(END_HEADERS);
    }
    let headers = decode_headers(&block).map_err(|_| GrpcStatus::Internal)?;
    if first.stream == STREAM { Ok(headers) } else { Err(GrpcStatus::Internal.into()) }
}

fn field<'a>(headers: &'a [Header], name: &str) -> Option<&'a [u8]> {
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

/// A status other than success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrpcStatus {
    Unknown,
    Canceled,
    InvalidArgument,
    DeadlineExceeded,
    NotFound,
    PermissionDenied,
    /// Too much, or too often.
    ResourceExhausted,
    Unimplemented,
    /// The service, or the connection to it, is broken.
    Internal,
    Unavailable,
    Unauthenticated,
    Other(u32),
}

impl GrpcStatus {
    /// The status of this number; `None` for success.
    fn of_number(number: u32) -> Option<Self> {
        Some(match number {
            0 => return None,
            1 => Self::Canceled,
            2 => Self::Unknown,
            3 => Self::InvalidArgument,
            4 => Self::DeadlineExceeded,
            5 => Self::NotFound,
            7 => Self::PermissionDenied,
            8 => Self::ResourceExhausted,
            12 => Self::Unimplemented,
            13 => Self::Internal,
            14 => Self::Unavailable,
            16 => Self::Unauthenticated,
            other => Self::Other(other),
        })
    }

    /// Maps the HTTP status of a response without a gRPC status.
    fn of_http(status: &[u8]) -> Self {
        match status {
            b"400" => Self::Internal,
            b"401" => Self::Unauthenticated,
            b"403" => Self::PermissionDenied,
            b"404" => Self::Unimplemented,
            b"429" | b"502" | b"503" | b"504" => Self::Unavailable,
            _ => Self::Unknown,
        }
    }

    /// Maps an error code of HTTP/2.
    fn of_reset(code: u32) -> Self {
        match code {
            3 | 11 => Self::ResourceExhausted,
            7 => Self::Unavailable,
            8 => Self::Canceled,
            12 => Self::PermissionDenied,
            _ => Self::Internal,
        }
    }
}

impl fmt::Display for GrpcStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Other(number) => write!(f, "Code({number})"),
            named => write!(f, "{named:?}"),
        }
    }
}

/// The longest frame that we accept, which is also the longest that every server accepts.
const MAX_FRAME: usize = 16 * 1024;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PUSH_PROMISE: u8 = 5;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;

const ACK: u8 = 0x1;
const END_STREAM: u8 = 0x1;
const END_HEADERS: u8 = 0x4;
const PADDED: u8 = 0x8;
const PRIORITY: u8 = 0x20;

#[derive(Debug, PartialEq, Eq)]
struct Frame {
    kind: u8,
    flags: u8,
    stream: u32,
    payload: Vec<u8>,
}

impl Frame {
    /// Reads the next frame; `None` if it is longer than allowed.
    fn read(reader: &mut (impl Read + ?Sized)) -> io::Result<Option<Self>> {
        let mut head = [0; 9];
        reader.read_exact(&mut head)?;
        let [l0, l1, l2, kind, flags, s0, s1, s2, s3] = head;
        let length = usize::from(l0) << 16 | usize::from(l1) << 8 | usize::from(l2);
        if length > MAX_FRAME {
            return Ok(None);
        }
        let mut payload = vec![0; length];
        reader.read_exact(&mut payload)?;
        let stream = u32::from_be_bytes([s0, s1, s2, s3]) & 0x7fff_ffff;
        Ok(Some(Self { kind, flags, stream, payload }))
    }

    fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// The payload without padding and priority; `None` if these are longer than the frame.
    fn content(&self) -> Option<&[u8]> {
        let mut content = self.payload.as_slice();
        let mut padding = 0;
        if self.has(PADDED) {
            let (&length, rest) = content.split_first()?;
            (padding, content) = (usize::from(length), rest);
        }
        if self.kind == HEADERS && self.has(PRIORITY) {
            content = content.get(5..)?;
        }
        content.get(..content.len().checked_sub(padding)?)
    }

    /// The first four bytes as a number.
    fn number(&self) -> Option<u32> {
        self.payload.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
    }
}

/// Appends a frame, whose payload is not longer than [`MAX_FRAME`].
fn append_frame(bytes: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    let length = u32::try_from(payload.len()).unwrap_or_default().to_be_bytes();
    bytes.extend(&length[1..]);
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HpackError;

pub type Header = (Vec<u8>, Vec<u8>);

/// The number of bits in the code of each byte (RFC 7541, appendix B). Codes of the same length are in the order of the
/// bytes, so the lengths are the whole code.
#[rustfmt::skip]
const CODE_BITS: [u8; 256] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
];
/// The length of the longest codes, the end-of-string symbol among them.
const MAX_BITS: u8 = 30;

/// The number of entries in the static table.
const STATIC_ENTRIES: usize = 61;

pub fn decode_headers(mut block: &[u8]) -> Result<Vec<Header>, HpackError> {
    let mut headers = Vec::new();
    while let Some(&first) = block.first() {
        if first & 0x80 != 0 {
            let (name, value) = static_entry(integer(&mut block, 7)?)?;
            headers.push((name.into(), value.into()));
        } else if first & 0xe0 == 0x20 {
            // A table of no size is the only one that was offered.
            if integer(&mut block, 5)? != 0 {
                return Err(HpackError);
            }
        } else {
            let bits = if first & 0x40 != 0 { 6 } else { 4 };
            let name = match integer(&mut block, bits)? {
                0 => string(&mut block)?,
                index => static_entry(index)?.0.into(),
            };
            headers.push((name, string(&mut block)?));
        }
    }
    Ok(headers)
}

/// Appends a header that no table keeps. `is_secret` forbids every hop to do so.
fn encode_header(block: &mut Vec<u8>, name: &str, value: &str, is_secret: bool) {
    block.push(if is_secret { 0x10 } else { 0 });
    for text in [name, value] {
        append_length(block, text.len());
        block.extend(text.as_bytes());
    }
}

/// Appends an integer whose first 7 bits are in the first byte, as that of a string without Huffman codes.
fn append_length(block: &mut Vec<u8>, length: usize) {
    const PREFIX: u8 = 0x7f;
    match u8::try_from(length) {
        Ok(small) if small < PREFIX => block.push(small),
        _ => {
            block.push(PREFIX);
            append_varint(block, length - usize::from(PREFIX));
        }
    }
}

/// The entries of the static table that a response of gRPC can use; the others have no name here.
fn static_entry(index: usize) -> Result<(&'static str, &'static str), HpackError> {
    Ok(match index {
        8 => (":status", "200"),
        9 => (":status", "204"),
        10 => (":status", "206"),
        11 => (":status", "304"),
        12 => (":status", "400"),
        13 => (":status", "404"),
        14 => (":status", "500"),
        31 => ("content-type", ""),
        1..=STATIC_ENTRIES => ("", ""),
        _ => return Err(HpackError),
    })
}

/// An integer whose first `bits` bits are in the first byte.
fn integer(block: &mut &[u8], bits: u32) -> Result<usize, HpackError> {
    let mut next = || {
        let (&byte, rest) = block.split_first().ok_or(HpackError)?;
        *block = rest;
        Ok(byte)
    };
    let prefix = (1 << bits) - 1;
    let mut value = usize::from(next()? & prefix);
    if value < usize::from(prefix) {
        return Ok(value);
    }
    // Four bytes are more than any header block that is accepted.
    for shift in [0, 7, 14, 21] {
        let byte = next()?;
        value += usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(HpackError)
}

fn string(block: &mut &[u8]) -> Result<Vec<u8>, HpackError> {
    let is_huffman = block.first().ok_or(HpackError)? & 0x80 != 0;
    let length = integer(block, 7)?;
    let text = block.get(..length).ok_or(HpackError)?;
    *block = &block[length..];
    if is_huffman { huffman(text) } else { Ok(text.to_vec()) }
}

/// Decodes a canonical code: of each length, the first code and how many there are.
fn huffman(text: &[u8]) -> Result<Vec<u8>, HpackError> {
    let mut bytes: Vec<u8> = (0..=u8::MAX).collect();
    bytes.sort_by_key(|byte| CODE_BITS[usize::from(*byte)]);
    let mut counts = [0_u32; MAX_BITS as usize + 1];
    for bits in CODE_BITS {
        counts[usize::from(bits)] += 1;
    }
    let mut decoded = Vec::new();
    let (mut code, mut first, mut index, mut bits) = (0_u32, 0_u32, 0_u32, 0_usize);
    let (mut is_all_ones, mut pending) = (true, 0);
    for bit in text.iter().flat_map(|byte| (0..8).rev().map(move |at| u32::from(byte >> at & 1))) {
        code = code << 1 | bit;
        first <<= 1;
        bits += 1;
        pending += 1;
        is_all_ones &= bit == 1;
        let count = *counts.get(bits).ok_or(HpackError)?;
        if code < first + count {
            let at = usize::try_from(index + code - first).map_err(|_| HpackError)?;
            decoded.push(*bytes.get(at).ok_or(HpackError)?);
            (code, first, index, bits) = (0, 0, 0, 0);
            (is_all_ones, pending) = (true, 0);
        } else {
            index += count;
            first += count;
        }
    }
    // What is left over is the beginning of the end-of-string symbol, less than a byte of it.
    if pending < 8 && is_all_ones { Ok(decoded) } else { Err(HpackError) }
}

/// The last string with this number in a protobuf message, empty if there is none; `None` if it is not a message.
fn string_field(mut message: &[u8], wanted: u64) -> Option<Vec<u8>> {
    let mut found = Vec::new();
    while !message.is_empty() {
        let tag = varint(&mut message)?;
        let skipped = match tag & 7 {
            0 => {
                varint(&mut message)?;
                0
            }
            1 => 8,
            2 => usize::try_from(varint(&mut message)?).ok()?,
            5 => 4,
            _ => return None,
        };
        let value = message.get(..skipped)?;
        message = &message[skipped..];
        if tag == wanted << 3 | 2 {
            found = value.to_vec();
        }
    }
    std::str::from_utf8(&found).is_ok().then_some(found)
}

fn varint(message: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = message.split_first()?;
        *message = rest;
        value |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

fn append_varint(message: &mut Vec<u8>, value: usize) {
    let mut rest = value;
    while rest >= 0x80 {
        message.push(u8::try_from(rest & 0x7f).unwrap_or_default() | 0x80);
        rest >>= 7;
    }
    message.push(u8::try_from(rest).unwrap_or_default());
}

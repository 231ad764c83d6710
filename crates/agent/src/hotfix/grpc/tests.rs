//! Calls against scripted servers.

use std::fmt::Write as _;
use std::io::Cursor;

use super::*;

/// A server whose output is fixed, and which records its input.
struct Scripted {
    said: Cursor<Vec<u8>>,
    heard: Vec<u8>,
}

impl Read for Scripted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.said.read(buffer)
    }
}

impl Write for Scripted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.heard.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Frames that a server sends, in order.
#[derive(Default)]
struct Frames(Vec<u8>);

impl Frames {
    fn add(mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Self {
        append_frame(&mut self.0, kind, flags, stream, payload);
        self
    }

    fn head(self) -> Self {
        self.add(SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 100]).add(HEADERS, END_HEADERS, 1, &head())
    }

    fn data(self, piece: &[u8]) -> Self {
        self.add(DATA, 0, 1, piece)
    }

    fn trailers(self, status: &str) -> Self {
        self.add(HEADERS, END_HEADERS | END_STREAM, 1, &trailers(status))
    }

    fn outcome(self) -> (Result<String, String>, Vec<u8>) {
        let mut server = Scripted { said: Cursor::new(self.0), heard: Vec::new() };
        let call = GrpcCall {
            authority: "a:443",
            path: "/s/m",
            authorization: &Secret::from("signature"),
            argument: "aksNodeController",
            timeout: 3000,
        };
        let outcome = match super::call(&mut server, &call) {
            Ok(text) => Ok(String::from_utf8(text).unwrap()),
            Err(CallFailure::Status(status)) => Err(status.to_string()),
            Err(CallFailure::Connection(error)) => Err(error.kind().to_string()),
        };
        (outcome, server.heard)
    }

    fn result(self) -> Result<String, String> {
        self.outcome().0
    }
}

fn head() -> Vec<u8> {
    let mut block = vec![0x88];
    encode_header(&mut block, "content-type", "application/grpc+proto", false);
    block
}

fn trailers(status: &str) -> Vec<u8> {
    let mut block = Vec::new();
    encode_header(&mut block, "grpc-status", status, false);
    encode_header(&mut block, "grpc-message", "why", false);
    block
}

fn message(text: &str) -> Vec<u8> {
    let mut inner = b"\x0a\x01n\x12".to_vec();
    append_varint(&mut inner, text.len());
    inner.extend(text.as_bytes());
    // A field of the future.
    inner.extend([0x18, 0x96, 0x01, 0x25, 1, 2, 3, 4]);
    let mut framed = vec![0];
    framed.extend(u32::try_from(inner.len()).unwrap().to_be_bytes());
    framed.extend(inner);
    framed
}

#[expect(clippy::unnecessary_wraps, reason = "compared with a result")]
fn ok(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

fn failed(text: &str) -> Result<String, String> {
    Err(text.to_owned())
}

#[test]
fn response_is_put_together_from_many_frames() {
    assert_eq!(Frames::default().head().data(&message("{}")).trailers("0").result(), ok("{}"));
    let large = "x".repeat(3 << 20);
    let mut frames = Frames::default().head();
    for piece in message(&large).chunks(1000) {
        frames = frames.data(piece);
    }
    assert!(frames.trailers("0").result() == ok(&large));
    // Five MiB are announced, and nothing of them is waited for.
    let announced = [0, 0, 0x50, 0, 0];
    assert_eq!(Frames::default().head().data(&announced).result(), failed("ResourceExhausted"));
}

#[test]
fn status_is_understood_in_every_form() {
    for (number, name) in [
        ("1", "Canceled"),
        ("2", "Unknown"),
        ("3", "InvalidArgument"),
        ("4", "DeadlineExceeded"),
        ("5", "NotFound"),
        ("7", "PermissionDenied"),
        ("8", "ResourceExhausted"),
        ("12", "Unimplemented"),
        ("13", "Internal"),
        ("14", "Unavailable"),
        ("16", "Unauthenticated"),
        ("99", "Code(99)"),
        ("x", "Internal"),
    ] {
        assert_eq!(Frames::default().head().trailers(number).result(), failed(name), "{number}");
        // Trailers only.
        let block = [head(), trailers(number)].concat();
        let flags = END_HEADERS | END_STREAM;
        let only = Frames::default().add(HEADERS, flags, 1, &block);
        assert_eq!(only.result(), failed(name), "{number}");
    }
}

#[test]
fn headers_may_continue_be_padded_and_be_encoded() {
    let block = [head(), trailers("0")].concat();
    let (first, rest) = block.split_at(10);
    let (second, third) = rest.split_at(1);
    let continued = Frames::default()
        .add(HEADERS, 0, 1, first)
        .add(CONTINUATION, 0, 1, second)
        .add(CONTINUATION, END_HEADERS, 1, third)
        .data(&message("a"))
        .trailers("0");
    assert_eq!(continued.result(), ok("a"));
    let broken = Frames::default().add(HEADERS, 0, 1, first).data(&message("a"));
    assert_eq!(broken.result(), failed("Internal"), "only CONTINUATION may follow");
    let endless = (0..10).fold(Frames::default().add(HEADERS, 0, 1, first), |frames, _| {
        frames.add(CONTINUATION, 0, 1, &[0; MAX_FRAME])
    });
    assert_eq!(endless.result(), failed("Internal"));
    // Padding of two bytes, and a priority.
    let padded = [&[2, 0, 0, 0, 0, 7], &head()[..], &[0, 0]].concat();
    let data = [&[1][..], &message("a"), &[0]].concat();
    let frames = Frames::default()
        .add(HEADERS, END_HEADERS | 0x8 | 0x20, 1, &padded)
        .add(DATA, 0x8, 1, &data)
        .trailers("0");
    assert_eq!(frames.result(), ok("a"));
    let lies = Frames::default().head().add(DATA, 0x8, 1, &[200, 1, 2]);
    assert_eq!(lies.result(), failed("Internal"));
}

#[test]
fn largest_message_and_headers_are_accepted_and_no_larger() {
    let in_pieces = |bytes: &[u8]| {
        let pieces = bytes.chunks(MAX_FRAME);
        pieces.fold(Frames::default().head(), Frames::data)
    };
    // Sixteen bytes are around the text.
    let largest = "x".repeat((4 << 20) - 16);
    let whole = message(&largest);
    assert_eq!(whole.len(), 5 + (4 << 20));
    assert!(in_pieces(&whole).trailers("0").result() == ok(&largest));
    let larger = message(&format!("{largest}x"));
    assert_eq!(in_pieces(&larger).result(), failed("ResourceExhausted"));
    // A short message is announced, and more than the longest is sent.
    let endless = vec![0; 5 + (4 << 20) + 1];
    assert_eq!(in_pieces(&endless).result(), failed("Internal"));

    for (length, expected) in [(64 << 10, ok("a")), ((64 << 10) + 1, failed("Internal"))] {
        let mut block = head();
        // Seven bytes are before the value.
        let value = "v".repeat(length - block.len() - 7);
        encode_header(&mut block, "x", &value, false);
        assert_eq!(block.len(), length);
        let count = block.chunks(MAX_FRAME).count();
        let frames = block.chunks(MAX_FRAME).enumerate();
        let frames = frames.fold(Frames::default(), |frames, (at, piece)| {
            let kind = if at == 0 { HEADERS } else { CONTINUATION };
            let flags = if at + 1 == count { END_HEADERS } else { 0 };
            frames.add(kind, flags, 1, piece)
        });
        assert_eq!(frames.data(&message("a")).trailers("0").result(), expected);
    }
}

#[test]
fn ping_and_settings_are_confirmed_before_the_response() {
    let frames = Frames::default()
        .add(PING, 0, 0, b"12345678")
        .add(PING, ACK, 0, b"87654321")
        .add(SETTINGS, ACK, 0, &[])
        .add(WINDOW_UPDATE, 0, 0, &[0, 0, 1, 0])
        .add(0xbe, 0xff, 77, b"a frame of the future")
        .add(HEADERS, END_HEADERS, 1, &[0x08, 0x03, b'1', b'0', b'3'])
        .head()
        .data(&message("a"))
        .trailers("0");
    let (outcome, heard) = frames.outcome();
    assert_eq!(outcome, ok("a"));
    let confirmed = |kind: u8, payload: &[u8]| {
        let mut bytes = Vec::new();
        append_frame(&mut bytes, kind, ACK, 0, payload);
        heard.windows(bytes.len()).any(|window| window == bytes)
    };
    assert!(confirmed(PING, b"12345678") && !confirmed(PING, b"87654321"));
    let settings = [0, 0, 0, SETTINGS, ACK, 0, 0, 0, 0];
    let count = heard.windows(settings.len()).filter(|window| **window == settings).count();
    assert_eq!(count, 1, "a confirmation is not confirmed");
}

#[test]
fn server_that_gives_up_is_understood() {
    let goaway = |last: u32| [last.to_be_bytes(), [0; 4]].concat();
    let frames = Frames::default().add(GOAWAY, 0, 0, &goaway(0));
    assert_eq!(frames.result(), failed("Unavailable"));
    let frames = Frames::default().add(GOAWAY, 0, 0, &goaway(1)).head();
    assert_eq!(frames.data(&message("a")).trailers("0").result(), ok("a"));
    for (code, name) in [
        (0, "Internal"),
        (3, "ResourceExhausted"),
        (7, "Unavailable"),
        (8, "Canceled"),
        (11, "ResourceExhausted"),
        (12, "PermissionDenied"),
    ] {
        let reset = Frames::default().add(RST_STREAM, 0, 1, &u32::to_be_bytes(code));
        assert_eq!(reset.result(), failed(name));
    }
    let other = Frames::default().add(RST_STREAM, 0, 3, &[0; 4]).head();
    assert_eq!(other.data(&message("a")).trailers("0").result(), ok("a"), "another stream");
    assert_eq!(Frames::default().result(), failed("unexpected end of file"));
    assert_eq!(
        Frames::default().head().data(&message("a")).result(),
        failed("unexpected end of file")
    );
}

#[test]
fn malformed_responses_are_refused() {
    let http = |status: &str| {
        let mut block = Vec::new();
        encode_header(&mut block, ":status", status, false);
        encode_header(&mut block, "content-type", "text/html", false);
        Frames::default().add(HEADERS, END_HEADERS, 1, &block).result()
    };
    for (status, name) in [
        ("200", "Unknown"),
        ("400", "Internal"),
        ("401", "Unauthenticated"),
        ("403", "PermissionDenied"),
        ("404", "Unimplemented"),
        ("429", "Unavailable"),
        ("502", "Unavailable"),
        ("503", "Unavailable"),
        ("504", "Unavailable"),
    ] {
        assert_eq!(http(status), failed(name));
    }
    let compressed = [&[1][..], &message("a")[1..]].concat();
    let short = &message("abc")[..8];
    let two = [message("a"), message("b")].concat();
    for body in [&b""[..], b"\0", &compressed, short, &two] {
        let frames = Frames::default().head().data(body).trailers("0");
        assert_eq!(frames.result(), failed("Internal"), "{body:?}");
    }
    for frames in [
        Frames::default().data(b"before the head"),
        Frames::default().add(PUSH_PROMISE, END_HEADERS, 1, &[0; 8]),
        Frames::default().add(CONTINUATION, END_HEADERS, 1, &head()),
        Frames::default().add(HEADERS, END_HEADERS, 3, &head()),
        Frames::default().add(HEADERS, END_HEADERS, 1, &[0x80]),
        Frames::default().add(PING, 0, 0, b"short"),
        Frames::default().add(GOAWAY, 0, 0, b"x"),
        Frames::default().head().add(DATA, END_STREAM, 1, &message("a")),
        Frames(vec![0xff; 9]),
        Frames(vec![1, 0, 0, 0xbe, 0, 0, 0, 0, 0]),
    ] {
        assert_eq!(frames.result(), failed("Internal"));
    }
    assert_eq!(string_field(b"\x12\x01\xff", 2), None, "not UTF-8");
    assert_eq!(string_field(b"\x12\x05a", 2), None, "too short");
    assert_eq!(string_field(b"\x13", 2), None, "a group");
    assert_eq!(string_field(&[0xff; 20], 2), None);
    assert_eq!(string_field(b"", 2), Some(Vec::new()));
    // Numbers of eight and four bytes are skipped.
    assert_eq!(string_field(b"\x1912345678\x251234\x12\x01a", 2), Some(b"a".to_vec()));
    assert_eq!(string_field(b"\x191234567", 2), None);
}

#[test]
fn request_is_what_the_service_expects() {
    let (_, heard) = Frames::default().outcome();
    let text = String::from_utf8_lossy(&heard).into_owned();
    assert!(text.starts_with("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
    assert!(text.contains("authorization\u{9}signature"), "{text}");
    let mut rest = &heard[24..];
    let mut kinds = Vec::new();
    while let Ok(Some(frame)) = Frame::read(&mut rest) {
        if frame.kind == HEADERS {
            let headers = decode_headers(&frame.payload).unwrap();
            assert_eq!(field(&headers, ":path"), Some(&b"/s/m"[..]));
            assert_eq!(field(&headers, ":authority"), Some(&b"a:443"[..]));
            assert_eq!(field(&headers, "te"), Some(&b"trailers"[..]));
            assert_eq!(field(&headers, "grpc-timeout"), Some(&b"3000m"[..]));
        }
        if frame.kind == SETTINGS {
            // No table, no push, a window of 4 MiB and 64 KiB, headers of 64 KiB.
            let settings = b"\0\x01\0\0\0\0\0\x02\0\0\0\0\0\x04\0\x41\0\0\0\x06\0\x01\0\0";
            assert_eq!(frame.payload, settings);
        }
        if frame.kind == WINDOW_UPDATE {
            assert_eq!(frame.payload, (0x0041_0000_u32 - 65_535).to_be_bytes());
        }
        if frame.kind == DATA {
            assert_eq!(frame.payload, b"\0\0\0\0\x13\x0a\x11aksNodeController");
        }
        kinds.push((frame.kind, frame.stream));
    }
    assert_eq!(kinds, [(4, 0), (8, 0), (1, 1), (0, 1)]);
}

fn decoded(block: &[u8]) -> Result<Vec<(String, String)>, HpackError> {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ok(decode_headers(block)?.into_iter().map(|(name, value)| (text(name), text(value))).collect())
}

#[expect(clippy::unnecessary_wraps, reason = "compared with what is decoded")]
fn pairs(pairs: &[(&str, &str)]) -> Result<Vec<(String, String)>, HpackError> {
    Ok(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
}

/// Codes as RFC 7541 lists them, to encode with.
fn huffman_encoded(text: &[u8]) -> Vec<u8> {
    let mut order: Vec<u8> = (0..=u8::MAX).collect();
    order.sort_by_key(|byte| CODE_BITS[usize::from(*byte)]);
    let mut codes = [0_u64; 256];
    let (mut code, mut bits) = (0_u64, 0);
    for byte in order {
        let own = CODE_BITS[usize::from(byte)];
        code <<= own - bits;
        bits = own;
        codes[usize::from(byte)] = code;
        code += 1;
    }
    let mut out = String::new();
    for byte in text {
        let bits = usize::from(CODE_BITS[usize::from(*byte)]);
        write!(out, "{:0bits$b}", codes[usize::from(*byte)]).unwrap();
    }
    while !out.len().is_multiple_of(8) {
        out.push('1');
    }
    out.as_bytes()
        .chunks(8)
        .map(|byte| u8::from_str_radix(std::str::from_utf8(byte).unwrap(), 2).unwrap())
        .collect()
}

#[test]
fn examples_of_the_standard_are_understood() {
    // RFC 7541, C.6.1, with Huffman codes; no table is kept.
    let block = [
        0x48, 0x82, 0x64, 0x02, 0x58, 0x85, 0xae, 0xc3, 0x77, 0x1a, 0x4b, 0x61, 0x96, 0xd0, 0x7a,
        0xbe, 0x94, 0x10, 0x54, 0xd4, 0x44, 0xa8, 0x20, 0x05, 0x95, 0x04, 0x0b, 0x81, 0x66, 0xe0,
        0x82, 0xa6, 0x2d, 0x1b, 0xff, 0x6e, 0x91, 0x9d, 0x29, 0xad, 0x17, 0x18, 0x63, 0xc7, 0x8f,
        0x0b, 0x97, 0xc8, 0xe9, 0xae, 0x82, 0xae, 0x43, 0xd3,
    ];
    let expected = [
        (":status", "302"),
        ("", "private"),
        ("", "Mon, 21 Oct 2013 20:13:21 GMT"),
        ("", "https://www.example.com"),
    ];
    assert_eq!(decoded(&block), pairs(&expected));
    // RFC 7541, C.1: 10 and 1337 in five bits.
    assert_eq!(integer(&mut &[0b1110_1010][..], 5), Ok(10));
    assert_eq!(integer(&mut &[0xff, 0x9a, 0x0a][..], 5), Ok(1337));
    assert_eq!(
        decoded(&[0x88, 0x20, 0x5f, 0x01, b'x']),
        pairs(&[(":status", "200"), ("content-type", "x")])
    );
    let statuses = ["200", "204", "206", "304", "400", "404", "500"];
    assert_eq!(
        decoded(&[0x88, 0x89, 0x8a, 0x8b, 0x8c, 0x8d, 0x8e]),
        pairs(&statuses.map(|status| (":status", status)))
    );
    // The last entry of the table.
    assert_eq!(decoded(&[0xbd]), pairs(&[("", "")]));
}

#[test]
fn huffman_code_covers_every_byte() {
    let all: Vec<u8> = (0..=u8::MAX).collect();
    assert_eq!(huffman(&huffman_encoded(&all)), Ok(all));
    assert_eq!(huffman(b""), Ok(Vec::new()));
    // RFC 7541, C.4.1.
    let example = [0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff];
    assert_eq!(huffman(&example).unwrap(), b"www.example.com");
    assert_eq!(huffman_encoded(b"www.example.com"), example);
}

#[test]
fn encoded_headers_are_read_back() {
    let long = "v".repeat(20_000);
    let mut block = Vec::new();
    for (name, value) in [("a", ""), ("authorization", &long), ("te", &"x".repeat(127))] {
        encode_header(&mut block, name, value, name == "authorization");
    }
    assert_eq!(block[0], 0);
    assert_eq!(block[4], 0x10, "never indexed");
    assert_eq!(
        decoded(&block),
        pairs(&[("a", ""), ("authorization", &long), ("te", &"x".repeat(127))])
    );
}

#[test]
fn malformed_blocks_are_refused() {
    for bad in [
        &[0x80][..],                                       // index 0
        &[0xbe],                                           // beyond the static table
        &[0x3f, 0xe1, 0x1f],                               // a table of 4096 bytes
        &[0x21],                                           // a table of 1 byte
        &[0x00],                                           // no name
        &[0x00, 0x05, b'a'],                               // half a name
        &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff],             // an endless integer
        &[0x00, 0x01, b'a', 0x81, 0x00],                   // padding of zeros
        &[0x00, 0x01, b'a', 0x82, 0xff, 0xff],             // a whole byte of padding
        &[0x00, 0x01, b'a', 0x84, 0xff, 0xff, 0xff, 0xff], // the end of the string
    ] {
        assert_eq!(decode_headers(bad), Err(HpackError), "{bad:x?}");
    }
}

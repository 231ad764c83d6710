//! Any bytes as the live-patching service's side of a connection: the same in any pieces, bounded, incomplete if truncated.
#![no_main]

use std::io::{self, Read, Write};

use libfuzzer_sys::fuzz_target;
use mooring_agent::hotfix::grpc::{GrpcCall, CallFailure, MAX_MESSAGE, call};
use mooring_redact::Secret;

fuzz_target!(|input: &[u8]| {
    let (whole, read) = outcome(input, usize::MAX);
    let (bytewise, _) = outcome(input, 1);
    assert_eq!(whole, bytewise, "another result in other pieces");
    if let Ok(text) = whole {
        assert!(text.len() <= MAX_MESSAGE.min(input.len()));
        let (cut, _) = outcome(&input[..read - 1], usize::MAX);
        assert!(cut.is_err(), "a cut response was taken for a whole one");
    }
});

/// The result and the number of bytes read.
fn outcome(input: &[u8], piece: usize) -> (Result<Vec<u8>, String>, usize) {
    let mut server = Server { rest: input, piece };
    let request = GrpcCall {
        authority: "a:443",
        path: "/s/m",
        authorization: &Secret::from("x"),
        argument: "a",
        timeout: 1,
    };
    let result = call(&mut server, &request).map_err(|failure| match failure {
        CallFailure::Status(status) => status.to_string(),
        CallFailure::Connection(error) => error.kind().to_string(),
    });
    (result, input.len() - server.rest.len())
}

struct Server<'a> {
    rest: &'a [u8],
    piece: usize,
}

impl Read for Server<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min(self.piece);
        self.rest.read(&mut buffer[..length])
    }
}

impl Write for Server<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

//! Any bytes as a server's response: bounded, the same in any pieces, incomplete if truncated.
#![no_main]

use std::io::{BufReader, Read};

use libfuzzer_sys::fuzz_target;
use mooring_agent::world::{HttpFailureKind, HttpResponse, MAX_BODY, Url, read_response};
use mooring_arm::AzureError;

fuzz_target!(|input: &[u8]| {
    let mut rest = input;
    let result = read_response(&mut rest);
    let consumed = input.len() - rest.len();
    let bytewise = read_response(&mut BufReader::with_capacity(1, Bytewise(input)));
    assert_eq!(parts(&result), parts(&bytewise), "another result in other pieces");
    match &result {
        Ok(response) => {
            is_bounded(response, input);
            is_cut_anywhere(input, consumed, response);
            is_printable(response);
        }
        Err(failure) => {
            let kinds = [HttpFailureKind::Malformed, HttpFailureKind::Cut];
            assert!(kinds.contains(&failure.kind), "{failure:?}");
        }
    }
    if let Ok(url) = Url::parse(&String::from_utf8_lossy(input)) {
        let again = Url::parse(&format!("{url}")).expect("a printed URL is one");
        assert!(again.is_same_server(&url) && url.target.starts_with('/'));
        assert!(!url.host.contains(['@', '/', '\\', '?', '#']), "{}", url.host);
    }
});

type Parts = Result<(u16, Vec<(String, String)>, Vec<u8>), HttpFailureKind>;

fn parts(result: &Result<HttpResponse, mooring_agent::world::HttpFailure>) -> Parts {
    match result {
        Ok(one) => Ok((one.status, one.headers.clone(), one.body.clone())),
        Err(failure) => Err(failure.kind),
    }
}

fn is_bounded(response: &HttpResponse, input: &[u8]) {
    assert!((200..=999).contains(&response.status) || response.status < 100, "{}", response.status);
    assert!(response.body.len() <= MAX_BODY.min(input.len()));
    for (name, value) in &response.headers {
        assert!(!name.contains(['\n', ':']) && !value.contains('\n'));
    }
}

/// A response with a length is incomplete one byte earlier.
fn is_cut_anywhere(input: &[u8], consumed: usize, response: &HttpResponse) {
    let says_its_end = response.header("content-length").is_some()
        || response.header("transfer-encoding").is_some()
        || matches!(response.status, 204 | 304);
    if says_its_end && consumed > 0 {
        let cut = read_response(&mut &input[..consumed - 1]);
        assert!(cut.is_err(), "a cut response was taken for a whole one");
    }
}

/// Texts of a service reach operators: without control characters, and bounded.
fn is_printable(response: &HttpResponse) {
    let refusal =
        AzureError::read(response.status, response.header("x-ms-error-code"), &response.body);
    for text in [&refusal.message].into_iter().chain(refusal.details.iter().map(|(_, text)| text)) {
        assert!(!text.chars().any(char::is_control), "{text:?}");
        assert!(text.chars().count() <= 1025, "{} characters", text.chars().count());
    }
}

/// Feeds one byte at a time.
struct Bytewise<'a>(&'a [u8]);

impl Read for Bytewise<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = buffer.len().min(1);
        (&self.0[..length.min(self.0.len())]).read(buffer).inspect(|read| self.0 = &self.0[*read..])
    }
}

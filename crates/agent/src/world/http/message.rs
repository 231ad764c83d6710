//! Requests and responses as bytes.

use std::fmt;
use std::io::{self, BufRead, Read as _};
use std::time::Duration;

use mooring_redact::{ProxyUrl, Secret};

use crate::world::http::tls::{self, Roots};
use crate::world::http::{HttpFailure, HttpFailureKind, Phase, Url};

/// More than any requested response.
pub const MAX_BODY: usize = 1024 * 1024;
/// More than any of the servers sends.
const MAX_HEAD: usize = 32 * 1024;

/// A request. With a form it is a POST, otherwise a GET.
#[derive(Debug)]
pub struct HttpRequest<'a> {
    pub url: &'a Url,
    pub headers: &'a [(&'static str, Secret)],
    /// A body of type `application/x-www-form-urlencoded`.
    pub form: Option<&'a Secret>,
    /// The proxy to go through, for an address with TLS.
    pub proxy: Option<&'a ProxyUrl>,
    pub roots: &'a Roots,
    pub limit: Duration,
}

#[derive(Clone, Default)]
pub struct HttpResponse {
    pub status: u16,
    /// Its headers, as they came.
    pub headers: Vec<(String, String)>,
    /// Its body, which may be a token.
    pub body: Vec<u8>,
}

impl HttpResponse {
    /// The first header of this name, in any letter case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(header, _)| header.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

impl fmt::Debug for HttpResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HttpResponse {{ status: {}, {} bytes }}", self.status, self.body.len())
    }
}

/// The request's bytes. An error where a header would break out of its line.
pub(super) fn write_request(request: &HttpRequest<'_>) -> io::Result<Vec<u8>> {
    let method = if request.form.is_some() { "POST" } else { "GET" };
    let mut head = format!(
        "{method} {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: aks-node-controller/{}\r\n\
         Accept: application/json\r\nConnection: close\r\n",
        request.url.target,
        request.url.authority(),
        crate::VERSION,
    );
    for (name, value) in request.headers {
        if value.expose().bytes().any(|byte| byte.is_ascii_control()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a control byte in a header"));
        }
        head.extend([name, ": ", value.expose(), "\r\n"]);
    }
    if let Some(form) = request.form {
        let length = form.expose().len().to_string();
        head += "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ";
        head.extend([&length, "\r\n\r\n", form.expose()]);
    } else {
        head += "\r\n";
    }
    Ok(head.into_bytes())
}

pub fn read_response(reader: &mut impl BufRead) -> Result<HttpResponse, HttpFailure> {
    let (status, headers) = loop {
        match read_head(reader, Phase::Head)? {
            // Continue, early hints: the response follows.
            (100..=199, _) => {}
            head => break head,
        }
    };
    let mut response = HttpResponse { status, headers, body: Vec::new() };
    response.body = read_body(reader, &response)?;
    Ok(response)
}

pub(super) fn read_head(
    reader: &mut impl BufRead,
    phase: Phase,
) -> Result<(u16, Vec<(String, String)>), HttpFailure> {
    let mut left = MAX_HEAD;
    let status = read_line(reader, &mut left, phase)?;
    let status = status_of(&status).ok_or_else(|| malformed("not HTTP"))?;
    let mut headers = Vec::new();
    loop {
        let line = read_line(reader, &mut left, phase)?;
        if line.is_empty() {
            return Ok((status, headers));
        }
        let (name, value) =
            line.split_once(':').ok_or_else(|| malformed("a header without a colon"))?;
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
}

/// `HTTP/1.1 200 OK` is 200.
fn status_of(line: &str) -> Option<u16> {
    let rest = line.strip_prefix("HTTP/1.")?;
    let digits = rest.split(' ').nth(1)?;
    let three = digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| three)
}

fn read_body(reader: &mut impl BufRead, head: &HttpResponse) -> Result<Vec<u8>, HttpFailure> {
    if matches!(head.status, 204 | 304) {
        return Ok(Vec::new());
    }
    if let Some(encoding) = head.header("transfer-encoding") {
        if encoding.eq_ignore_ascii_case("chunked") {
            return read_chunks(reader);
        }
        return Err(malformed("an unsupported transfer encoding"));
    }
    let lengths = head.headers.iter().filter(|(n, _)| n.eq_ignore_ascii_case("content-length"));
    let mut lengths = lengths.map(|(_, value)| value.as_str());
    match lengths.next() {
        None => read_all(reader),
        Some(first) if lengths.any(|other| other != first) => {
            Err(malformed("two lengths that differ"))
        }
        Some(first) => {
            let length = first.parse().map_err(|_| malformed("an invalid content length"))?;
            read_length(reader, length)
        }
    }
}

fn read_length(reader: &mut impl BufRead, length: usize) -> Result<Vec<u8>, HttpFailure> {
    if length > MAX_BODY {
        return Err(too_large());
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).map_err(|error| tls::failure(Phase::Body, &error))?;
    Ok(body)
}

fn read_all(reader: &mut impl BufRead) -> Result<Vec<u8>, HttpFailure> {
    let mut body = Vec::new();
    let limit = u64::try_from(MAX_BODY + 1).unwrap_or(u64::MAX);
    reader.take(limit).read_to_end(&mut body).map_err(|error| tls::failure(Phase::Body, &error))?;
    if body.len() > MAX_BODY { Err(too_large()) } else { Ok(body) }
}

fn read_chunks(reader: &mut impl BufRead) -> Result<Vec<u8>, HttpFailure> {
    let mut body = Vec::new();
    loop {
        let line = read_line(reader, &mut MAX_HEAD.clone(), Phase::Body)?;
        let digits = line.split(';').next().unwrap_or_default().trim();
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let length = usize::from_str_radix(digits, 16).ok().filter(|_| is_number);
        let length = length.ok_or_else(|| malformed("a chunk without a length"))?;
        if length > MAX_BODY - body.len() {
            return Err(too_large());
        }
        if length == 0 {
            let mut left = MAX_HEAD;
            while !read_line(reader, &mut left, Phase::Body)?.is_empty() {}
            return Ok(body);
        }
        body.extend(read_length(reader, length)?);
        if !read_line(reader, &mut MAX_HEAD.clone(), Phase::Body)?.is_empty() {
            return Err(malformed("a chunk longer than its declared size"));
        }
    }
}

/// Reads a line without its end. `left` is the remaining size of all lines.
fn read_line(
    reader: &mut impl BufRead,
    left: &mut usize,
    phase: Phase,
) -> Result<String, HttpFailure> {
    let mut line = Vec::new();
    let limit = u64::try_from(*left).unwrap_or(u64::MAX);
    let read = reader
        .take(limit)
        .read_until(b'\n', &mut line)
        .map_err(|error| tls::failure(phase, &error))?;
    *left -= read;
    if line.pop() != Some(b'\n') {
        return Err(if *left == 0 {
            malformed("a head without an end")
        } else {
            tls::failure(phase, &io::ErrorKind::UnexpectedEof.into())
        });
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    Ok(String::from_utf8_lossy(&line).into_owned())
}

fn malformed(what: &str) -> HttpFailure {
    HttpFailure::new(HttpFailureKind::Malformed, format!("invalid response: {what}"))
}

fn too_large() -> HttpFailure {
    let text = format!("the response is larger than {MAX_BODY} bytes");
    HttpFailure::new(HttpFailureKind::Malformed, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_of_a_response_hides_its_headers_and_body() {
        let headers = vec![("Set-Cookie".to_owned(), "hunter2".to_owned())];
        let response = HttpResponse { status: 200, headers, body: b"hunter2".to_vec() };
        assert_eq!(format!("{response:?}"), "HttpResponse { status: 200, 7 bytes }");
    }

    fn body_of(text: &str) -> Result<String, HttpFailureKind> {
        let response = read_response(&mut text.as_bytes()).map_err(|failure| failure.kind)?;
        Ok(String::from_utf8(response.body).unwrap())
    }

    #[test]
    fn bodies_end_by_length_chunks_or_close() {
        for (text, body) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef", "abc"),
            ("HTTP/1.0 200\n\nabc", "abc"),
            ("HTTP/1.1 204 No\r\n\r\n", ""),
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length:1\r\n\r\na", "a"),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n\
                 2;x=y\r\nab\r\n1\r\nc\r\n0\r\nTrailer: t\r\n\r\n",
                "abc",
            ),
        ] {
            assert_eq!(body_of(text).as_deref(), Ok(body), "{text}");
        }
    }

    #[test]
    fn a_cut_answer_is_never_taken_for_a_whole_one() {
        for text in [
            "",
            "HTTP/1.1 2",
            "HTTP/1.1 200 OK\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\na",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
        ] {
            assert_eq!(body_of(text), Err(HttpFailureKind::Cut), "{text}");
        }
    }

    #[test]
    fn nonsense_and_floods_are_refused() {
        let flood = format!("HTTP/1.1 200 OK\r\nX: {}", "x".repeat(MAX_HEAD));
        let endless = format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(MAX_BODY + 1));
        for text in [
            "SSH-2.0-OpenSSH_9.9\r\n",
            "HTTP/2 200\r\n\r\n",
            "HTTP/1.1 20x OK\r\n\r\n",
            "HTTP/1.1 2000 OK\r\n\r\n",
            "HTTP/1.1 +20 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
            "HTTP/1.1 200 OK\r\nContent-Length: 1048577\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n+1\r\na\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n100001\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
            &flood,
            &endless,
        ] {
            let shown = &text[..text.len().min(80)];
            assert_eq!(body_of(text), Err(HttpFailureKind::Malformed), "{shown}");
        }
    }

    #[test]
    fn largest_body_is_accepted_in_every_framing() {
        let largest = "x".repeat(1 << 20);
        let (first, rest) = largest.split_at(1000);
        for extra in ["", "x"] {
            let (length, end) = (largest.len() + extra.len(), rest.len() + extra.len());
            for framed in [
                format!("\r\n{largest}{extra}"),
                format!("Content-Length: {length}\r\n\r\n{largest}{extra}"),
                format!(
                    "Transfer-Encoding: chunked\r\n\r\n3e8\r\n{first}\r\n{end:x}\r\n{rest}{extra}\r\n0\r\nA: b\r\n\r\n"
                ),
            ] {
                let body = body_of(&format!("HTTP/1.1 200 OK\r\n{framed}"));
                let is_whole = body.as_ref().is_ok_and(|body| *body == largest);
                assert_eq!(is_whole, extra.is_empty(), "{}", &framed[..30]);
                assert_eq!(body.is_ok(), extra.is_empty(), "{}", &framed[..30]);
            }
        }
    }

    #[test]
    fn a_header_cannot_break_out_of_its_line() {
        let url = Url::parse("https://a/b?c=d").unwrap();
        let roots = Roots::none();
        let written = |value: &str| {
            let headers = [("Authorization", value.into())];
            let request = HttpRequest {
                url: &url,
                headers: &headers,
                form: Some(&"e=f".into()),
                proxy: None,
                roots: &roots,
                limit: Duration::ZERO,
            };
            write_request(&request).map(|bytes| String::from_utf8(bytes).unwrap())
        };
        let good = written("Bearer x").unwrap();
        assert!(good.starts_with("POST /b?c=d HTTP/1.1\r\nHost: a\r\n"), "{good}");
        assert!(good.contains("\r\nAuthorization: Bearer x\r\n"), "{good}");
        assert!(good.ends_with("\r\nContent-Length: 3\r\n\r\ne=f"), "{good}");
        assert!(written("x\r\nHost: b").is_err());
    }
}

//! A small reader of MIME documents, written from RFC 2046 and not from the renderer.

/// A part: its headers in order, and its body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

/// A document: its headers in order, and its parts.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) parts: Vec<Part>,
}

/// Reads a whole document; panics at the first violation.
pub(crate) fn read(document: &[u8]) -> Document {
    let text = std::str::from_utf8(document).expect("the document is text");
    let (headers, body) = split_headers(text);
    let boundary = headers
        .iter()
        .find(|(name, _)| name == "Content-Type")
        .and_then(|(_, value)| {
            value.strip_prefix("multipart/mixed; boundary=\"")?.strip_suffix('"')
        })
        .expect("the document names its boundary");

    // The line break before a delimiter belongs to the delimiter, not to the part before it.
    let first = format!("--{boundary}\r\n");
    let between = format!("\r\n--{boundary}\r\n");
    let last = format!("\r\n--{boundary}--\r\n");
    let body = body.strip_prefix(&first).expect("the first delimiter follows the headers at once");
    let body = body.strip_suffix(&last).expect("the closing delimiter ends the document");
    assert!(!body.contains(&last), "a second closing delimiter");

    let part = |text| {
        let (headers, body) = split_headers(text);
        Part { headers, body: body.to_owned() }
    };
    Document { parts: body.split(&between).map(part).collect(), headers }
}

/// Headers up to the first empty line, and everything after it.
fn split_headers(text: &str) -> (Vec<(String, String)>, &str) {
    let (head, rest) = text.split_once("\r\n\r\n").expect("an empty line ends the headers");
    let header = |line: &str| {
        assert!(!line.contains(['\r', '\n']), "a header line ends in CRLF alone: {line:?}");
        let (name, value) = line.split_once(": ").expect("a header has a name and a value");
        (name.to_owned(), value.to_owned())
    };
    (head.split("\r\n").map(header).collect(), rest)
}

//! Secrets in URLs: user information and queries.

use std::ops::Range;

/// Finds user information and queries in a word.
pub(super) fn find(word: &str, at: usize, found: &mut Vec<Range<usize>>) {
    let mut piece_at = 0;
    for piece in pieces(word) {
        let first = piece.find("://").map_or(piece.len(), |colon| scheme_at(piece, colon));
        if let Some(user_info) = bare_user_info(&piece[..first]) {
            found.push(shifted(user_info, at + piece_at));
        }
        find_in_urls(piece, at + piece_at, found);
        piece_at += piece.len() + 1;
    }
}

/// Splits a word at the quotes of JSON, not at a quote within a password.
fn pieces(word: &str) -> impl Iterator<Item = &str> {
    let bytes = word.as_bytes();
    let is_edge = |byte: Option<&u8>| byte.is_none_or(|byte| b",:{}[]\\".contains(byte));
    let mut from = 0;
    let mut rest = memchr::memchr_iter(b'"', bytes);
    std::iter::from_fn(move || {
        if from > word.len() {
            return None;
        }
        let quote = rest.find(|&at| {
            is_edge(at.checked_sub(1).and_then(|before| bytes.get(before)))
                || is_edge(bytes.get(at + 1))
        });
        let end = quote.unwrap_or(word.len());
        let piece = &word[from..end];
        from = end + 1;
        Some(piece)
    })
}

fn find_in_urls(piece: &str, at: usize, found: &mut Vec<Range<usize>>) {
    let mut from = 0;
    while let Some(colon) = piece[from..].find("://") {
        let start = from + colon + "://".len();
        let next = piece[start..].find("://");
        let end = next.map_or(piece.len(), |colon| start + scheme_at(&piece[start..], colon));
        let address = &piece[start..end];
        let host = user_info_length(address).unwrap_or(0);
        if host > 0 {
            found.push(shifted(start..start + host, at));
        }
        if let Some(query) = address[host..].find('?') {
            let query = start + host + query + 1;
            found.push(shifted(query..end, at));
        }
        from = end;
    }
}

/// Returns the start of the scheme that ends at `colon`.
fn scheme_at(text: &str, colon: usize) -> usize {
    let scheme = text[..colon].bytes().rev().take_while(u8::is_ascii_alphanumeric).count();
    colon - scheme
}

/// Returns the length of the user information of a URL.
///
/// A password may hold an unescaped `/`, `?` or `@`, so it reaches to the last `@`. Where nothing before a
/// `/` marks a user, an `@` may also belong to the path: `https://host/name@v1`.
fn user_info_length(address: &str) -> Option<usize> {
    let end = address.rfind('@')?;
    let authority = address.split(['/', '?', '#']).next().unwrap_or_default();
    let has_user =
        authority.contains('@') || authority.contains(':') && !is_digest(&address[end + 1..]);
    has_user.then_some(end)
}

/// `user:password` before `@host`, without a scheme.
fn bare_user_info(text: &str) -> Option<Range<usize>> {
    let end = text.rfind('@')?;
    let host = &text[end + 1..];
    if is_digest(host) || !host.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '[') {
        return None;
    }
    let is_user = |byte: &u8| byte.is_ascii_alphanumeric() || b"._%+~-\\".contains(byte);
    let users = text[..end].match_indices(':').filter_map(|(colon, _)| {
        let length = text[..colon].bytes().rev().take_while(|byte| is_user(byte)).count();
        let user = &text[colon - length..colon];
        let before = text[..colon - length].bytes().next_back();
        let is_name = length > 0
            && !user.bytes().all(|byte| byte.is_ascii_digit())
            && !user.eq_ignore_ascii_case("mailto")
            && !matches!(before, Some(b'/' | b'@' | b':'));
        is_name.then_some(colon - length)
    });
    let start = { users }.next()?;
    (!text[start..end].ends_with(':')).then_some(start..end)
}

/// Returns true for the text after the `@` of an image.
fn is_digest(text: &str) -> bool {
    text.starts_with("sha256:") || text.starts_with("sha512:")
}

fn shifted(range: Range<usize>, by: usize) -> Range<usize> {
    range.start + by..range.end + by
}

//! What the HTTP status beside an error code, or else its name, shows of a refused request.

use crate::diagnose::error_codes::FoundCode;

/// Distance of a status from its code.
const NEAR: usize = 600;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// 400: the request itself.
    Content,
    /// 401 and 403.
    Permission,
    /// 409 and 412: another operation, or the state of a resource.
    State,
    /// 429.
    Rate,
    /// 5xx.
    Fault,
    Unknown,
}

/// Returns the kind of refusal; also true if the text shows its status.
pub(crate) fn refusal(text: &[u8], code: &FoundCode) -> (Refusal, bool) {
    match of_status(nearest_status(text, code.at)) {
        Refusal::Unknown => (of_name(&code.name), false),
        shown => (shown, true),
    }
}

const fn of_status(status: Option<u16>) -> Refusal {
    match status {
        Some(401 | 403) => Refusal::Permission,
        Some(409 | 412 | 423) => Refusal::State,
        Some(429) => Refusal::Rate,
        Some(400..=499) => Refusal::Content,
        Some(500..=599) => Refusal::Fault,
        _ => Refusal::Unknown,
    }
}

/// Parts of names, the most specific first.
const NAMES: &[(&[&str], Refusal)] = &[
    (&["Throttl", "TooManyRequests", "RateLimit"], Refusal::Rate),
    (
        &["Authoriz", "Unauthorized", "Forbidden", "AccessDenied", "Permission", "AADSTS"],
        Refusal::Permission,
    ),
    (
        &["Conflict", "InProgress", "Preempted", "Etag", "NotInSucceeded", "Canceled"],
        Refusal::State,
    ),
    (&["Internal", "ServerError", "Unavailable", "GatewayTimeout", "BadGateway"], Refusal::Fault),
    (
        &[
            "Invalid",
            "NotAllowed",
            "NotSupported",
            "Unsupported",
            "BadRequest",
            "Missing",
            "Required",
            "Exceed",
            "Duplicate",
            "TooLong",
            "TooMany",
            "TooSmall",
            "TooLarge",
            "Incompatible",
            "NotFound",
            "NotExist",
            "AlreadyExists",
            "InUse",
            "Disabled",
            "OutOfRange",
            "Mismatch",
            "Overlap",
            "Malformed",
            "NotEnabled",
            "NotRegistered",
            "Insufficient",
            "CannotBe",
            "Immutable",
        ],
        Refusal::Content,
    ),
];

fn of_name(name: &str) -> Refusal {
    let fits = |(parts, _): &&(&[&str], Refusal)| parts.iter().any(|part| name.contains(part));
    NAMES.iter().find(fits).map_or(Refusal::Unknown, |(_, refusal)| *refusal)
}

/// Returns the first status of a refused request, with its position.
pub(crate) fn first_refusal(text: &[u8]) -> Option<(usize, Refusal)> {
    statuses(text).min_by_key(|(at, _)| *at).map(|(at, status)| (at, of_status(Some(status))))
}

fn nearest_status(text: &[u8], at: usize) -> Option<u16> {
    let from = at.saturating_sub(NEAR);
    let near = statuses(&text[from..text.len().min(at + NEAR)]);
    near.min_by_key(|(end, _)| end.abs_diff(at - from)).map(|(_, status)| status)
}

/// Reads `StatusCode=400`, `RESPONSE 400`, `"status": "429"`, `status: 'Bad Request'`, `too many 500 error responses`.
fn statuses(text: &[u8]) -> impl Iterator<Item = (usize, u16)> {
    const LABELS: [&[u8]; 5] = [b"tatus", b"RESPONSE", b"HTTP", b"tato", b"too many"];
    let ends = LABELS.iter().flat_map(move |label| {
        memchr::memmem::find_iter(text, label).map(move |start| start + label.len())
    });
    ends.filter_map(|end| Some((end, status_at(&text[end..])?)))
}

fn status_at(rest: &[u8]) -> Option<u16> {
    const PHRASES: [(&str, u16); 7] = [
        ("bad request", 400),
        ("forbidden", 403),
        ("not found", 404),
        ("conflict", 409),
        ("too many requests", 429),
        ("internal server error", 500),
        ("service unavailable", 503),
    ];
    let is_mark =
        |byte: &u8| matches!(byte, b' ' | b'=' | b':' | b'"' | b'\'' | b'\\' | b'_' | b'/');
    let skip = |rest: &[u8]| rest.iter().take(4).take_while(|byte| is_mark(byte)).count();
    let mut rest = &rest[skip(rest)..];
    if rest.get(..4).is_some_and(|word| word.eq_ignore_ascii_case(b"code")) {
        rest = &rest[4..];
        rest = &rest[skip(rest)..];
    }
    let digits = rest.iter().take(4).take_while(|byte| byte.is_ascii_digit()).count();
    let number =
        (digits == 3).then(|| std::str::from_utf8(&rest[..3]).ok()?.parse().ok()).flatten();
    let starts = |phrase: &str| {
        rest.get(..phrase.len()).is_some_and(|word| word.eq_ignore_ascii_case(phrase.as_bytes()))
    };
    number
        .filter(|status| (400..=599).contains(status))
        .or_else(|| PHRASES.iter().find(|(phrase, _)| starts(phrase)).map(|(_, status)| *status))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, name: &str) -> (Refusal, bool) {
        let at = text.find(name).unwrap();
        let name = name.to_owned();
        refusal(text.as_bytes(), &FoundCode { name, at, is_labeled: true })
    }

    #[test]
    fn status_beside_the_code_decides() {
        for (text, expected) in [
            ("StatusCode=400 Code=\"Zzzzzz\"", Refusal::Content),
            ("RESPONSE 403: 403 Forbidden\nERROR CODE: Zzzzzz", Refusal::Permission),
            ("Status=409 Code=\"Zzzzzz\"", Refusal::State),
            ("{\"status\": \"429\", \"code\": \"Zzzzzz\"}", Refusal::Rate),
            ("Code=\"Zzzzzz\" status code 503", Refusal::Fault),
            ("status: 'Bad Request'. (Zzzzzz)", Refusal::Content),
        ] {
            assert_eq!(of(text, "Zzzzzz"), (expected, true), "{text}");
        }
        assert_eq!(of("StatusCode=200 Zzzzzz", "Zzzzzz"), (Refusal::Unknown, false));
        let nearest = "StatusCode=500 and then StatusCode=400 Zzzzzz";
        assert_eq!(of(nearest, "Zzzzzz").0, Refusal::Content);
    }

    #[test]
    fn first_status_of_a_refusal_is_found_without_a_code() {
        for (text, expected) in [
            ("Operation failed with status: 'Bad Request'. Details: x", Some(Refusal::Content)),
            ("(Caused by ResponseError('too many 500 error responses'))", Some(Refusal::Fault)),
            ("StatusCode=0 StatusCode=409 StatusCode=500", Some(Refusal::State)),
            ("StatusCode=200, status: Succeeded", None),
        ] {
            assert_eq!(first_refusal(text.as_bytes()).map(|(_, found)| found), expected, "{text}");
        }
    }

    #[test]
    fn name_decides_without_a_status() {
        for (name, expected) in [
            ("PoolThrottled", Refusal::Rate),
            ("LinkedAuthorizationX", Refusal::Permission),
            ("UpdateInProgress", Refusal::State),
            ("InternalX", Refusal::Fault),
            ("InvalidThing", Refusal::Content),
            ("Whatever", Refusal::Unknown),
        ] {
            assert_eq!(of(name, name), (expected, false), "{name}");
        }
    }
}

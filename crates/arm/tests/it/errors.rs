//! Errors of failed calls: their messages, metrics and whether to wait.

use http::Method;
use mooring_arm::identity::IdentityError;
use mooring_arm::{AzureError, CallInfo, Error, ErrorKind, TransportError, WriteStatus};

fn refusal(status: u16, code: &str) -> AzureError {
    AzureError {
        status,
        code: Some(code.to_owned()),
        message: "m".to_owned(),
        ..AzureError::default()
    }
}

fn error(kind: ErrorKind) -> Error {
    let call = CallInfo { method: Method::PUT, path: "/x".to_owned(), ..CallInfo::default() };
    Error { kind, write_status: WriteStatus::NotApplied, call: Box::new(call) }
}

#[test]
fn error_kinds_have_message_reason_and_throttling() {
    let throttling = || ErrorKind::Throttled { refusal: refusal(429, "T"), retry_after: None };
    for (kind, message, reason, throttled) in [
        (ErrorKind::NotFound(refusal(404, "N")), "HTTP 404 N: m", "NotFound", false),
        (ErrorKind::Unauthorized(refusal(401, "U")), "HTTP 401 U: m", "Unauthorized", false),
        (ErrorKind::Forbidden(refusal(403, "F")), "HTTP 403 F: m", "Forbidden", false),
        (ErrorKind::Conflict(refusal(409, "C")), "HTTP 409 C: m", "Conflict", false),
        (ErrorKind::Locked(refusal(409, "L")), "HTTP 409 L: m", "Locked", false),
        (
            ErrorKind::PreconditionFailed(refusal(412, "P")),
            "HTTP 412 P: m",
            "PreconditionFailed",
            false,
        ),
        (throttling(), "HTTP 429 T: m", "Throttled", true),
        (ErrorKind::Refused(refusal(400, "R")), "HTTP 400 R: m", "Refused", false),
        (ErrorKind::Server(refusal(500, "S")), "HTTP 500 S: m", "ServerError", false),
        (ErrorKind::Transport(TransportError::unknown("cut")), "cut", "NoAnswer", false),
        (ErrorKind::Deadline("a response"), "timed out waiting for a response", "Deadline", false),
        (
            ErrorKind::Identity(IdentityError::Setup("no TLS".to_owned())),
            "failed to set up the HTTP client: no TLS",
            "NoToken",
            false,
        ),
        (
            ErrorKind::BudgetFull,
            "too many calls are waiting for the request budget",
            "BudgetFull",
            true,
        ),
        (
            ErrorKind::Malformed("not a list".to_owned()),
            "invalid response from Azure: not a list",
            "Malformed",
            false,
        ),
        (
            ErrorKind::ForeignLink("https://b".to_owned()),
            "invalid response from Azure: link to another host, https://b",
            "ForeignLink",
            false,
        ),
        (ErrorKind::Invalid("no name".to_owned()), "no name", "Invalid", false),
    ] {
        let is_refusal = message.starts_with("HTTP");
        let error = error(kind);
        assert_eq!(error.to_string(), format!("{message} (PUT /x)"));
        assert_eq!((error.reason(), error.is_throttled()), (reason, throttled));
        assert_eq!(
            (error.refusal().is_some(), error.is_not_found()),
            (is_refusal, reason == "NotFound")
        );
    }
}

#[test]
fn error_names_attempts_write_status_and_correlation_id() {
    let mut error = error(ErrorKind::Invalid("why".to_owned()));
    error.call.attempts = 1;
    error.write_status = WriteStatus::Unknown;
    assert_eq!(error.to_string(), "why (PUT /x, may have been applied)");
    error.call.attempts = 2;
    "c-1".clone_into(&mut error.call.correlation_id);
    assert_eq!(
        error.to_string(),
        "why (PUT /x, 2 attempts, may have been applied, correlation id c-1)"
    );
    error.call.path.clear();
    assert_eq!(error.to_string(), "why");
}

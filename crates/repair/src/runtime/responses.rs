//! Maps responses of Azure Resource Manager to readings and results.

use jiff::SignedDuration;
use mooring_arm::{Error, ErrorKind, OperationOutcome, Started, WriteStatus};
use serde_json::Value;

use mooring_workflow::{EffectResult, Reading};

/// Returns the reading of a failed read.
pub(super) fn missing<T>(error: &Error) -> Reading<T> {
    let code = || {
        let refusal = error.refusal();
        let code = refusal.and_then(|refusal| refusal.code.clone());
        let code = code.unwrap_or_else(|| error.reason().to_owned());
        match refusal.and_then(mooring_arm::AzureError::missing_permission) {
            Some(right) => {
                let action = mooring_redact::identifier(&right.action);
                format!("{code}: missing permission {action}")
            }
            None => code,
        }
    };
    match &error.kind {
        ErrorKind::NotFound(_) => Reading::NotFound,
        // A policy denies the request, not the caller; a rejected token may be accepted later.
        ErrorKind::Forbidden(refusal) if !refusal.has_code("RequestDisallowedByPolicy") => {
            Reading::Denied(code())
        }
        _ if error.is_throttled() => Reading::Throttled(error.to_string()),
        _ => Reading::Failed(error.to_string()),
    }
}

/// Returns true if the cluster was not found. A missing subscription, API version or host is an error instead.
pub(super) fn no_cluster(error: &Error) -> bool {
    const CODES: [&str; 3] = ["ResourceNotFound", "ResourceGroupNotFound", "NotFound"];
    let has_code = |code: &&str| error.refusal().is_some_and(|refusal| refusal.has_code(code));
    error.is_not_found() && CODES.iter().any(has_code)
}

/// Returns true without an accepted token, and for a subscription that does not exist.
pub(super) fn is_misconfigured(error: &Error) -> bool {
    matches!(error.kind, ErrorKind::Identity(_) | ErrorKind::Unauthorized(_))
        || (error.is_not_found() && !no_cluster(error))
}

/// Returns true if an endpoint does not exist: 404, or 400 with a code for a retired or unknown api-version. Any other 400 is
/// an error in the request.
pub(super) fn is_unavailable(error: &Error) -> bool {
    const CODES: [&str; 2] = ["NoRegisteredProviderFound", "InvalidApiVersionParameter"];
    let is_retired = |refusal: &mooring_arm::AzureError| {
        refusal.status == 400 && CODES.iter().any(|code| refusal.has_code(code))
    };
    error.is_not_found() || error.refusal().is_some_and(is_retired)
}

pub(super) fn read<T>(
    result: Result<Value, Error>,
    parse: impl FnOnce(&Value) -> Option<T>,
) -> Reading<T> {
    match result {
        Ok(value) => Reading::of(parse(&value), "invalid response"),
        Err(error) => missing(&error),
    }
}

/// Returns all entries of a list. An entry that cannot be parsed makes the list unknown: without it, something that exists
/// would seem not to.
pub(super) fn listed<T>(
    result: Result<Vec<Value>, Error>,
    parse: impl Fn(&Value) -> Option<T>,
) -> Reading<Vec<T>> {
    match result {
        Ok(list) => Reading::of(list.iter().map(parse).collect(), "invalid entry in the list"),
        Err(error) => missing(&error),
    }
}

pub(super) fn began(result: Result<Started, Error>) -> EffectResult {
    match result {
        Ok(Started::Running(operation)) => {
            EffectResult::Started { token: serde_json::to_string(&operation).unwrap_or_default() }
        }
        Ok(Started::Done(OperationOutcome::Succeeded(_))) => EffectResult::Done,
        Ok(Started::Done(outcome)) => {
            EffectResult::Unknown { why: format!("it ended with {outcome:?}") }
        }
        Err(error) => refused(&error),
    }
}

pub(super) fn refused(error: &Error) -> EffectResult {
    // A conflict after a lost response may be with our own request: only a read shows it.
    if error.write_status == WriteStatus::Unknown {
        return EffectResult::Unknown { why: error.to_string() };
    }
    let retry_after = match &error.kind {
        ErrorKind::Throttled { retry_after: Some(pause), .. } => {
            SignedDuration::try_from(*pause).ok()
        }
        _ => None,
    };
    match error.refusal() {
        Some(refusal) => EffectResult::Refused {
            status: refusal.status,
            code: refusal.code.clone().unwrap_or_else(|| error.reason().to_owned()),
            message: refusal.message.clone(),
            retry_after,
        },
        None if matches!(error.kind, ErrorKind::Invalid(_)) => invalid(&error.to_string()),
        // Nothing was sent: network, token, deadline or request budget.
        None => EffectResult::refused(503, error.reason(), error.to_string()),
    }
}

pub(super) fn invalid(why: &str) -> EffectResult {
    EffectResult::refused(400, "Invalid", why)
}

#[cfg(test)]
mod tests {
    use mooring_arm::AzureError;

    use super::*;

    #[test]
    fn permission_is_missing_only_if_azure_denies_access() {
        let refusal = |code: &str| AzureError { code: Some(code.into()), ..AzureError::default() };
        let denied = |kind| {
            let error = Error { kind, write_status: WriteStatus::NotApplied, call: Box::default() };
            matches!(missing::<()>(&error), Reading::Denied(_))
        };
        assert!(denied(ErrorKind::Forbidden(refusal("AuthorizationFailed"))));
        assert!(denied(ErrorKind::Forbidden(refusal("LinkedAuthorizationFailed"))));
        assert!(!denied(ErrorKind::Forbidden(refusal("RequestDisallowedByPolicy"))));
        assert!(!denied(ErrorKind::Unauthorized(refusal("InvalidAuthenticationToken"))));
        let refusal = refusal("TooManyRequests");
        assert!(!denied(ErrorKind::Throttled { refusal, retry_after: None }));
        assert!(!denied(ErrorKind::Deadline("an answer")));
    }

    #[test]
    fn retired_version_is_an_endpoint_that_does_not_exist() {
        for (status, code, unavailable) in [
            (404, "NotFound", true),
            (400, "NoRegisteredProviderFound", true),
            (400, "InvalidApiVersionParameter", true),
            (400, "noregisteredproviderfound", true),
            (400, "BadRequest", false),
            (400, "MissingApiVersionParameter", false),
            (400, "", false),
            (409, "NoRegisteredProviderFound", false),
            (403, "AuthorizationFailed", false),
            (429, "TooManyRequests", false),
        ] {
            let code_sent = (!code.is_empty()).then(|| code.to_owned());
            let refusal = AzureError { status, code: code_sent, ..AzureError::default() };
            let kind = match status {
                404 => ErrorKind::NotFound(refusal),
                403 => ErrorKind::Forbidden(refusal),
                429 => ErrorKind::Throttled { refusal, retry_after: None },
                _ => ErrorKind::Refused(refusal),
            };
            let error = Error { kind, write_status: WriteStatus::NotApplied, call: Box::default() };
            assert_eq!(is_unavailable(&error), unavailable, "{status} {code:?}");
        }
    }

    #[test]
    fn cluster_is_absent_only_if_azure_returns_not_found() {
        for (code, absent) in [
            (Some("ResourceNotFound"), true),
            (Some("ResourceGroupNotFound"), true),
            (Some("NotFound"), true),
            (Some("SubscriptionNotFound"), false),
            (Some("InvalidResourceType"), false),
            (None, false),
        ] {
            let refusal = AzureError { code: code.map(str::to_owned), ..AzureError::default() };
            let kind = ErrorKind::NotFound(refusal);
            let error = Error { kind, write_status: WriteStatus::NotApplied, call: Box::default() };
            assert_eq!(no_cluster(&error), absent, "{code:?}");
        }
    }

    #[test]
    fn list_with_an_invalid_entry_is_unknown() {
        let list = |texts: &[&str]| -> Reading<Vec<String>> {
            let entry = |text: &&str| serde_json::from_str(text).unwrap();
            listed(Ok(texts.iter().map(entry).collect()), |raw| {
                raw["name"].as_str().map(str::to_owned)
            })
        };
        assert_eq!(list(&[]), Reading::Known(Vec::new()));
        let names = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(list(&[r#"{"name": "a"}"#, r#"{"name": "b"}"#]), Reading::Known(names));
        let unknown = list(&[r#"{"name": "a"}"#, r#"{"name": 7}"#]);
        assert_eq!(unknown, Reading::Failed("invalid entry in the list".to_owned()));
    }
}

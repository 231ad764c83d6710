//! Reasons why a file is left out.

use mooring_arm::{Error, ErrorKind};
use mooring_controller::run::ApiError;

pub(super) fn of_azure(error: &Error) -> String {
    match &error.kind {
        ErrorKind::NotFound(_) => "not found in Azure".to_owned(),
        ErrorKind::Forbidden(refusal) => match refusal.missing_permission() {
            Some(missing) => format!("not permitted: {} is missing", missing.action),
            None => "not permitted".to_owned(),
        },
        ErrorKind::Unauthorized(_) => "not permitted: Azure does not accept the token".to_owned(),
        _ => format!("Azure was not read: {error}"),
    }
}

pub(super) fn of_cluster(error: &ApiError) -> String {
    match error.status {
        Some(403) => "not permitted".to_owned(),
        Some(404) => "not found".to_owned(),
        _ => format!("the Kubernetes API was not read: {}", error.what),
    }
}

#[cfg(test)]
mod tests {
    use mooring_arm::{AzureError, CallInfo, WriteStatus};

    use super::*;

    #[test]
    fn reasons_name_what_is_missing() {
        let azure = |kind| {
            let call = Box::new(CallInfo::default());
            of_azure(&Error { kind, write_status: WriteStatus::NotApplied, call })
        };
        let refusal = AzureError::default;
        assert_eq!(azure(ErrorKind::NotFound(refusal())), "not found in Azure");
        assert_eq!(azure(ErrorKind::Forbidden(refusal())), "not permitted");
        let token = "not permitted: Azure does not accept the token";
        assert_eq!(azure(ErrorKind::Unauthorized(refusal())), token);
        assert!(azure(ErrorKind::BudgetFull).starts_with("Azure was not read: "));
        let error = |status| ApiError { status, what: "x".to_owned(), is_untrusted: false };
        let cluster = |status| of_cluster(&error(status));
        assert_eq!(cluster(Some(403)), "not permitted");
        assert_eq!(cluster(Some(404)), "not found");
        assert_eq!(cluster(Some(500)), "the Kubernetes API was not read: x");
    }
}

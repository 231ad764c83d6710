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

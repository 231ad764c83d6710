//! The failure record and the counts.

use std::sync::Arc;
use std::time::Duration;

use mooring_controller::run::ApiError;
use mooring_nodes::ControllerState;
use mooring_nodes::record::{RecordDocument, counts};
use mooring_workflow::Reading;
use mooring_workflow::published::{Source, SourceName, SourceState};
use serde_json::Value;

/// The record is as current as the leader that writes it.
pub(super) fn parse_record(
    read: Result<Value, ApiError>,
    took: Duration,
    controller: &ControllerState,
    warnings: &mut Vec<String>,
) -> (Reading<Arc<RecordDocument>>, Source) {
    let record = match reading(read.map(Some)) {
        Reading::Known(object) => match RecordDocument::from_config_map(&object) {
            Ok(document) => Reading::Known(Arc::new(document)),
            Err(error) => Reading::Failed(error.to_string()),
        },
        unread => unread.map(|_| Arc::default()),
    };
    let (state, error) = match &record {
        Reading::Known(_) if controller.is_running() => (SourceState::Read, None),
        Reading::Known(_) => (SourceState::Stale, None),
        Reading::NotFound => (SourceState::Absent, None),
        Reading::Denied(why) | Reading::Throttled(why) | Reading::Failed(why) => {
            (SourceState::Failed, Some(why.clone()))
        }
        Reading::NotAsked => (SourceState::NotAsked, None),
    };
    warnings.extend(error.iter().map(|why| format!("the failure record was not read: {why}")));
    let (at, seconds) = (controller.renewed_at, Some(took.as_secs_f64()));
    (record, Source { at, seconds, state, error, ..Source::new(SourceName::Record) })
}

/// Returns none without counts: failures that the record does not keep are then not known.
pub(super) fn parse_counts(
    read: Result<Value, ApiError>,
) -> Result<Option<counts::CountsDocument>, String> {
    match read {
        Ok(object) => {
            let document = counts::CountsDocument::from_config_map(&object);
            document.map(Some).map_err(|error| error.to_string())
        }
        Err(error) if error.status == Some(404) => Ok(None),
        Err(error) => Err(error.what),
    }
}

/// Returns the reading of a request to the API server.
pub(crate) fn reading<T>(read: Result<Option<T>, ApiError>) -> Reading<T> {
    match read {
        Ok(Some(value)) => Reading::Known(value),
        Ok(None) | Err(ApiError { status: Some(404), .. }) => Reading::NotFound,
        Err(ApiError { status: Some(401 | 403), what, .. }) => Reading::Denied(what),
        Err(error) => Reading::Failed(error.what),
    }
}

/// Returns a list as a reading; a failed one is a warning.
pub(super) fn or_warning<T>(
    what: &str,
    read: Result<Option<Vec<T>>, ApiError>,
    warnings: &mut Vec<String>,
) -> Reading<Vec<T>> {
    warnings
        .extend(read.as_ref().err().map(|error| format!("{what} were not read: {}", error.what)));
    reading(read)
}

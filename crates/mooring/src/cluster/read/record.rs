//! The failure record and the counts.

use std::time::Duration;

use mooring_controller::record::RecordDocument;
use mooring_controller::record::counts;
use mooring_controller::run::ApiError;
use mooring_inventory::ControllerState;
use mooring_workflow::published::{Source, SourceName, SourceState};
use serde_json::Value;

/// The record is as current as the leader that writes it.
pub(super) fn parse_record(
    read: Result<String, ApiError>,
    took: Duration,
    controller: &ControllerState,
    warnings: &mut Vec<String>,
) -> (Option<RecordDocument>, Source) {
    let source = |state| Source {
        at: controller.renewed_at,
        seconds: Some(took.as_secs_f64()),
        state,
        ..Source::new(SourceName::Record)
    };
    let failed = |why: String, warnings: &mut Vec<String>| {
        warnings.push(format!("the failure record was not read: {why}"));
        (None, Source { error: Some(why), ..source(SourceState::Failed) })
    };
    match read {
        Ok(text) => {
            let object: Value = serde_json::from_str(&text).unwrap_or_default();
            match RecordDocument::from_config_map(&object) {
                Ok(document) => {
                    let is_current = controller.is_running();
                    let state = if is_current { SourceState::Read } else { SourceState::Stale };
                    (Some(document), source(state))
                }
                Err(error) => failed(error.to_string(), warnings),
            }
        }
        Err(error) if error.status == Some(404) => (None, source(SourceState::Absent)),
        Err(error) => failed(error.what, warnings),
    }
}

/// Returns none without counts: failures that the record does not keep are then not known.
pub(super) fn parse_counts(
    read: Result<String, ApiError>,
) -> Result<Option<counts::CountsDocument>, String> {
    match read {
        Ok(text) => {
            let object = serde_json::from_str(&text).unwrap_or_default();
            let document = counts::CountsDocument::from_config_map(&object);
            document.map(Some).map_err(|error| error.to_string())
        }
        Err(error) if error.status == Some(404) => Ok(None),
        Err(error) => Err(error.what),
    }
}

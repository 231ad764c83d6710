//! Reads that a run starts with.

use super::ids::missing;
use crate::cluster::view::{OperatorView, Query};

/// Returns other failed reads, which are skipped and reported at the end.
pub(crate) fn unread(view: &OperatorView) -> Vec<String> {
    let mut unread: Vec<String> = view
        .bindings
        .iter()
        .filter_map(|(name, reading)| missing(&Query::Binding(name.clone()), Some(reading)))
        .collect();
    unread.extend(missing(&Query::Release, view.release.as_ref()));
    unread.extend(missing(&Query::ReleaseObject, view.made.as_ref()));
    unread.extend(missing(&Query::Namespace, view.namespace.as_ref()));
    unread
}

#[cfg(test)]
mod tests {
    use mooring_workflow::Reading;

    use super::*;

    #[test]
    fn failed_reads_are_reported_with_their_reasons() {
        let view = OperatorView {
            bindings: [("b".to_owned(), Reading::Denied("binding".to_owned()))].into(),
            release: Some(Reading::Failed("release".to_owned())),
            made: Some(Reading::Throttled("manifest".to_owned())),
            namespace: Some(Reading::Failed("namespace".to_owned())),
            ..OperatorView::default()
        };
        let unread = unread(&view);
        assert_eq!(unread.len(), 4, "{unread:?}");
        for (line, reason) in unread.iter().zip(["binding", "release", "manifest", "namespace"]) {
            assert!(line.contains(reason), "{reason}: {line}");
        }
    }

    #[test]
    fn absent_object_is_not_a_failed_read() {
        let view = OperatorView {
            bindings: [("b".to_owned(), Reading::NotFound)].into(),
            release: Some(Reading::Known(Vec::new())),
            namespace: Some(Reading::NotFound),
            ..OperatorView::default()
        };
        assert_eq!(unread(&view), Vec::<String>::new());
    }
}

//! Reads that a run starts with.

use crate::cluster::unreadable::{READ_MADE, READ_NAMESPACE, READ_RELEASE, binding, missing};
use crate::cluster::view::OperatorView;

/// Returns other failed reads, which are skipped and reported at the end.
pub(crate) fn unread(view: &OperatorView) -> Vec<String> {
    let mut unread: Vec<String> = view
        .bindings
        .entries()
        .filter_map(|(name, reading)| missing(("get", &binding(name)), Some(reading)))
        .collect();
    unread.extend(missing(READ_RELEASE, view.release.get()));
    unread.extend(missing(READ_MADE, view.made.get()));
    unread.extend(missing(READ_NAMESPACE, view.namespace.get()));
    unread
}

#[cfg(test)]
mod tests {
    use mooring_workflow::Reading;

    use super::*;

    #[test]
    fn failed_reads_are_reported_with_their_reasons() {
        let view = OperatorView {
            release: Reading::Failed("release".to_owned()).into(),
            made: Reading::Throttled("manifest".to_owned()).into(),
            namespace: Reading::Failed("namespace".to_owned()).into(),
            ..OperatorView::default()
        };
        view.bindings.add("b", Reading::Denied("binding".to_owned()));
        let unread = unread(&view);
        assert_eq!(unread.len(), 4, "{unread:?}");
        for (line, reason) in unread.iter().zip(["binding", "release", "manifest", "namespace"]) {
            assert!(line.contains(reason), "{reason}: {line}");
        }
    }

    #[test]
    fn absent_object_is_not_a_failed_read() {
        let view = OperatorView {
            release: Reading::Known(Vec::new()).into(),
            namespace: Reading::NotFound.into(),
            ..OperatorView::default()
        };
        view.bindings.add("b", Reading::NotFound);
        assert_eq!(unread(&view), Vec::<String>::new());
    }
}

//! Gaps between log entries.

use jiff::{SignedDuration, Timestamp};

use crate::model::timeline::{Gap, Span, SpanKind};

const MIN_GAP: SignedDuration = SignedDuration::from_secs(2);

/// Returns the gaps between steps and boot instants. Spans that only surround or watch others do not count, except for
/// the start and end of the agent and the scripts.
pub(crate) fn find(spans: &[Span]) -> Vec<Gap> {
    let mut pieces: Vec<(Timestamp, Timestamp, String, String)> = Vec::new();
    for span in spans {
        let name = span.short_name();
        match span.kind {
            SpanKind::Stage | SpanKind::Beside => {}
            SpanKind::Boot | SpanKind::Step => {
                pieces.push((span.start, span.end, name.to_owned(), name.to_owned()));
            }
            SpanKind::Agent | SpanKind::Run => {
                let (begin, end) = (format!("start of {name}"), format!("end of {name}"));
                pieces.push((span.start, span.start, begin.clone(), begin));
                pieces.push((span.end, span.end, end.clone(), end));
            }
        }
    }
    pieces.sort();
    let mut gaps = Vec::new();
    let mut last: Option<(Timestamp, String)> = None;
    for (start, end, as_next, as_last) in pieces {
        match &last {
            Some((until, after)) if start.duration_since(*until) >= MIN_GAP => {
                gaps.push(Gap { start: *until, end: start, after: after.clone(), before: as_next });
            }
            _ => {}
        }
        if last.as_ref().is_none_or(|(until, _)| end >= *until) {
            last = Some((end, as_last));
        }
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tree::build;
    use crate::model::tree::tests::span;

    #[test]
    fn gap_has_the_steps_before_and_after_it() {
        let spans = build(vec![
            span("kernel", SpanKind::Boot, 0, 0),
            span("cloud-init final", SpanKind::Boot, 12, 12),
            span("AKS.CSE.cse_start", SpanKind::Run, 79, 129),
            span("AKS.CSE.a", SpanKind::Step, 80, 100),
            span("AKS.CSE.b", SpanKind::Step, 101, 110),
            span("wait", SpanKind::Beside, 0, 200),
        ]);
        let found: Vec<_> = find(&spans)
            .into_iter()
            .map(|gap| format!("{} .. {}: {}", gap.after, gap.before, gap.seconds()))
            .collect();
        assert_eq!(
            found,
            [
                "kernel .. cloud-init final: 12",
                "cloud-init final .. start of cse_start: 67",
                "b .. end of cse_start: 19",
            ]
        );
    }

    #[test]
    fn gap_starts_at_the_end_of_the_outer_step() {
        let spans = build(vec![
            span("AKS.CSE.outer", SpanKind::Step, 0, 100),
            span("AKS.CSE.outer.inner", SpanKind::Step, 10, 20),
            span("AKS.CSE.outer.last", SpanKind::Step, 30, 40),
            span("AKS.CSE.next", SpanKind::Step, 101, 110),
            span("AKS.CSE.late", SpanKind::Step, 112, 113),
            span("AKS.CSE.later", SpanKind::Step, 120, 121),
        ]);
        let gaps = find(&spans);
        let found: Vec<_> = gaps.iter().map(|gap| (&*gap.after, &*gap.before)).collect();
        assert_eq!(found, [("next", "late"), ("late", "later")]);
        assert_eq!(gaps[0].end.duration_since(gaps[0].start), MIN_GAP, "the shortest that counts");
    }
}

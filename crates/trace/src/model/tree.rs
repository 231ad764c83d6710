//! Nests spans and assigns them to lanes.

use jiff::{SignedDuration, Timestamp};

use super::timeline::{Span, SpanKind, SpanStatus};

/// Timestamps are cut to milliseconds, so a part may seem to end after its parent.
const ROUNDING: SignedDuration = SignedDuration::from_millis(2);

/// Sorts spans, parents before their children, and sets parents, depths and lanes.
pub(crate) fn build(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by(|a, b| {
        (a.start, std::cmp::Reverse(a.end), a.kind, a.name.len(), &a.name).cmp(&(
            b.start,
            std::cmp::Reverse(b.end),
            b.kind,
            b.name.len(),
            &b.name,
        ))
    });
    for index in 0..spans.len() {
        let parent = parent(&spans, index);
        spans[index].parent = parent;
        spans[index].depth = parent.map_or(0, |parent| spans[parent].depth + 1);
    }
    assign_lanes(&mut spans);
    spans
}

/// Returns the smallest span that contains this one. Spans that only watch contain nothing.
fn parent(spans: &[Span], index: usize) -> Option<usize> {
    let inner = &spans[index];
    let may_hold = |outer: &Span| match inner.kind {
        SpanKind::Step => {
            matches!(outer.kind, SpanKind::Step | SpanKind::Run | SpanKind::Agent | SpanKind::Stage)
        }
        SpanKind::Run => matches!(outer.kind, SpanKind::Agent | SpanKind::Stage),
        SpanKind::Stage => outer.kind == SpanKind::Stage,
        _ => false,
    };
    let holds = |outer: &Span| {
        outer.start <= inner.start
            && inner.start < outer.end
            && inner.end.duration_since(outer.end) <= ROUNDING
    };
    let candidates =
        spans[..index].iter().enumerate().filter(|(_, outer)| may_hold(outer) && holds(outer));
    // Of two of the same length, the later one is the child.
    candidates
        .min_by_key(|(at, outer)| (outer.end.duration_since(outer.start), std::cmp::Reverse(*at)))
        .map(|(at, _)| at)
}

/// On a lane, spans do not overlap partially. Boot, bootstrap and concurrent spans have separate lanes.
fn assign_lanes(spans: &mut [Span]) {
    let mut first = 0;
    let groups = [
        &[SpanKind::Boot][..],
        &[SpanKind::Agent, SpanKind::Run, SpanKind::Step],
        &[SpanKind::Beside],
        &[SpanKind::Stage],
    ];
    for group in groups {
        // Ends of the open spans on each lane.
        let mut lanes: Vec<Vec<Timestamp>> = Vec::new();
        for span in spans.iter_mut().filter(|span| group.contains(&span.kind)) {
            if span.status == SpanStatus::Instant {
                span.lane = first;
                continue;
            }
            let fits = lanes.iter_mut().position(|open| {
                while open.last().is_some_and(|end| *end <= span.start) {
                    open.pop();
                }
                open.last().is_none_or(|end| span.end <= *end)
            });
            let lane = fits.unwrap_or_else(|| {
                lanes.push(Vec::new());
                lanes.len() - 1
            });
            lanes[lane].push(span.end);
            span.lane = first + lane;
        }
        first += lanes.len().max(1);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::model::timeline::SpanSource;

    pub(crate) fn span(name: &str, kind: SpanKind, from: i64, to: i64) -> Span {
        let at = |second| Timestamp::from_second(1_700_000_000 + second).unwrap();
        let status = if from == to && kind == SpanKind::Boot {
            SpanStatus::Instant
        } else {
            SpanStatus::Done
        };
        Span {
            name: name.to_owned(),
            kind,
            start: at(from),
            end: at(to),
            status,
            sources: vec![SpanSource::Event],
            parent: None,
            depth: 0,
            lane: 0,
            message: String::new(),
            comparison: None,
        }
    }

    #[test]
    fn parent_is_the_smallest_enclosing_span_except_watchers() {
        let spans = build(vec![
            span("inner", SpanKind::Step, 4, 6),
            span("outer", SpanKind::Step, 3, 8),
            span("run", SpanKind::Run, 2, 20),
            span("agent", SpanKind::Agent, 1, 21),
            span("wait", SpanKind::Beside, 0, 22),
            span("across", SpanKind::Step, 7, 12),
            span("at its end", SpanKind::Step, 6, 6),
        ]);
        let parent = |name: &str| {
            let one = spans.iter().find(|span| span.name == name).unwrap();
            one.parent.map(|at| spans[at].name.as_str())
        };
        assert_eq!(parent("inner"), Some("outer"));
        assert_eq!(parent("outer"), Some("run"));
        assert_eq!(parent("run"), Some("agent"));
        assert_eq!(parent("across"), Some("run"));
        assert_eq!(parent("at its end"), Some("outer"), "inner ended at this time");
        assert_eq!((parent("agent"), parent("wait")), (None, None));
        let lane = |name: &str| spans.iter().find(|span| span.name == name).unwrap().lane;
        assert_eq!((lane("inner"), lane("agent")), (1, 1));
        assert_eq!((lane("outer"), lane("across")), (1, 2), "they overlap");
        assert_eq!(lane("wait"), 3);
    }
}

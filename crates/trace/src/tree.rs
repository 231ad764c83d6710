//! Nests spans and assigns them to lanes; finds the critical path, and the gaps between log entries.

use jiff::{SignedDuration, Timestamp};

use crate::timeline::{Gap, Span, SpanKind, SpanStatus, Timeline};

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

/// Walks back from the end: the span that ended last, then the one that ended last before that started, and so on; the
/// same within each of them. The result is in order of time.
pub(crate) fn critical_path(spans: &[Span]) -> Vec<usize> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); spans.len()];
    let mut top = Vec::new();
    for (index, span) in spans.iter().enumerate() {
        match span.parent {
            Some(parent) => children[parent].push(index),
            None if span.kind != SpanKind::Beside => top.push(index),
            None => {}
        }
    }
    let mut chain = Vec::new();
    let mut work = vec![(top, Timestamp::MAX)];
    while let Some((mut level, mut until)) = work.pop() {
        level.sort_by_key(|&index| (spans[index].end, spans[index].start));
        for index in level.into_iter().rev() {
            let span = &spans[index];
            if span.end <= until && span.start < span.end {
                chain.push(index);
                until = span.start;
                work.push((std::mem::take(&mut children[index]), span.end));
            }
        }
    }
    chain.sort_unstable();
    chain
}

/// Duration of each span without the spans of the path within it.
pub(crate) fn own_seconds(spans: &[Span], chain: &[usize]) -> Vec<f64> {
    let mut own: Vec<f64> = spans.iter().map(Span::seconds).collect();
    for &index in chain {
        if let Some(parent) = spans[index].parent {
            own[parent] = (own[parent] - spans[index].seconds()).max(0.0);
        }
    }
    own
}

/// Steps of the critical path with their own time in seconds, longest first, without the agent and the scripts as a
/// whole.
pub(crate) fn links(timeline: &Timeline) -> Vec<(usize, f64)> {
    let Timeline { spans, chain, .. } = timeline;
    let own = own_seconds(spans, chain);
    let is_link = |index: &usize| {
        !matches!(spans[*index].kind, SpanKind::Stage | SpanKind::Agent | SpanKind::Run)
    };
    let links = chain.iter().copied().filter(is_link);
    let mut links: Vec<(usize, f64)> = links.map(|index| (index, own[index])).collect();
    links.sort_by(|a, b| b.1.total_cmp(&a.1));
    links
}

const MIN_GAP: SignedDuration = SignedDuration::from_secs(2);

/// Returns the gaps between steps and boot instants. Spans that only surround or watch others do not count, except for
/// the start and end of the agent and the scripts.
pub(crate) fn gaps(spans: &[Span]) -> Vec<Gap> {
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
    use crate::timeline::SpanSource;

    fn span(name: &str, kind: SpanKind, from: i64, to: i64) -> Span {
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

    #[test]
    fn concurrent_steps_count_by_latest_end() {
        let spans = build(vec![
            span("run", SpanKind::Run, 0, 30),
            span("first", SpanKind::Step, 0, 10),
            span("beside-first", SpanKind::Step, 1, 8),
            span("second", SpanKind::Step, 10, 25),
            span("part", SpanKind::Step, 11, 20),
            span("short", SpanKind::Step, 12, 14),
            span("wait", SpanKind::Beside, 0, 60),
        ]);
        let chain = critical_path(&spans);
        let names: Vec<_> = chain.iter().map(|&index| spans[index].name.as_str()).collect();
        assert_eq!(names, ["run", "first", "beside-first", "second", "part", "short"]);
        let own_seconds = own_seconds(&spans, &chain);
        let own =
            |name: &str| own_seconds[spans.iter().position(|span| span.name == name).unwrap()];
        assert!((own("run") - 5.0).abs() < 1e-9);
        assert!((own("second") - 6.0).abs() < 1e-9);
    }

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
        let found: Vec<_> = gaps(&spans)
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
        let gaps = gaps(&spans);
        let found: Vec<_> = gaps.iter().map(|gap| (&*gap.after, &*gap.before)).collect();
        assert_eq!(found, [("next", "late"), ("late", "later")]);
        assert_eq!(gaps[0].end.duration_since(gaps[0].start), MIN_GAP, "the shortest that counts");
    }
}

//! The critical path: the steps that determine the total duration.

use jiff::Timestamp;

use super::timeline::{Span, SpanKind, Timeline};

/// Walks back from the end: the span that ended last, then the one that ended last before that started, and so on; the
/// same within each of them. The result is in order of time.
pub(crate) fn find(spans: &[Span]) -> Vec<usize> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tree::build;
    use crate::model::tree::tests::span;

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
        let chain = find(&spans);
        let names: Vec<_> = chain.iter().map(|&index| spans[index].name.as_str()).collect();
        assert_eq!(names, ["run", "first", "beside-first", "second", "part", "short"]);
        let own_seconds = own_seconds(&spans, &chain);
        let own =
            |name: &str| own_seconds[spans.iter().position(|span| span.name == name).unwrap()];
        assert!((own("run") - 5.0).abs() < 1e-9);
        assert!((own("second") - 6.0).abs() < 1e-9);
    }
}

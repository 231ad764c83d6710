//! Lines of the screen: stages, and steps of the bootstrap.

use jiff::Timestamp;
use mooring_trace::life::{self, LifeState, NodeLife};
use mooring_trace::{Span, SpanKind, SpanStatus, Timeline};

/// One line of the screen.
pub(super) struct Row {
    pub(super) name: String,
    /// Start, end and status; none for a stage that was not reached.
    pub(super) span: Option<(Timestamp, Timestamp, SpanStatus)>,
    pub(super) usual: Option<f64>,
}

/// Returns the stages, with at most `most` steps.
pub(super) fn rows(timeline: &Timeline, life: &NodeLife, most: usize) -> Vec<Row> {
    let spans = &timeline.spans;
    let row = |span: &Span, indent: usize, name: &str| Row {
        name: format!("{}{name}", "  ".repeat(indent)),
        span: Some((span.start, span.end, span.status)),
        usual: life.usual(&span.name).filter(|_| span.kind == SpanKind::Stage),
    };
    let mut rows = Vec::new();
    let order = [
        life::LAUNCH,
        life::MACHINE,
        life::BOOT,
        life::MACHINE_AND_BOOTSTRAP,
        life::BOOTSTRAP,
        life::REGISTER,
        life::READY,
    ];
    // Stages may start at the same time.
    let find =
        |name: &str| spans.iter().find(|span| span.kind == SpanKind::Stage && span.name == name);
    for stage in order.into_iter().filter_map(find) {
        rows.push(row(stage, usize::from(stage.name == life::BOOT), &stage.name));
        if stage.name == life::BOOTSTRAP {
            rows.extend(steps(timeline, most).map(|step| row(step, 1, step_name(&step.name))));
        }
    }
    for name in [life::REGISTER, life::READY] {
        let is_known = rows.iter().any(|row| row.name == name);
        if life.state != LifeState::Joined && !is_known {
            rows.push(Row { name: name.to_owned(), span: None, usual: life.usual(name) });
            break;
        }
    }
    rows
}

/// Returns the outermost steps in order of time: unfinished ones and the longest.
pub(super) fn steps(timeline: &Timeline, most: usize) -> impl Iterator<Item = &Span> {
    let spans = &timeline.spans;
    let is_outer = |span: &&Span| {
        let parent = span.parent.map(|parent| spans[parent].kind);
        span.kind == SpanKind::Step && parent != Some(SpanKind::Step)
    };
    let mut steps: Vec<&Span> = spans.iter().filter(is_outer).collect();
    steps.sort_by(|a, b| {
        let key = |span: &Span| (span.status == SpanStatus::Done, -span.seconds());
        key(a).0.cmp(&key(b).0).then(key(a).1.total_cmp(&key(b).1))
    });
    steps.truncate(most);
    steps.sort_by_key(|span| span.start);
    steps.into_iter()
}

/// Returns `orasLogin` for `AKS.CSE.orasLogin.oras_login_with_kubelet_identity`.
pub(super) fn step_name(name: &str) -> &str {
    let name = name.strip_prefix("AKS.CSE.").unwrap_or(name);
    if name.contains(' ') { name } else { name.split('.').next().unwrap_or(name) }
}

//! The screen of a pool or of the cluster: groups of failures, then nodes that are joining, then joined ones.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use jiff::Timestamp;
use mooring_nodes::claim::image::version;
use mooring_nodes::status::ClusterStatus;
use mooring_nodes::{ClusterFacts, Count, FailureGroup, JoinState, REGISTRATION_LIMIT};
use mooring_terminal::{Column, Mark, Screen, Table, Text};
use mooring_workflow::plural::counted;
use mooring_workflow::published::Next;

use super::answer::{Diagnosis, WhyAnswer};
use crate::answers::common::{add_advice, caveat, clock, moment, short_duration};

/// Source of failures that are not confirmed.
pub(super) const UNCONFIRMED: &str = "events only; neither Azure nor the API server shows it";

/// Names in a group; `-o wide` has all.
const NAMES: usize = 3;

/// Returns the first line: the answer.
pub(super) fn sentence(facts: &ClusterFacts, answer: &WhyAnswer) -> (Mark, String) {
    let cluster = facts.cluster_name();
    let subject = match &answer.subject.name {
        Some(pool) => format!("Pool {pool} of {cluster}"),
        None => cluster,
    };
    if answer.failed.is_some() {
        let first = answer.diagnoses.iter().filter_map(|one| one.group.first_at).min();
        let since =
            first.map_or_else(String::new, |at| format!(" since {}", moment(at, facts.now)));
        let causes = answer.diagnoses.iter().map(|one| &one.group.cause);
        let causes = match causes.collect::<BTreeSet<_>>().len() {
            1 if answer.failed == Count::Exact(1) => String::new(),
            1 => ", all for one cause".to_owned(),
            causes => format!(", for {causes} causes"),
        };
        let nodes = match answer.failed {
            Count::Exact(failed) => counted(failed, "node"),
            failed => format!("{failed} nodes"),
        };
        return (Mark::Bad, format!("{subject}: {nodes} failed{since}{causes}."));
    }
    let problems = answer.problems();
    if !problems.is_empty() {
        return (Mark::Bad, format!("{subject}: {}", problems.join(" ")));
    }
    let exist = answer.selected.nodes.iter().filter(|node| node.exists).count();
    // Without a record, only nodes that exist are known.
    let text = match (answer.failed.is_none(), answer.selected.has_all_outcomes()) {
        (true, _) | (_, true) => {
            format!("{subject}: no failures among its {}.", counted(exist, "node"))
        }
        (false, false) => format!("{subject}: it is not known if nodes failed."),
    };
    match caveat(facts, &answer.selected, answer.kind) {
        Some(caveat) => (Mark::Warning, format!("{text} {caveat}")),
        None if answer.status.as_ref().is_some_and(ClusterStatus::is_healthy) => (Mark::Good, text),
        None => (Mark::Warning, text),
    }
}

pub(super) fn add(screen: &mut Screen, facts: &ClusterFacts, answer: &WhyAnswer, is_wide: bool) {
    let (mark, text) = sentence(facts, answer);
    screen.sentence(mark, text);
    for problem in answer.problems().iter().filter(|_| answer.failed.is_some()) {
        screen.sentence(Mark::Bad, problem);
    }
    // Without a failure or a problem, the sentence has it.
    let is_wrong = answer.failed.is_some() || !answer.problems().is_empty();
    if is_wrong
        && answer.failed.exact().is_none()
        && let Some(caveat) = caveat(facts, &answer.selected, answer.kind)
    {
        screen.sentence(Mark::Warning, caveat);
    }
    let first = answer.diagnoses.iter().filter_map(|one| one.group.first_at).min();
    let counts = [answer.failed, answer.joining, answer.joined];
    let width = counts.map(|count| count.to_string().len()).into_iter().max().unwrap_or(1).max(2);
    if counts.iter().any(|count| count.is_some()) {
        screen.blank();
    }
    for diagnosis in &answer.diagnoses {
        add_group(screen, facts, answer, diagnosis, width, is_wide);
    }
    if answer.joining.is_some() {
        let oldest = oldest_joining(answer, facts.now);
        let oldest = oldest.map_or_else(String::new, |seconds| {
            let limit = short_duration(REGISTRATION_LIMIT.as_secs());
            format!(
                ", the oldest for {} (Karpenter deletes it after {limit})",
                short_duration(seconds)
            )
        });
        let nodes = noun(answer.joining);
        let text = format!("{:>width$}  {nodes} joining{oldest}", answer.joining);
        screen.hanging(0, width + 2, Text::new(text));
    }
    if answer.joined.is_some() {
        let before = first.filter(|first| answer.last_joined_at.is_some_and(|last| last < *first));
        let before =
            before.map_or_else(String::new, |at| format!(" before {}", moment(at, facts.now)));
        let nodes = noun(answer.joined);
        let text = format!("{:>width$}  {nodes} joined{before}", answer.joined);
        screen.hanging(0, width + 2, Text::new(text));
    }
    let next = answer.next.iter().map(|next| (next.command.as_str(), next.purpose.as_str()));
    screen.commands("Next", next);
}

/// Returns what a number counts.
fn noun(count: Count) -> &'static str {
    if count == Count::Exact(1) { "node" } else { "nodes" }
}

fn oldest_joining(answer: &WhyAnswer, now: Timestamp) -> Option<i64> {
    let joining = answer.nodes.iter().filter(|entry| entry.node.state == JoinState::Joining);
    let created = joining.filter_map(|entry| entry.node.created_at).min()?;
    Some(now.duration_since(created).as_secs().max(0))
}

fn add_group(
    screen: &mut Screen,
    facts: &ClusterFacts,
    answer: &WhyAnswer,
    diagnosis: &Diagnosis,
    width: usize,
    is_wide: bool,
) {
    let group = &diagnosis.group;
    let indent = width + 2;
    let count = format!("{:>width$}  ", group.failed);
    let noun = noun(Count::Exact(group.failed));
    screen.ends(
        Text::default().bold(count).plain(format!("{noun}: {}", group.summary)),
        Text::default().bold(&group.cause),
    );
    let mut rows = Rows { screen, indent };
    if let (None, Some(pool)) = (&answer.subject.name, &group.pool) {
        rows.prose("pool", format!("{pool} ({})", group.pool_kind.as_str()));
    }
    rows.each("code", code(group));
    rows.each("image", image(diagnosis));
    rows.each("evidence", group.evidence.iter().map(|one| &one.line));
    rows.each("owner", owner(group.owner.as_deref(), group.confidence.as_deref()));
    rows.each("source", (!group.is_confirmed).then_some(UNCONFIRMED));
    rows.prose("when", when(group, facts.now));
    if is_wide {
        let table = table(answer, group, facts.now);
        rows.screen.indented_table(indent, table);
    } else {
        rows.prose("nodes", nodes(group));
    }
    add_advice(rows.screen, indent, diagnosis.actions.first());
    rows.commands(&diagnosis.next);
}

/// Labeled lines at an indent.
pub(super) struct Rows<'a> {
    pub(super) screen: &'a mut Screen,
    pub(super) indent: usize,
}

impl Rows<'_> {
    const LABEL: usize = 10;

    pub(super) fn prose(&mut self, label: &str, text: impl AsRef<str>) {
        self.text(label, Text::new(text));
    }

    pub(super) fn each(&mut self, label: &str, texts: impl IntoIterator<Item: AsRef<str>>) {
        for text in texts {
            self.prose(label, text);
        }
    }

    pub(super) fn text(&mut self, label: &str, text: Text) {
        self.screen.labeled(self.indent, Self::LABEL, label, [text]);
    }

    /// Adds lines that are never wrapped.
    pub(super) fn commands(&mut self, next: &[Next]) {
        let (indent, width) = (self.indent, Self::LABEL);
        for (at, next) in next.iter().enumerate() {
            let label = if at == 0 { "next" } else { "" };
            let text = Text::new(format!("{:indent$}{label:<width$}", ""));
            self.screen.line(text.plain(&next.command));
        }
    }
}

/// Returns `232 ERR_ORAS_BINARY_NOT_FOUND (reported as 211)`.
pub(super) fn code(group: &FailureGroup) -> Option<String> {
    match (&group.effective, &group.reported) {
        (Some(effective), Some(reported)) => {
            Some(format!("{effective} (reported as {})", reported.code))
        }
        (Some(code), None) | (None, Some(code)) => Some(code.to_string()),
        (None, None) => None,
    }
}

fn image(diagnosis: &Diagnosis) -> Option<String> {
    let image = version(diagnosis.group.image.as_deref()?);
    Some(match (diagnosis.here, diagnosis.others) {
        (Some(here), Some(others)) => format!(
            "{image}: {} of {} nodes failed; other images: {} of {}",
            here.failed, here.nodes, others.failed, others.nodes
        ),
        _ => image.to_owned(),
    })
}

/// Returns `image: the owner of the node image (confidence high)`.
pub(super) fn owner(owner: Option<&str>, confidence: Option<&str>) -> Option<String> {
    let owner = owner?;
    let known = mooring_codes::Owner::ALL.iter().find(|one| one.as_str() == owner);
    let role = known.map_or_else(String::new, |one| format!(": {}", one.role()));
    let confidence = confidence.map_or_else(String::new, |text| format!(" (confidence {text})"));
    Some(format!("{owner}{role}{confidence}"))
}

fn when(group: &FailureGroup, now: Timestamp) -> String {
    let (Some(first), Some(last)) = (group.first_at, group.last_at) else {
        return "unknown".to_owned();
    };
    let after = group.seconds_to_failure.map(short_duration);
    let (first, last) = (moment(first, now), moment(last, now));
    let time = if first == last { last } else { format!("{first} to {last}") };
    match (group.failed, after) {
        (_, None) => time,
        (1, Some(after)) => format!("{time}, after {after}"),
        (_, Some(after)) => format!("{time}, each after about {after}"),
    }
}

/// Returns the names of the last nodes, and how many have the evidence.
fn nodes(group: &FailureGroup) -> String {
    let shown = if group.nodes.len() == NAMES + 1 { NAMES + 1 } else { NAMES };
    let mut text = group.nodes.iter().take(shown).cloned().collect::<Vec<_>>().join(", ");
    let more = group.failed.saturating_sub(shown);
    if more > 0 {
        let _ = write!(text, " and {more} more");
    }
    match group.with_evidence {
        0 => {}
        with if with >= group.nodes.len() && with > 1 => text.push_str(", all with this evidence"),
        with if group.nodes.len() > 1 => {
            let _ = write!(text, ", {with} of them with this evidence");
        }
        _ => {}
    }
    text
}

fn table(answer: &WhyAnswer, group: &FailureGroup, now: Timestamp) -> Table {
    let mut table = Table::new([
        Column::left("NODECLAIM OR NODE"),
        Column::left("FAILED (UTC)"),
        Column::right("AFTER"),
        Column::left("EVIDENCE"),
    ]);
    for node in answer.of_group(group) {
        let lines = node.failure.iter().filter_map(|failure| failure.evidence.first());
        let evidence: Vec<&str> = lines.map(|one| one.line.as_str()).collect();
        table.row([
            Text::new(node.name()),
            Text::new(node.failed_at().map_or_else(|| "–".to_owned(), |at| clock(at, now))),
            Text::new(node.seconds_to_failure().map_or_else(|| "–".to_owned(), short_duration)),
            Text::new(evidence.join(" ")),
        ]);
    }
    table.wide(true)
}

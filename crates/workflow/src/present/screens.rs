//! Screens of plans and runs.

use jiff::Timestamp;
use mooring_terminal::{Column, LABEL, Mark, Screen, Table, Text};

use super::published::{CheckState, Next, PublishedCheck};
use super::status::{RunStatus, Subject};

/// Returns `3:14`.
pub fn clock(seconds: impl Into<i64>) -> String {
    let seconds = seconds.into().max(0);
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

/// Returns `8s`, `2m10s` or `1h05m`.
pub fn duration(seconds: impl Into<i64>) -> String {
    let seconds = seconds.into().max(0);
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, seconds) => format!("{minutes}m{seconds:02}s"),
        (hours, minutes, _) => format!("{hours}h{minutes:02}m"),
    }
}

/// Returns `3m ago` or `2h ago`; `just now` below a minute.
pub fn ago(at: Timestamp, now: Timestamp) -> String {
    match now.duration_since(at).as_mins() {
        ..1 => "just now".to_owned(),
        minutes @ 1..120 => format!("{minutes}m ago"),
        minutes => format!("{}h ago", minutes / 60),
    }
}

/// Returns the time of day in UTC.
pub fn time_of_day(at: Timestamp) -> String {
    at.strftime("%H:%M").to_string()
}

/// Adds what a plan is for, and the value of `--plan-hash`, which is whole on a line of its own.
pub fn plan_hash(screen: &mut Screen, about: &str, token: &str) {
    screen.label("Plan", [Text::new(format!("{about}:"))]);
    screen.line(Text::default().bold(token));
}

impl CheckState {
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Failed => "failed",
            Self::Warning => "warning",
            Self::Unknown => "unknown",
        }
    }

    pub fn mark(self) -> Mark {
        match self {
            Self::Ok => Mark::Good,
            Self::Failed => Mark::Bad,
            Self::Warning => Mark::Warning,
            Self::Unknown => Mark::None,
        }
    }
}

/// Adds the block of checks: those that are not ok with their evidence, then the names of the others.
pub fn checks(screen: &mut Screen, checks: &[PublishedCheck], is_wide: bool) {
    let mut sorted: Vec<&PublishedCheck> = checks.iter().collect();
    sorted.sort_by_key(|check| check.state);
    let mut texts = Vec::new();
    for check in &sorted {
        if check.state == CheckState::Ok && !is_wide && check.overridden.is_none() {
            continue;
        }
        let mark = Text::default().mark(check.state.mark());
        let mut text = mark.plain(format!(" {}: ", check.state.name()));
        text = text.bold(&check.name).plain(format!(": {}", check.detail()));
        if let Some(comment) = &check.overridden {
            text = text.plain(format!(" (overridden: {comment})"));
        }
        texts.push(text);
    }
    let ok: Vec<&str> = sorted
        .iter()
        .filter(|check| check.state == CheckState::Ok && check.overridden.is_none())
        .map(|check| check.name.as_str())
        .collect();
    if !ok.is_empty() && !is_wide {
        texts.push(Text::marked(Mark::Good, format!("ok: {}", ok.join(", "))));
    }
    for (at, text) in texts.into_iter().enumerate() {
        let label = if at == 0 { "Checks" } else { "" };
        let mut line = Text::new(format!("{label:<LABEL$}"));
        line.append(text);
        screen.hanging(0, LABEL + 2, line);
    }
}

/// Returns the end of the sentence of a plan: a prompt, which has no next commands, comes right before a change.
pub fn unchanged(next: Option<&[Next]>) -> &'static str {
    if next.is_some() { " Nothing is changed." } else { "" }
}

/// Adds the commands to run next.
pub fn next(screen: &mut Screen, label: &str, next: &[Next]) {
    screen.commands(label, next.iter().map(|one| (one.command.as_str(), one.purpose.as_str())));
}

fn state_mark(run: &RunStatus) -> Mark {
    match run.state {
        _ if run.is_running() => Mark::Warning,
        "stopped" | "blocked" | "partially-removed" => Mark::Bad,
        "aborted" => Mark::Warning,
        _ => Mark::Good,
    }
}

/// Returns the table of the last run of each pool or profile, with the progress of unfinished ones.
pub fn runs(runs: &[RunStatus], now: Timestamp, is_wide: bool) -> Screen {
    let mut screen = Screen::default();
    screen.table(table(runs, now, is_wide));
    for run in runs.iter().filter(|run| run.is_running() || run.is_stopped()) {
        progress(&mut screen, run, runs.len() > 1);
    }
    screen
}

/// Returns the row of one run, for a pipe.
pub fn run_row(run: &RunStatus, now: Timestamp, is_wide: bool, has_heads: bool) -> Screen {
    let table = table(std::slice::from_ref(run), now, is_wide);
    let mut screen = Screen::default();
    screen.table(if has_heads { table } else { table.without_heads() });
    screen
}

fn table(runs: &[RunStatus], now: Timestamp, is_wide: bool) -> Table {
    let head = match runs.first().map(|run| &run.subject) {
        Some(Subject::Profile(_)) => "PROFILE",
        _ => "POOL",
    };
    let mut table = Table::new([
        Column::left(head),
        Column::left("RUN"),
        Column::left("STATE"),
        Column::left("STEP"),
        Column::right("STEP TIME").rank(2),
        Column::right("USUAL").rank(3),
        Column::left("STARTED").extra().rank(4),
        Column::left("ENDS").rank(1),
        Column::left("LOCK").extra().rank(5),
    ])
    .wide(is_wide);
    for run in runs {
        let id = if is_wide { run.run_id.as_str() } else { short_id(&run.run_id) };
        let step = run.step.as_ref();
        let ends = match run.ends_at {
            Some(at) => time_of_day(at),
            None if run.is_running() || run.is_stopped() => String::new(),
            None => time_of_day(run.last_at),
        };
        table.row([
            Text::default().bold(run.subject.name()),
            Text::new(id),
            Text::marked(state_mark(run), run.state),
            Text::new(step.map_or_else(String::new, |step| {
                format!("{}/{} {}", step.number, run.step_count, step.name)
            })),
            Text::new(step.map_or_else(String::new, |step| duration(step.seconds))),
            Text::new(
                step.and_then(|step| step.expected_seconds).map_or_else(String::new, duration),
            ),
            Text::new(time_of_day(run.started_at)),
            Text::new(ends),
            Text::new(run.lock.as_ref().map_or_else(String::new, |lock| lock_text(lock, now))),
        ]);
    }
    table
}

fn lock_text(lock: &crate::present::status::LockStatus, now: Timestamp) -> String {
    let age = duration(now.duration_since(lock.heartbeat_at).as_secs());
    let expired = if lock.is_expired { ", expired" } else { "" };
    format!("{} (pid {}), {age} ago{expired}", lock.host, lock.pid)
}

/// Returns the first characters of a run's id.
pub fn short_id(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}

/// Adds the bar of steps, and what `abort` can still do.
fn progress(screen: &mut Screen, run: &RunStatus, is_named: bool) {
    let mut text = Text::default();
    if is_named {
        text = text.bold(run.subject.name()).plain("  ");
    }
    text = text.plain(bar(run));
    let last = run.effects.last().map(|effect| match &effect.error {
        Some(error) => format!("last change: {}: {error}", effect.what),
        None => format!("last change: {}", effect.what),
    });
    let rollback = match &run.point_of_no_return {
        None => None,
        Some(point) if point.is_passed => {
            Some("`abort` cannot roll it back; only `resume` continues")
        }
        Some(_) => Some("`abort` rolls it back"),
    };
    let parts = last.into_iter().chain(rollback.map(str::to_owned));
    let parts: Vec<String> = parts.collect();
    if !parts.is_empty() {
        text = text.plain("  ").plain(parts.join("; "));
    }
    screen.hanging(0, 2, text);
    if let Some(stopped) = &run.stopped {
        screen.hanging(0, 9, Text::new(format!("stopped  {stopped}")));
    }
}

/// Returns a bar with one sign per step, and a line before the first step that cannot be rolled back.
pub fn bar(run: &RunStatus) -> String {
    let current = run.step.as_ref().map(|step| step.number);
    let line = run.point_of_no_return.as_ref().map(|point| point.number);
    let mut bar = String::new();
    for number in 1..=run.step_count {
        if line == Some(number) {
            bar.push('│');
        }
        let is_done = run.steps.iter().any(|step| step.number == number);
        bar.push(match current {
            _ if is_done => '█',
            Some(current) if current == number => '▒',
            _ => '░',
        });
    }
    bar
}

/// Adds the completed steps of a run with time and evidence, and what remains.
pub fn details(screen: &mut Screen, run: &RunStatus) {
    let names = run.steps.iter().map(|step| step.name.len()).max().unwrap_or(0);
    for step in &run.steps {
        let head = format!("{:>2}/{}  {:<names$}  ", step.number, run.step_count, step.name);
        let lines: Vec<&str> = step.evidence.iter().map(|one| one.line.as_str()).collect();
        let time = format!("  {:>5}  ", clock(step.seconds));
        let hanging = head.chars().count() + 1 + time.chars().count();
        let text = Text::new(head).mark(Mark::Good).plain(time).plain(lines.join("; "));
        screen.hanging(0, hanging, text);
    }
    let lines = run
        .overrides
        .iter()
        .map(|one| ("Overridden", format!("{}: {}", one.check, one.comment)))
        .chain(run.remaining.iter().map(|one| ("Remaining", one.to_string())));
    let mut last = "";
    for (label, line) in lines {
        screen.label(if label == last { "" } else { label }, [Text::new(line)]);
        last = label;
    }
    if let Some(stopped) = &run.stopped {
        screen.label("Stopped", [Text::new(stopped)]);
    }
    if !run.plan_hash.is_empty() {
        plan_hash(screen, "value of `--plan-hash`", &run.plan_hash);
    }
}

impl std::fmt::Display for crate::present::status::Remaining {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.what)?;
        match &self.explanation {
            Some(explanation) => write!(f, ": {explanation}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_short() {
        assert_eq!([0, 59, 60, 194, 3599].map(clock), ["0:00", "0:59", "1:00", "3:14", "59:59"]);
        assert_eq!([8, 60, 130, 3900].map(duration), ["8s", "1m00s", "2m10s", "1h05m"]);
        assert_eq!(duration(-3), "0s");
    }

    #[test]
    fn id_is_known_by_its_first_digits() {
        assert_eq!((short_id("c696c392-1"), short_id("r")), ("c696c392", "r"));
    }

    #[test]
    fn ages_are_minutes_and_then_hours() {
        let now = Timestamp::UNIX_EPOCH;
        let texts = [59, 60, 119 * 60, 120 * 60, 125 * 60]
            .map(|seconds| ago(now - jiff::SignedDuration::from_secs(seconds), now));
        assert_eq!(texts, ["just now", "1m ago", "119m ago", "2h ago", "2h ago"]);
    }
}

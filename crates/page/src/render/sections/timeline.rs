//! Failures and joins over time, by cause.

use std::fmt::Write as _;

use jiff::Timestamp;

use crate::html::{card, escape, word};
use crate::model::PageModel;
use crate::series::{Interval, Rollout, Series, rollouts};
use crate::view::TimeRange;

/// Height above the axis for failures, and below it for joins.
const UP: f64 = 138.0;
const DOWN: f64 = 44.0;
const AXIS: f64 = 160.0;
const HEIGHT: u32 = 236;
/// Causes with their own pattern; others share one.
const PATTERNS: usize = 2;

pub(crate) fn section(model: &PageModel<'_>) -> String {
    let title = format!("Failures in the {}", model.view.since.text());
    let series = Series::of(model);
    let causes = series.causes();
    let total: u64 = causes.iter().map(|(_, count)| count).sum();
    if model.facts.record.is_none() && model.facts.inventory.counts.is_none() {
        let why = if model.facts.inventory.reads.record.has_failed() {
            "the failure record was not read"
        } else {
            "this cluster has no failure record"
        };
        let text = format!("<p>Not known: {why}. {total} failed nodes are known now.</p>");
        return card("h-time", &title, "", &text);
    }
    if total == 0 && series.joined() == 0 {
        let text = if model.fleet.failed.is_none() {
            "None, and no node joined."
        } else {
            "Not known: not all was read."
        };
        return card("h-time", &title, "", &format!("<p>{text}</p>"));
    }
    let html =
        format!("{}{}{}", chart(model, &series, &causes), key(&series, &causes), table(&series));
    card("h-time", &title, "", &html)
}

/// Returns the class of a cause: its place by frequency.
fn class(causes: &[(String, u64)], cause: &str) -> &'static str {
    match causes.iter().position(|(name, _)| name == cause) {
        Some(0) => "f1",
        Some(place) if place < PATTERNS => "f2",
        _ => "f3",
    }
}

fn chart(model: &PageModel<'_>, series: &Series, causes: &[(String, u64)]) -> String {
    let failed = |index: usize| series.intervals[index].failed.values().sum::<u64>();
    let highest = (0..series.intervals.len()).map(failed).max().unwrap_or_default();
    let joined = series.intervals.iter().map(|interval| interval.joined).max().unwrap_or_default();
    let top = ceiling(highest);
    let (up, down) = (UP / number(top), DOWN / number(joined.max(1)));
    let mut axis = String::new();
    let mut plot = String::new();
    for step in 0..=2_u64 {
        let value = top * step / 2;
        let y = AXIS - number(value) * up;
        let _ = write!(
            axis,
            "<text x=\"100%\" y=\"{:.0}\" text-anchor=\"end\">{value}</text>",
            y + 4.0
        );
        if step > 0 {
            let _ = write!(
                plot,
                "<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"{y:.0}\" y2=\"{y:.0}\"/>"
            );
        }
    }
    axis.push_str("<text x=\"100%\" y=\"11\" text-anchor=\"end\">failed</text><text x=\"100%\" y=\"180\" text-anchor=\"end\">joined</text>");
    let width = 100.0 / number(u64::try_from(series.intervals.len()).unwrap_or(1));
    for (index, interval) in series.intervals.iter().enumerate() {
        let x = number(u64::try_from(index).unwrap_or_default()) * width + width * 0.1;
        let from = series.start_of(index).strftime("%-d %b %H:%M UTC");
        let mut base = AXIS;
        let mut bar = |class: &str, y: f64, height: f64, text: &str| {
            let _ = write!(
                plot,
                "<rect class=\"{class}\" x=\"{x:.2}%\" width=\"{:.2}%\" y=\"{y:.1}\" height=\"{height:.1}\"><title>{from}: {text}</title></rect>",
                width * 0.8
            );
        };
        for (class, count, text) in bars(interval, causes) {
            let height = number(count) * up;
            base -= height;
            bar(class, base, height, &format!("{count} failed with {}", escape(&text)));
        }
        if interval.joined > 0 {
            let height = number(interval.joined) * down;
            bar("ok", AXIS + 2.0, height, &format!("{} joined", interval.joined));
        }
    }
    let _ = write!(plot, "<line class=\"axis\" x1=\"0\" x2=\"100%\" y1=\"160.5\" y2=\"160.5\"/>");
    for (place, rollout) in rollouts(&model.inventory, series.start).iter().take(3).enumerate() {
        plot.push_str(&mark(series, rollout, place == 0));
    }
    plot.push_str(&ticks(series, model.view.since));
    let total: u64 = causes.iter().map(|(_, count)| count).sum();
    let total = match model.fleet.failed.exact() {
        None if total == 0 => "unknown number".to_owned(),
        _ => total.to_string(),
    };
    format!(
        "<div class=\"tl\"><svg width=\"100%\" height=\"{HEIGHT}\" aria-hidden=\"true\">{axis}</svg><svg width=\"100%\" height=\"{HEIGHT}\" role=\"img\" aria-labelledby=\"tl-t tl-d\"><title id=\"tl-t\">Nodes that failed and nodes that joined</title><desc id=\"tl-d\">{total} failed, {} joined. The table below has the same figures.</desc>{plot}</svg></div>",
        series.joined()
    )
}

/// Returns the failures of an interval; causes without an own pattern are one bar.
fn bars(interval: &Interval, causes: &[(String, u64)]) -> Vec<(&'static str, u64, String)> {
    let mut bars = Vec::new();
    let mut others = (0, Vec::new());
    for (cause, count) in &interval.failed {
        match class(causes, cause) {
            "f3" => {
                others.0 += count;
                others.1.push(cause.as_str());
            }
            class => bars.push((class, *count, cause.clone())),
        }
    }
    if others.0 > 0 {
        let more = others.1.len().saturating_sub(3);
        others.1.truncate(3);
        let more = if more > 0 { format!(" and {more} more causes") } else { String::new() };
        bars.push(("f3", others.0, others.1.join(", ") + &more));
    }
    bars
}

/// Returns the next even number of 2, 4, 6, 8, 10, 20, 40, …
fn ceiling(highest: u64) -> u64 {
    let mut scale = 1;
    loop {
        if let Some(found) = [2, 4, 6, 8].iter().map(|one| one * scale).find(|one| *one >= highest)
        {
            return found;
        }
        scale *= 10;
    }
}

#[expect(clippy::cast_precision_loss, reason = "numbers of nodes")]
fn number(value: u64) -> f64 {
    value as f64
}

fn mark(series: &Series, rollout: &Rollout, is_labeled: bool) -> String {
    let x = series.percent(rollout.at).clamp(0.0, 100.0);
    let text =
        format!("{} {} rolls to {}", rollout.at.strftime("%H:%M UTC"), rollout.pool, rollout.image);
    let text = escape(&text);
    let mut html = format!(
        "<line class=\"mark\" x1=\"{x:.2}%\" x2=\"{x:.2}%\" y1=\"0\" y2=\"208\"><title>{text}</title></line>"
    );
    if is_labeled {
        let (x, anchor) = if x > 50.0 { (x - 0.9, "end") } else { (x + 0.9, "start") };
        let _ = write!(
            html,
            "<text class=\"note\" x=\"{x:.2}%\" y=\"11\" text-anchor=\"{anchor}\">{text}</text>"
        );
    }
    html
}

fn ticks(series: &Series, since: TimeRange) -> String {
    let (step, format) = match since {
        TimeRange::Hour => (900, "%H:%M"),
        TimeRange::Day => (10_800, "%H:%M"),
        TimeRange::Week => (86_400, "%-d %b"),
    };
    let mut html = String::new();
    let first = series.start.as_second().div_euclid(step) + 1;
    let last = series.end().as_second();
    for (place, second) in (first..).map(|one| one * step).take_while(|one| *one < last).enumerate()
    {
        let Ok(at) = Timestamp::from_second(second) else { break };
        let x = series.percent(at);
        if !(4.0..=86.0).contains(&x) {
            continue;
        }
        let class = if place % 2 == 1 { " class=\"opt\"" } else { "" };
        let _ = write!(
            html,
            "<text{class} x=\"{x:.2}%\" y=\"232\" text-anchor=\"middle\">{}</text>",
            at.strftime(format)
        );
    }
    html + "<text x=\"100%\" y=\"232\" text-anchor=\"end\">now (UTC)</text>"
}

fn key(series: &Series, causes: &[(String, u64)]) -> String {
    let mut html = String::from("<ul class=\"key\">");
    for (cause, count) in causes.iter().take(6) {
        let _ = write!(
            html,
            "<li><i class=\"k {}\"></i>{} <b>{count}</b></li>",
            class(causes, cause),
            escape(cause)
        );
    }
    if causes.len() > 6 {
        let _ = write!(
            html,
            "<li>{}</li>",
            word("calm", &format!("and {} more causes", causes.len() - 6))
        );
    }
    let _ = write!(html, "<li><i class=\"k ok\"></i>joined <b>{}</b></li></ul>", series.joined());
    html
}

fn table(series: &Series) -> String {
    let mut rows = String::new();
    for (index, interval) in series.intervals.iter().enumerate() {
        let failed: u64 = interval.failed.values().sum();
        if failed + interval.joined > 0 {
            let from = series.start_of(index).strftime("%-d %b %H:%M");
            let _ = write!(
                rows,
                "<tr><th scope=\"row\">{from}</th><td>{failed}</td><td>{}</td></tr>",
                interval.joined
            );
        }
    }
    format!(
        "<details data-key=\"time\"><summary>As a table</summary><table class=\"small\"><caption class=\"sr\">Failed and joined nodes over time; intervals without both are left out</caption><thead><tr><th scope=\"col\">From (UTC)</th><th scope=\"col\">Failed</th><th scope=\"col\">Joined</th></tr></thead><tbody>{rows}</tbody></table></details>"
    )
}

#[cfg(test)]
mod tests {
    use super::ceiling;

    #[test]
    fn scale_has_a_whole_middle() {
        for (highest, expected) in [(0, 2), (1, 2), (3, 4), (5, 6), (9, 20), (37, 40), (81, 200)] {
            assert_eq!(ceiling(highest), expected);
        }
    }
}

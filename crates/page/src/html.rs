//! Parts of HTML. Every text passes through [`escape`].

use std::hash::{DefaultHasher, Hasher as _};

use jiff::{SignedDuration, Timestamp};
use mooring_nodes::claim::image;
use mooring_redact::shell_word;
pub(crate) use mooring_trace::escape::escape;

use crate::view::{PageView, Route};

/// Entries of a list; the rest is counted.
pub(crate) const MAX_ROWS: usize = 50;

/// Wraps a section that the script exchanges when its revision changes.
pub(crate) fn part(name: &str, html: &str) -> String {
    format!("<div data-part=\"{name}\" data-revision=\"{:016x}\">{html}</div>\n", revision(html))
}

/// Returns a hash of the content. Elapsed times are not content: the script keeps them current.
pub(crate) fn revision(html: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut rest = html;
    while let Some((before, after)) = rest.split_once(" data-since>") {
        hasher.write(before.as_bytes());
        rest = after.split_once("</time>").map_or("", |(_, after)| after);
    }
    hasher.write(rest.as_bytes());
    hasher.finish()
}

/// Renders a section with a heading.
pub(crate) fn card(id: &str, heading: &str, small: &str, html: &str) -> String {
    let small =
        if small.is_empty() { String::new() } else { format!(" <small>{}</small>", escape(small)) };
    format!(
        "<section class=\"card\" aria-labelledby=\"{id}\"><h2 id=\"{id}\">{}{small}</h2>{html}</section>",
        escape(heading)
    )
}

/// Renders a command that can be copied.
pub(crate) fn command(text: &str) -> String {
    let text = escape(text);
    format!(
        "<span class=\"cmd\"><code tabindex=\"0\">{text}</code><button type=\"button\" class=\"copy\" data-copy=\"{text}\" aria-label=\"Copy the command {text}\" hidden>Copy</button></span>"
    )
}

pub(crate) fn why_command(name: &str) -> String {
    command(&format!("mooring why {}", shell_word(name)))
}

pub(crate) fn explain_command(cause: &str) -> String {
    command(&format!("mooring explain {}", shell_word(cause)))
}

pub(crate) fn link(view: &PageView, route: Route, text: &str) -> String {
    format!("<a href=\"{}\">{}</a>", escape(&view.link(route)), escape(text))
}

pub(crate) fn image_link(view: &PageView, name: &str) -> String {
    let version = image::version(name);
    let address = view.link(Route::Image(version.to_owned()));
    format!("<a href=\"{}\"><code>{}</code></a>", escape(&address), escape(version))
}

pub(crate) fn cause_link(view: &PageView, cause: &str) -> String {
    link(view, Route::Cause(cause.to_owned()), cause)
}

pub(crate) fn pool_link(view: &PageView, pool: &str) -> String {
    link(view, Route::Pool(pool.to_owned()), pool)
}

pub(crate) fn node_link(view: &PageView, node: &str) -> String {
    link(view, Route::Node(node.to_owned()), node)
}

pub(crate) fn code_link(view: &PageView, code: i32) -> String {
    link(view, Route::Code(code), &code.to_string())
}

/// Renders a sign with its severity: `good`, `slow`, `failed` or `calm`.
pub(crate) fn sign(severity: &str) -> String {
    let (mark, name) = match severity {
        "good" => ("✓", "OK"),
        "slow" => ("!", "Warning"),
        "failed" => ("✗", "Problem"),
        _ => ("–", "Unknown"),
    };
    format!(
        "<span class=\"sign {severity}\"><span aria-hidden=\"true\">{mark}</span><span class=\"sr\">{name}: </span></span>"
    )
}

pub(crate) fn word(severity: &str, text: &str) -> String {
    format!("<span class=\"word {severity}\">{}</span>", escape(text))
}

/// Returns `2 min 10 s`.
pub(crate) fn duration(seconds: i64) -> String {
    let seconds = seconds.max(0);
    match seconds {
        ..60 => format!("{seconds} s"),
        60..3600 if seconds % 60 == 0 => format!("{} min", seconds / 60),
        60..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        3600..172_800 => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// Returns the time since `at` as text that the script keeps current. It does not count as a change.
pub(crate) fn elapsed(at: Timestamp, now: Timestamp) -> String {
    let text = duration(now.duration_since(at).as_secs());
    format!("<time datetime=\"{at:.0}\" data-since>{text}</time>")
}

/// Returns `09:13 UTC`, or `16 Nov 09:13 UTC` if it is not of the last 24 hours.
pub(crate) fn clock(at: Timestamp, now: Timestamp) -> String {
    let is_recent = now.duration_since(at) < SignedDuration::from_hours(24);
    at.strftime(if is_recent { "%H:%M UTC" } else { "%-d %b %H:%M UTC" }).to_string()
}

/// Returns `09:13:02 UTC`, or with the date if it is not of the last 24 hours.
pub(crate) fn exact_clock(at: Timestamp, now: Timestamp) -> String {
    let is_recent = now.duration_since(at) < SignedDuration::from_hours(24);
    let text = at.strftime(if is_recent { "%H:%M:%S UTC" } else { "%-d %b %H:%M:%S UTC" });
    format!("<time datetime=\"{at:.0}\">{text}</time>")
}

/// Renders the end of a list that is longer than the page.
pub(crate) fn more(shown: usize, all: usize) -> String {
    if all <= shown {
        return String::new();
    }
    format!("<p class=\"hint\">and {} more</p>", all - shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_links_are_escaped() {
        let command = command("mooring why '<b>\"'");
        assert!(!command.contains("<b>") && command.contains("&lt;b&gt;&quot;"), "{command}");
        let link = node_link(&PageView::new(Route::Overview), "\"><script>\u{202e}x");
        assert_eq!(
            link,
            "<a href=\"/nodes/%22%3E%3Cscript%3E%E2%80%AEx\">&quot;&gt;&lt;script&gt;x</a>"
        );
    }

    #[test]
    fn durations_have_two_units_at_most() {
        for (seconds, expected) in [
            (-1, "0 s"),
            (59, "59 s"),
            (60, "1 min"),
            (65, "1 min 05 s"),
            (130, "2 min 10 s"),
            (14_760, "4 h 06 min"),
        ] {
            assert_eq!(duration(seconds), expected);
        }
    }
}

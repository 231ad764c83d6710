//! Parts that the screens share.

use jiff::{SignedDuration, Timestamp};
use mooring_controller::claim::image;
use mooring_inventory::Filter;
use mooring_inventory::document::{Document, Source, SourceName, SourceState};
use mooring_terminal::{Screen, Text};

use crate::cluster::Facts;
use crate::cluster_args::ReadArguments;
use crate::show;

/// Returns the filter of the flags.
pub(super) fn filter(arguments: &ReadArguments, now: Timestamp) -> Filter {
    let since = SignedDuration::try_from(arguments.since).ok();
    Filter {
        since: since.and_then(|since| now.checked_sub(since).ok()),
        pool: arguments.pool.clone(),
        image: arguments.image.clone(),
        cause: arguments.cause.clone(),
    }
}

pub(super) fn document<T>(schema: &'static str, facts: &Facts, content: T) -> Document<T> {
    Document {
        schema,
        generated_at: facts.now,
        cluster: facts.identity.clone(),
        sources: facts.sources.clone(),
        content,
    }
}

/// Returns the name of the cluster, or of its server.
pub(super) fn cluster_name(facts: &Facts) -> String {
    let identity = &facts.identity;
    let name = identity.name.as_ref().or(identity.context.as_ref()).or(identity.server.as_ref());
    name.cloned().unwrap_or_else(|| "cluster".to_owned())
}

pub(super) fn print_warnings(facts: &Facts) {
    for warning in &facts.warnings {
        show::print_warning(warning);
    }
}

/// Returns the version of an image, which is unique in nearly every cluster.
pub(super) fn short_image(name: &str) -> &str {
    image::version(name)
}

/// Returns `09:13`, or the date if it is not of the same day.
pub(super) fn clock(at: Timestamp, now: Timestamp) -> String {
    let text = at.to_string();
    let (date, time) = text.split_once('T').unwrap_or((&text, ""));
    if now.to_string().starts_with(date) {
        time.get(..5).unwrap_or(time).to_owned()
    } else {
        date.to_owned()
    }
}

/// Returns `1m12s`.
pub(super) fn short_duration(seconds: i64) -> String {
    match seconds {
        ..60 => format!("{seconds}s"),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// Adds the line that names every source with its age.
pub(super) fn add_sources(screen: &mut Screen, facts: &Facts) {
    let sources: Vec<String> = facts.sources.iter().map(|one| source(one, facts)).collect();
    screen.label("Read", [Text::new(sources.join("; "))]);
}

fn source(source: &Source, facts: &Facts) -> String {
    let name = source.name.as_str();
    let age = source.at.map(|at| facts.now.duration_since(at).as_secs().max(0));
    match (source.state, source.name) {
        (SourceState::Read, SourceName::Record) => {
            let namespace = &facts.controller.namespace;
            let age = age.map_or_else(String::new, |age| format!(", {} old", short_duration(age)));
            format!("{name} of {namespace}{age}")
        }
        (SourceState::Read, _) => {
            let seconds = source.seconds.unwrap_or_default();
            format!("{name} in {seconds:.1}s")
        }
        (SourceState::Stale, _) => match age {
            Some(age) => format!("{name}, not updated for {}", short_duration(age)),
            None => format!("{name}, not updated: no controller is running"),
        },
        (SourceState::Absent, _) => format!("{name}: none"),
        (SourceState::NotAsked, _) => format!("{name} not asked"),
        (SourceState::Failed, _) => format!("{name} failed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_other_days_are_dates() {
        let now: Timestamp = "2026-11-17T09:14:00Z".parse().unwrap();
        assert_eq!(clock("2026-11-17T05:09:59Z".parse().unwrap(), now), "05:09");
        assert_eq!(clock("2026-11-16T23:59:59Z".parse().unwrap(), now), "2026-11-16");
    }

    #[test]
    fn durations_have_two_units_at_most() {
        for (seconds, expected) in
            [(0, "0s"), (59, "59s"), (72, "1m12s"), (3660, "1h01m"), (200_000, "2d")]
        {
            assert_eq!(short_duration(seconds), expected);
        }
    }
}

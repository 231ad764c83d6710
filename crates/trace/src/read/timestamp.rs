//! Timestamps in the formats of a node's files.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::Offset;

/// Seconds since 1970.
const YEAR_2200: i64 = 7_258_118_400;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stamp {
    /// With a time zone.
    At(Timestamp),
    /// In the node's local time.
    Local(DateTime),
}

impl Stamp {
    /// Converts to an instant with this offset from UTC.
    pub(crate) fn at(self, offset: Offset) -> Option<Timestamp> {
        let at = match self {
            Self::At(at) => at,
            Self::Local(local) => offset.to_timestamp(local).ok()?,
        };
        // Nodes boot after 1970, and formats with nanoseconds overflow after 2200.
        (0..YEAR_2200).contains(&at.as_second()).then_some(at)
    }
}

/// Parses a timestamp:
///
/// - `2026-11-15T02:15:28.123Z`: the agent's log, the extension handler's
/// - `2026-11-15 02:15:28.123` or `,123`: events, cloud-init
/// - `Tue 2023-05-23 08:34:10 UTC`: systemd, in the report
/// - `Tue May 23 08:35:29 UTC 2023`: `date`, in the report
pub(crate) fn read(text: &str) -> Option<Stamp> {
    let text = text.trim();
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(Stamp::At(at));
    }
    let words: Vec<&str> = text.split_whitespace().take(8).collect();
    match words[..] {
        [one] => Some(Stamp::Local(one.replace(',', ".").parse().ok()?)),
        [day, time] => Some(Stamp::Local(local(day.parse().ok()?, time)?)),
        [_, day, time, zone] => zoned(local(day.parse().ok()?, time)?, zone),
        [_, month, day, time, zone, year] => zoned(local(date(year, month, day)?, time)?, zone),
        // 12-hour clock of some locales.
        [_, month, day, time, half, zone, year] => {
            let time = local(date(year, month, day)?, time)?;
            let hour = match (half, time.hour()) {
                ("AM", 12) => 0,
                ("PM", hour @ ..12) => hour + 12,
                ("AM" | "PM", hour) => hour,
                _ => return None,
            };
            zoned(time.with().hour(hour).build().ok()?, zone)
        }
        _ => None,
    }
}

fn local(day: Date, time: &str) -> Option<DateTime> {
    let time: Time = time.replace(',', ".").parse().ok()?;
    Some(day.to_datetime(time))
}

fn date(year: &str, month: &str, day: &str) -> Option<Date> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = MONTHS.iter().position(|name| *name == month)?;
    Date::new(year.parse().ok()?, i8::try_from(month + 1).ok()?, day.parse().ok()?).ok()
}

/// Any zone except UTC is taken as the node's own: abbreviations such as `CST` are ambiguous.
fn zoned(local: DateTime, zone: &str) -> Option<Stamp> {
    match zone {
        "UTC" | "GMT" | "Z" => Some(Stamp::At(Offset::UTC.to_timestamp(local).ok()?)),
        _ => Some(Stamp::Local(local)),
    }
}

/// Parses the instant in an event file's name: milliseconds or nanoseconds since 1970.
pub(crate) fn of_file_name(name: &str) -> Option<Timestamp> {
    let digits = name.strip_suffix(".json")?;
    let number: i128 = digits.parse().ok()?;
    match digits.len() {
        13 => Timestamp::from_millisecond(number.try_into().ok()?).ok(),
        19 => Timestamp::from_nanosecond(number).ok(),
        _ => None,
    }
}

/// Offset of the node's local time from UTC, computed from a local timestamp and the same instant in UTC. Zones are
/// multiples of 15 minutes; the remainder is the time between the two.
pub(crate) fn offset_between(local: DateTime, at: Timestamp) -> Option<Offset> {
    const QUARTER: i64 = 15 * 60;
    let as_utc = Offset::UTC.to_timestamp(local).ok()?;
    let seconds = as_utc.duration_since(at).as_secs();
    let quarters = (seconds + seconds.signum() * QUARTER / 2) / QUARTER;
    Offset::from_seconds(i32::try_from(quarters * QUARTER).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamp_formats_of_node_files_are_parsed() {
        let utc = |text: &str| {
            read(text).and_then(|stamp| stamp.at(Offset::UTC)).map(|at| at.to_string())
        };
        for (text, expected) in [
            ("2026-11-15T02:15:28.123456789Z", "2026-11-15T02:15:28.123456789Z"),
            ("2026-11-15T02:15:28+02:00", "2026-11-15T00:15:28Z"),
            ("2026-11-15 02:15:28.123", "2026-11-15T02:15:28.123Z"),
            ("2026-11-15 02:15:28,123", "2026-11-15T02:15:28.123Z"),
            ("2026-11-15T02:15:28.5", "2026-11-15T02:15:28.5Z"),
            ("Tue 2023-05-23 08:34:10 UTC", "2023-05-23T08:34:10Z"),
            ("Tue May 23 08:35:29 UTC 2023", "2023-05-23T08:35:29Z"),
            ("Tue May  3 08:35:29 PM UTC 2023", "2023-05-03T20:35:29Z"),
            ("Tue May 23 12:35:29 AM UTC 2023", "2023-05-23T00:35:29Z"),
            ("Tue May 23 08:35:29 AM UTC 2023", "2023-05-23T08:35:29Z"),
            ("Tue May 23 12:35:29 PM UTC 2023", "2023-05-23T12:35:29Z"),
        ] {
            assert_eq!(utc(text).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "",
            "n/a",
            "Tue",
            "Tue Foo 23 08:35:29 UTC 2023",
            "2026-13-01 00:00:00",
            "a b c d e f g",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn any_zone_except_utc_is_that_of_the_node() {
        let second = |zone: &str| {
            let stamp = read(&format!("Tue 2023-05-23 08:34:10 {zone}")).unwrap();
            stamp.at(Offset::constant(2)).unwrap().to_string()
        };
        for zone in ["UTC", "GMT", "Z"] {
            assert_eq!(second(zone), "2023-05-23T08:34:10Z", "{zone}");
        }
        assert_eq!(second("CST"), "2023-05-23T06:34:10Z");
    }

    #[test]
    fn file_name_of_an_event_gives_the_time_zone() {
        let at = of_file_name("1684830929123.json").unwrap();
        assert_eq!(at.to_string(), "2023-05-23T08:35:29.123Z");
        let Some(Stamp::Local(local)) = read("2023-05-23 10:35:29.123") else { panic!("local") };
        assert_eq!(offset_between(local, at).unwrap(), Offset::constant(2));
        let Some(Stamp::Local(late)) = read("2023-05-23 10:40:29.123") else { panic!("local") };
        assert_eq!(offset_between(late, at).unwrap(), Offset::constant(2), "written 5m later");
        assert_eq!(
            of_file_name("1684830929123456789.json").unwrap(),
            Timestamp::from_nanosecond(1_684_830_929_123_456_789).unwrap()
        );
        assert_eq!(of_file_name("provision.json"), None);
    }
}

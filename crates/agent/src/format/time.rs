//! Timestamps for logs and events, in the time zone of the host.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use crate::world::World;

/// Larger than any zone's file.
const MAX_ZONE_BYTES: u64 = 64 * 1024;

/// Turns instants into the texts that logs and events carry.
#[derive(Debug, Clone)]
pub(crate) struct TimeFormat {
    zone: TimeZone,
}

impl TimeFormat {
    /// Returns the time zone: `TZ`, else the host's, else UTC.
    pub(crate) fn local(world: &mut dyn World) -> Self {
        let file = match world.variable("TZ") {
            None => PathBuf::from("/etc/localtime"),
            Some(name) => {
                let name = name.to_string_lossy();
                Path::new("/usr/share/zoneinfo").join(name.trim_start_matches(':'))
            }
        };
        let zone = world.read(&file, MAX_ZONE_BYTES).ok();
        let zone = zone.and_then(|rules| TimeZone::tzif("local", &rules).ok());
        Self { zone: zone.unwrap_or(TimeZone::UTC) }
    }

    /// Formats `2026-11-15T02:15:28.123456789Z`, without trailing zeros.
    pub(crate) fn log_stamp(&self, instant: SystemTime) -> String {
        let stamp = self.zoned(instant).strftime("%Y-%m-%dT%H:%M:%S%.f%:z").to_string();
        match stamp.strip_suffix("+00:00") {
            Some(utc) => format!("{utc}Z"),
            None => stamp,
        }
    }

    /// `2026-11-15 02:15:28.123`, cut, not rounded.
    pub(crate) fn event_stamp(&self, instant: SystemTime) -> String {
        self.zoned(instant).strftime("%Y-%m-%d %H:%M:%S.%3f").to_string()
    }

    fn zoned(&self, instant: SystemTime) -> Zoned {
        Timestamp::try_from(instant).unwrap_or(Timestamp::UNIX_EPOCH).to_zoned(self.zone.clone())
    }
}

/// Nanoseconds since 1970, for names of event files.
pub(crate) fn unix_nanoseconds(instant: SystemTime) -> u128 {
    instant.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos()
}

/// A deadline beyond a year is a slip of the pen.
const MAX_SECONDS: f64 = 366.0 * 86_400.0;

/// Parses a duration such as `1h30m`, `15m`, `90s`, `1.5s` or `100ms`; a number without a unit is in seconds.
pub fn parse_duration(text: &str) -> Option<Duration> {
    if let Ok(seconds) = text.parse::<u32>() {
        return Some(Duration::from_secs(u64::from(seconds)));
    }
    let mut rest = text;
    let mut total = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').filter(|&at| at > 0)?;
        let (number, unit_on) = rest.split_at(digits);
        let unit_len =
            unit_on.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(unit_on.len());
        let (unit, behind) = unit_on.split_at(unit_len);
        let seconds = match unit {
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            "us" | "µs" => 1e-6,
            "ns" => 1e-9,
            _ => return None,
        };
        total += number.parse::<f64>().ok()? * seconds;
        rest = behind;
    }
    (!text.is_empty() && total <= MAX_SECONDS).then(|| Duration::from_secs_f64(total))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instant(nanoseconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_nanos(nanoseconds)
    }

    #[test]
    fn log_stamps_have_no_zeros_at_the_end() {
        let clock = TimeFormat { zone: TimeZone::UTC };
        assert_eq!(clock.log_stamp(instant(1_000_000_000)), "1970-01-01T00:00:01Z");
        assert_eq!(clock.log_stamp(instant(1_120_000_000)), "1970-01-01T00:00:01.12Z");
        assert_eq!(clock.log_stamp(instant(1_000_000_007)), "1970-01-01T00:00:01.000000007Z");
    }

    #[test]
    fn stamps_show_the_zone_of_the_machine() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let clock = TimeFormat { zone };
        assert_eq!(clock.log_stamp(instant(500_000_000)), "1970-01-01T02:00:00.5+02:00");
        assert_eq!(clock.event_stamp(instant(999_999_999)), "1970-01-01 02:00:00.999");
    }

    #[test]
    fn durations_are_parsed_in_common_forms() {
        let milliseconds = |text| parse_duration(text).map(|duration| duration.as_millis());
        assert_eq!(milliseconds("90"), Some(90_000));
        assert_eq!(milliseconds("15m"), Some(900_000));
        assert_eq!(milliseconds("1h30m"), Some(5_400_000));
        assert_eq!(milliseconds("1.5s"), Some(1500));
        assert_eq!(milliseconds("100ms"), Some(100));
        assert_eq!(milliseconds("7000us"), Some(7));
        assert_eq!(milliseconds("7000µs"), Some(7));
        assert_eq!(milliseconds("7000000ns"), Some(7));
        // 366 days are the most.
        assert_eq!(milliseconds("8784h"), Some(31_622_400_000));
        assert_eq!(milliseconds("8784h1s"), None);
        for bad in ["", "m", "15x", "-5s", "1..5s", "5m3", "1e9h", "9999999h", " 5s"] {
            assert_eq!(milliseconds(bad), None, "{bad}");
        }
    }
}

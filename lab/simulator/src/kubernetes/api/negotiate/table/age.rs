//! Ages of objects.

use jiff::Timestamp;

/// Formats the time since `then` as kubectl does.
pub(super) fn age(then: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(then).as_secs();
    if seconds < -1 {
        return "<invalid>".to_owned();
    }
    let seconds = seconds.max(0);
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    let two = |whole: i64, unit: &str, rest: i64, small: &str| {
        if rest == 0 { format!("{whole}{unit}") } else { format!("{whole}{unit}{rest}{small}") }
    };
    if seconds < 120 {
        format!("{seconds}s")
    } else if minutes < 10 {
        two(minutes, "m", seconds % 60, "s")
    } else if minutes < 180 {
        format!("{minutes}m")
    } else if hours < 8 {
        two(hours, "h", minutes % 60, "m")
    } else if hours < 48 {
        format!("{hours}h")
    } else if hours < 192 {
        two(days, "d", hours % 24, "h")
    } else if days < 730 {
        format!("{days}d")
    } else if days < 2920 {
        two(days / 365, "y", days % 365, "d")
    } else {
        format!("{}y", days / 365)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_short() {
        for (seconds, text) in [
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (150, "2m30s"),
            (3600, "60m"),
            (4 * 3600 + 60, "4h1m"),
            (86_400, "24h"),
            (3 * 86_400, "3d"),
            (400 * 86_400, "400d"),
        ] {
            let now = Timestamp::from_second(seconds).unwrap();
            assert_eq!(age(Timestamp::UNIX_EPOCH, now), text);
        }
    }
}

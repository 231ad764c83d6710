//! Durations of flags.

use std::time::Duration;

/// Parses `90s`, `30m`, `24h` or `7d`.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a duration such as 30s, 90m, 24h or 7d");
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => return Err(wrong()),
    };
    let number: u64 = text[..text.len() - 1].parse().map_err(|_| wrong())?;
    number.checked_mul(seconds).filter(|all| *all > 0).map(Duration::from_secs).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::parse_duration;

    #[test]
    fn durations_have_a_unit() {
        for (text, seconds) in [("30s", 30), ("2m", 120), ("24h", 86_400), ("7d", 604_800)] {
            assert_eq!(parse_duration(text), Ok(Duration::from_secs(seconds)));
        }
        for text in ["", "30", "s", "0s", "-1s", "1.5h", "1w", "99999999999999999999s", "é"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}

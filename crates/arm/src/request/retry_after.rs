//! The pause that Azure requests before a retry.

use std::time::Duration;

use http::HeaderMap;
use jiff::Timestamp;

/// Reads `retry-after-ms`, `x-ms-retry-after-ms`, or `retry-after` in seconds or as a date.
pub(crate) fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    for name in ["retry-after-ms", "x-ms-retry-after-ms"] {
        if let Some(millis) = text(name).and_then(|value| value.parse().ok()) {
            return Some(Duration::from_millis(millis));
        }
    }
    let value = text("retry-after")?;
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let then = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(value).ok()?;
    // A date in the past means immediately.
    Some(Duration::try_from(then.duration_since(now)).unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_are_parsed() {
        let now: Timestamp = "2026-11-15T05:00:00Z".parse().unwrap();
        for (headers, expected) in [
            (vec![("retry-after", "17")], Some(17_000)),
            (vec![("retry-after", " 0 ")], Some(0)),
            (vec![("retry-after", "Sun, 15 Nov 2026 05:00:09 GMT")], Some(9_000)),
            (vec![("retry-after", "Sun, 15 Nov 2026 04:59:09 GMT")], Some(0)),
            (vec![("retry-after", "17"), ("retry-after-ms", "250")], Some(250)),
            (vec![("x-ms-retry-after-ms", "1250")], Some(1_250)),
            (vec![("retry-after-ms", "soon"), ("retry-after", "3")], Some(3_000)),
            (vec![("retry-after", "soon")], None),
            (vec![("retry-after", "-1")], None),
            (vec![], None),
        ] {
            let mut map = HeaderMap::new();
            for (name, value) in &headers {
                map.insert(*name, value.parse().unwrap());
            }
            assert_eq!(retry_after(&map, now), expected.map(Duration::from_millis), "{headers:?}");
        }
    }
}

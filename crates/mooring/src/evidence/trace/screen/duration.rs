//! Durations in short.

/// Returns `1.2s`, `41s`, `1m14s` or `1h03m`.
pub(super) fn short(seconds: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "durations of a node are small")]
    let whole = seconds.round() as i64;
    match whole {
        ..10 => format!("{seconds:.1}s").replace(".0s", "s"),
        10..60 => format!("{whole}s"),
        60..3600 => format!("{}m{:02}s", whole / 60, whole % 60),
        _ => format!("{}h{:02}m", whole / 3600, whole / 60 % 60),
    }
}

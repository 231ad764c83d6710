//! How much faster than in Azure things happen, as an argument.

/// Reads a speed.
pub(crate) fn speed(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(speed) if speed.is_finite() && speed > 0.0 => Ok(speed),
        _ => Err("a speed is a number above 0, such as 1 or 60".to_owned()),
    }
}

//! Parser of `--speed`.

pub(crate) fn parse_speed(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(speed) if speed.is_finite() && speed > 0.0 => Ok(speed),
        _ => Err("must be a number above 0, such as 1 or 60".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::parse_speed;

    #[test]
    fn speed_is_a_finite_number_above_zero() {
        assert_eq!([parse_speed("60"), parse_speed("0.5")], [Ok(60.0), Ok(0.5)]);
        for text in ["0", "-1", "nan", "inf", "fast", ""] {
            assert!(parse_speed(text).is_err_and(|error| error.contains("above 0")), "{text}");
        }
    }
}

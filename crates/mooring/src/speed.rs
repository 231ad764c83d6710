//! How much faster than in Azure things happen, as an argument.

pub(crate) fn speed(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(speed) if speed.is_finite() && speed > 0.0 => Ok(speed),
        _ => Err("a speed is a number above 0, such as 1 or 60".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::speed;

    #[test]
    fn speed_is_a_finite_number_above_zero() {
        assert_eq!([speed("60"), speed("0.5")], [Ok(60.0), Ok(0.5)]);
        for text in ["0", "-1", "nan", "inf", "fast", ""] {
            assert!(speed(text).is_err_and(|error| error.contains("above 0")), "{text}");
        }
    }
}

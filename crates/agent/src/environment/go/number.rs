//! Numbers as the upstream Go agent prints them.

/// Formats a double like Go's `%g`: the shortest text that parses as the same number, in
/// scientific form below 10⁻⁴ and from 10⁶ on.
pub(in crate::environment) fn double(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let split = scientific.split_once('e');
    match split.and_then(|(digits, exponent)| Some((digits, exponent.parse::<i32>().ok()?))) {
        Some((digits, exponent)) if !(-4..6).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
        }
        _ => value.to_string(),
    }
}

/// Thousandths of a CPU as a percentage of one, with one decimal: 2008 is `200.8%`.
pub(in crate::environment) fn percent_of_cpu(milli_cores: i32) -> String {
    format!("{:.1}%", f64::from(milli_cores) / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_print_as_in_go() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (10.0, "10"),
            (1.5, "1.5"),
            (-2.25, "-2.25"),
            (100_000.0, "100000"),
            (999_999.5, "999999.5"),
            (1_000_000.0, "1e+06"),
            (-1_000_000.0, "-1e+06"),
            (123_456_789.0, "1.23456789e+08"),
            (1e21, "1e+21"),
            (1.5e300, "1.5e+300"),
            (0.1 + 0.2, "0.30000000000000004"),
            (0.000_123_45, "0.00012345"),
            (0.0001, "0.0001"),
            (0.000_01, "1e-05"),
            (0.000_099_999, "9.9999e-05"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "+Inf"),
            (f64::NEG_INFINITY, "-Inf"),
        ] {
            assert_eq!(double(value), text);
        }
    }

    #[test]
    fn cpu_limits_have_one_decimal() {
        for (milli_cores, text) in [
            (2008, "200.8%"),
            (1, "0.1%"),
            (10, "1.0%"),
            (-5, "-0.5%"),
            (i32::MAX, "214748364.7%"),
            (i32::MIN, "-214748364.8%"),
        ] {
            assert_eq!(percent_of_cpu(milli_cores), text);
        }
    }
}

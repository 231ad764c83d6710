//! Dates of node images.

use mooring_codes::{Date, ImageDateError, image_date};
use proptest::prelude::*;

#[test]
fn an_image_version_names_its_day_in_every_form() {
    for text in [
        "202601.27.0",
        "AKSAzureLinux-V3gen2-202601.27.0",
        "AKSUbuntu-2204gen2containerd-202601.27.12",
        "/galleries/AKSUbuntu/images/2204gen2/versions/202601.27.0",
        "AKSUbuntu-1804-2026.01.27",
        " 2026-01-27\n",
    ] {
        assert_eq!(image_date(text).unwrap().to_string(), "2026-01-27", "{text}");
    }
    assert!(image_date("202601.27.0").unwrap() < image_date("202602.01.0").unwrap());
}

#[test]
fn day_missing_from_calendar_is_rejected() {
    for text in
        ["2026-02-29", "202602.30.0", "2026-13-01", "2026-00-10", "2026-04-31", "0000-01-01"]
    {
        assert_eq!(image_date(text), Err(ImageDateError::NoSuchDay(text.to_owned())));
    }
    assert!(image_date("2028-02-29").is_ok() && image_date("2000-02-29").is_ok());
    assert!(image_date("2100-02-29").is_err());
    assert_eq!(
        Date::new(2026, 12, 31).map(|d| (d.year(), d.month(), d.day())),
        Some((2026, 12, 31))
    );
}

#[test]
fn invalid_date_error_lists_forms_and_is_printable() {
    for text in [
        "",
        "today",
        "202601.27",
        "202601.27.",
        "202601.27.x",
        "202601.7.0",
        "2026-1-27",
        "26-01-27",
        "+026-01-27",
        "2026-01-27T00:00:00Z",
        "x202601.27.0",
        "1202601.27.0",
        "17763.4010.230216",
        "202601.27.0.1",
        "٢٠٢٦-01-27",
    ] {
        assert!(matches!(image_date(text), Err(ImageDateError::NotAnImageDate(_))), "{text}");
    }
    let evil = format!("\u{1b}[2J\n{}", "9".repeat(10_000));
    let message = image_date(&evil).unwrap_err().to_string();
    assert!(message.len() < 500, "{}", message.len());
    assert!(
        !message.contains('\u{1b}') && message.contains("\\u{1b}") && message.contains("bytes)")
    );
    assert!(message.contains("202601.27.0") && message.contains("2026-01-27"));
}

proptest! {
    #[test]
    fn image_date_never_panics(text in "\\PC{0,40}") {
        let _ = image_date(&text);
    }

    #[test]
    fn calendar_days_are_parsed(y in 1u16..=9999, m in 0u8..14, d in 0u8..33) {
        let text = format!("{y:04}-{m:02}-{d:02}");
        prop_assert_eq!(image_date(&text).ok(), Date::new(y, m, d));
        prop_assert!(image_date(&text).map_or(true, |date| date.to_string() == text));
    }
}

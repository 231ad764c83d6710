//! The day of a node image version.

use mooring_redact::identifier;

use crate::Date;

/// The reason why a text is not a day.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImageDateError {
    /// The text has none of the accepted forms.
    #[error("`{0}` is neither an image version nor a date\n{FORMS}")]
    NotAnImageDate(String),
    /// The form is right, but the calendar has no such day.
    #[error("`{0}` names a day that the calendar does not have\n{FORMS}")]
    NoSuchDay(String),
}

const FORMS: &str = "hint: give a version such as `202601.27.0`, an image name that ends in one \
    (`AKSAzureLinux-V3gen2-202601.27.0`; old names end in `2021.01.28`), or a date `2026-01-27`";

/// Returns the day of an image version (`202601.27.0`, alone or at the end of an image's name or resource
/// id; old images wrote `2021.01.28`) or of a date (`2026-01-27`).
pub fn image_date(text: &str) -> Result<Date, ImageDateError> {
    let text = text.trim();
    let Some((year, month, day)) = iso(text).or_else(|| version(text)) else {
        return Err(ImageDateError::NotAnImageDate(identifier(text)));
    };
    Date::new(year, month, day).ok_or_else(|| ImageDateError::NoSuchDay(identifier(text)))
}

type Parts = (u16, u8, u8);

fn iso(text: &str) -> Option<Parts> {
    let mut parts = text.splitn(3, '-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    Some((fixed(year, 4)?, small(month)?, small(day)?))
}

/// The version is the last word of the text; `-`, `/`, `_`, `:` and blanks end a word.
fn version(text: &str) -> Option<Parts> {
    let word = text.rsplit(['-', '/', '_', ':', ' ']).next()?;
    let mut parts = word.splitn(3, '.');
    let (first, second, third) = (parts.next()?, parts.next()?, parts.next()?);
    if first.len() == 4 {
        return Some((fixed(first, 4)?, small(second)?, small(third)?));
    }
    let (year, month) = first.split_at_checked(4)?;
    let patch_is_a_number = !third.is_empty() && third.bytes().all(|b| b.is_ascii_digit());
    patch_is_a_number.then_some((fixed(year, 4)?, small(month)?, small(second)?))
}

fn small(text: &str) -> Option<u8> {
    fixed(text, 2)?.try_into().ok()
}

/// Exactly `len` digits; `parse` alone would also take a sign.
fn fixed(text: &str, len: usize) -> Option<u16> {
    let digits = text.len() == len && text.bytes().all(|b| b.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

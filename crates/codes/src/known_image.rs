//! Node images that are known to be broken.

use crate::date::{Date, date};

/// A node image that is known to be broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownImage {
    /// Family and version.
    pub name: &'static str,
    pub day: Date,
    /// Codes with which its nodes fail.
    pub codes: &'static [i32],
    pub fault: &'static str,
}

const KNOWN: &[KnownImage] = &[KnownImage {
    name: "AzureLinux V3 202601.27.0",
    day: date(2026, 1, 27),
    codes: &[211, 232],
    fault: "was published without oras. On it the code means that the binary is missing; neither the network nor the \
            registry is at fault. Other images of that date are not known to be affected.",
}];

/// Finds the broken image that explains a code, by the day of the node's image.
pub fn known_image(code: i32, day: Option<Date>) -> Option<&'static KnownImage> {
    KNOWN.iter().find(|image| Some(image.day) == day && image.codes.contains(&code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_images_match_by_day_and_code() {
        let day = |text| crate::image_date(text).ok();
        assert!(known_image(211, day("202601.27.0")).is_some());
        assert!(known_image(232, day("AKSAzureLinux-V3gen2-202601.27.0")).is_some());
        assert!(known_image(211, day("202601.13.0")).is_none());
        assert!(known_image(50, day("202601.27.0")).is_none());
        assert!(known_image(211, None).is_none());
    }
}

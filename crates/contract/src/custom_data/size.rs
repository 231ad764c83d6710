//! Azure's size limit for custom data.

use super::format::CustomDataForm;

/// Azure's limit in bytes, before base64.
pub const MAX_RAW_BYTES: usize = 65_535;

/// The same limit in base64: 65,535 / 3 * 4, without padding.
pub const MAX_BASE64_CHARS: usize = 87_380;

/// Returns the length of `bytes` bytes in padded base64.
pub(super) const fn base64_len(bytes: usize) -> usize {
    bytes.div_ceil(3).saturating_mul(4)
}

/// The document exceeds Azure's limit. The error does not contain its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "{format} custom data would be {} bytes ({} in base64), {} more than Azure's limit of \
     {MAX_RAW_BYTES} ({MAX_BASE64_CHARS} in base64)\nhint: {}",
    self.raw_bytes(), self.base64_chars(), self.excess(), self.hint()
)]
pub struct TooLarge {
    format: CustomDataForm,
    /// Size of the node config, before it is encoded.
    config: usize,
    /// Size of the commands that write the feature toggles.
    features: usize,
    /// Size of the text around the encoded config, including toggles.
    frame: usize,
}

impl TooLarge {
    /// A stable identifier for labels and conditions.
    pub const REASON: &'static str = "CustomDataTooLarge";

    pub const fn raw_bytes(&self) -> usize {
        self.frame.saturating_add(base64_len(self.config))
    }

    pub const fn base64_chars(&self) -> usize {
        base64_len(self.raw_bytes())
    }

    /// Returns the number of bytes above [`MAX_RAW_BYTES`].
    pub const fn excess(&self) -> usize {
        self.raw_bytes().saturating_sub(MAX_RAW_BYTES)
    }

    /// Returns the size of the largest node config that fits; `None` if even an empty one does not fit.
    pub fn largest_config_that_fits(&self) -> Option<usize> {
        // Four characters of base64 hold three bytes.
        MAX_RAW_BYTES.checked_sub(self.frame).map(|room| room / 4 * 3)
    }

    pub fn hint(&self) -> String {
        let Self { config, features, .. } = *self;
        let encoded = base64_len(config);
        match self.largest_config_that_fits() {
            Some(fits) if encoded >= features => format!(
                "the node config is the largest part ({config} bytes, {encoded} in base64); reduce \
                 it to {fits} bytes, for example by omitting certificates or files that the image can \
                 contain"
            ),
            Some(_) => format!(
                "the feature toggles are the largest part ({features} bytes); remove at \
                 least {} bytes of them",
                self.excess()
            ),
            None => format!(
                "the feature toggles alone ({features} bytes) leave no space for the node config \
                 ({config} bytes); remove most of them"
            ),
        }
    }
}

/// Rejects a document that Azure would reject.
pub(super) fn check(
    format: CustomDataForm,
    config: usize,
    features: usize,
    frame: usize,
) -> Result<(), TooLarge> {
    let measured = TooLarge { format, config, features, frame };
    if measured.excess() > 0 { Err(measured) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::{MAX_BASE64_CHARS, MAX_RAW_BYTES, base64_len, check};
    use crate::custom_data::CustomDataForm;

    #[test]
    fn both_limits_are_the_same_limit() {
        assert_eq!(base64_len(MAX_RAW_BYTES), MAX_BASE64_CHARS);
        assert!(base64_len(MAX_RAW_BYTES + 1) > MAX_BASE64_CHARS);
    }

    #[test]
    fn the_last_byte_decides() {
        assert_eq!(check(CustomDataForm::Ignition, 3, 0, MAX_RAW_BYTES - 4), Ok(()));
        let refused = check(CustomDataForm::Ignition, 3, 0, MAX_RAW_BYTES - 3).unwrap_err();
        assert_eq!((refused.raw_bytes(), refused.excess()), (65_536, 1));
    }

    #[test]
    fn sizes_beyond_every_memory_are_refused_and_not_wrapped_around() {
        let refused = check(CustomDataForm::Ignition, usize::MAX, 0, usize::MAX).unwrap_err();
        assert_eq!(refused.raw_bytes(), usize::MAX);
    }

    #[test]
    fn the_hint_is_true_following_it_makes_the_document_fit() {
        for frame in [300, 1_701, 1_702, 1_703, 30_000] {
            let refused = check(CustomDataForm::Boothook, 60_000, 0, frame).unwrap_err();
            let fits = refused.largest_config_that_fits().unwrap();
            assert!(refused.hint().contains(&format!("reduce it to {fits} bytes")));
            assert_eq!(check(CustomDataForm::Boothook, fits, 0, frame), Ok(()));
            assert!(check(CustomDataForm::Boothook, fits + 1, 0, frame).is_err());
        }
    }

    #[test]
    fn the_part_that_is_largest_is_the_one_named() {
        let hint = |config, features| {
            check(CustomDataForm::Boothook, config, features, features + 1_700).unwrap_err().hint()
        };
        assert!(hint(60_000, 0).starts_with("the node config is the largest part (60000 bytes"));
        assert!(hint(9_000, 60_000).starts_with("the feature toggles are the largest part (60000"));
        assert!(hint(90_000, 70_000).starts_with("the feature toggles alone (70000 bytes) leave"));
    }
}

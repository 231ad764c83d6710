//! The finished document, which cannot be printed, and Azure's size limit.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mooring_redact::Secret;

use crate::NodeConfig;
use crate::custom_data::documents::{self, Boundary, CSE_COMMAND};
use crate::custom_data::features::{CustomDataForm, DroppedFeature, Features};

/// Custom data for one VM. It holds the node config and so its secrets: `Debug` masks it, and there is no `Display`.
///
/// ```compile_fail
/// # use mooring_contract::custom_data::CustomData;
/// fn leak(data: &CustomData) -> String {
///     data.to_string()
/// }
/// ```
#[derive(Debug)]
pub struct CustomData {
    format: CustomDataForm,
    document: Secret,
    dropped: Vec<DroppedFeature>,
}

impl CustomData {
    /// Renders `config_json`, the serialized node config, in `format`.
    ///
    /// The config is opaque here and arrives on the node byte by byte as given. Only
    /// [`CustomDataForm::Boothook`] uses the boundary and delivers features; see [`CustomData::dropped`].
    pub fn render(
        format: CustomDataForm,
        config_json: &[u8],
        features: &Features,
        boundary: &Boundary,
    ) -> Result<Self, TooLarge> {
        let write_features =
            if format.carries_features() { features.commands() } else { String::new() };
        let frame = match format {
            CustomDataForm::Boothook => {
                documents::multipart(&documents::boothook(&write_features), boundary)
            }
            CustomDataForm::CloudConfig => documents::cloud_config(),
            CustomDataForm::Ignition => documents::ignition(),
        };
        check(format, config_json.len(), write_features.len(), frame.len())?;

        let mut document = frame.before;
        document.reserve_exact(base64_len(config_json.len()) + frame.after.len());
        STANDARD.encode_string(config_json, &mut document);
        document.push_str(&frame.after);
        Ok(Self { format, document: document.into(), dropped: features.dropped_by(format) })
    }

    pub const fn format(&self) -> CustomDataForm {
        self.format
    }

    /// Returns the size that Azure limits to [`MAX_RAW_BYTES`](super::MAX_RAW_BYTES).
    pub fn raw_bytes(&self) -> usize {
        self.document.expose().len()
    }

    /// Returns the toggles that this document does not deliver, sorted by key, each with the reason.
    pub fn dropped(&self) -> &[DroppedFeature] {
        &self.dropped
    }

    /// Returns the document as the node receives it, **including secrets**.
    pub fn expose_raw(&self) -> &[u8] {
        self.document.expose().as_bytes()
    }

    /// Returns the value of Azure's `customData` field, **including secrets**.
    pub fn expose_base64(&self) -> String {
        STANDARD.encode(self.document.expose())
    }
}

/// What a VM or a scale set needs to boot nodes: `customData` of its OS profile, and `commandToExecute` in the protected
/// settings of its Custom Script Extension. `examples/scale_set.rs` builds the model of a scale set with both.
///
/// ```
/// use mooring_contract::custom_data::{Boundary, CustomDataForm, NodeBootstrap};
/// use mooring_contract::node_config;
///
/// let config = node_config::parse(br#"{"version": "v1", "vm_size": "Standard_D4s_v5"}"#)?.config;
/// let boundary = Boundary::from_random([7; 30]); // drawn by the caller
/// let bootstrap = NodeBootstrap::of(&config, CustomDataForm::Boothook, &boundary)?;
///
/// assert!(!bootstrap.custom_data.expose_base64().is_empty());
/// assert_eq!(bootstrap.cse_command, "/opt/azure/containers/aks-node-controller provision-wait");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct NodeBootstrap {
    pub custom_data: CustomData,
    pub cse_command: &'static str,
}

impl NodeBootstrap {
    /// Renders both, with the feature toggles of the config. The config is not checked:
    /// [`validate`](crate::node_config::validate) does that.
    pub fn of(
        config: &NodeConfig,
        form: CustomDataForm,
        boundary: &Boundary,
    ) -> Result<Self, TooLarge> {
        let features = Features::from(config.enabled_features.clone());
        let json = config.to_json_with_secrets();
        let custom_data = CustomData::render(form, json.as_bytes(), &features, boundary)?;
        Ok(Self { custom_data, cse_command: CSE_COMMAND })
    }
}

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
    use super::*;

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

//! The finished document, which cannot be printed.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mooring_redact::Secret;

use super::boundary::Boundary;
use super::features::{DroppedFeature, Features};
use super::format::CustomDataForm;
use super::size::{TooLarge, base64_len};
use super::{boothook, cloud_config, ignition, multipart, size};

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
                multipart::wrap(&boothook::script(&write_features), boundary)
            }
            CustomDataForm::CloudConfig => cloud_config::document(),
            CustomDataForm::Ignition => ignition::document(),
        };
        size::check(format, config_json.len(), write_features.len(), frame.len())?;

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

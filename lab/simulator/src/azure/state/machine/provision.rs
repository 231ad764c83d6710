//! Provisioning modes of Karpenter: the extensions of a VM, and the form of its node image.

use serde::Deserialize;
use serde_json::{Value, json};

const DEFINITION: &str = "V3gen2";
const SUBSCRIPTION: &str = "109a5e88-712a-48ae-9078-9ca8b3c81345";

/// Karpenter's setting `PROVISION_MODE`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub enum ProvisionMode {
    /// The VM bootstraps by its custom data; no extension reports the result.
    #[default]
    #[serde(rename = "aksscriptless")]
    Scriptless,
    /// Karpenter creates VMs and then the bootstrap extension `cse-agent-karpenter`.
    #[serde(rename = "bootstrappingclient")]
    Vm,
    /// AKS creates VMs as Machines of the pool `aksmanagedap`, with a separate extension.
    #[serde(rename = "aksmachineapi")]
    Machine,
}

impl ProvisionMode {
    /// Returns the name of the extension that runs the bootstrap, if any.
    pub(crate) fn extension(self) -> Option<&'static str> {
        match self {
            Self::Scriptless => None,
            Self::Vm => Some("cse-agent-karpenter"),
            Self::Machine => Some("vmssCSE"),
        }
    }
}

/// A node image: `202601.13.0` of the usual image definition, or `2204gen2containerd/202601.13.0`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NodeImage<'a> {
    definition: &'a str,
    version: &'a str,
}

impl<'a> NodeImage<'a> {
    pub(crate) fn parse(image: &'a str) -> Self {
        let (definition, version) = image.rsplit_once('/').unwrap_or((DEFINITION, image));
        Self { definition, version }
    }

    fn gallery(&self) -> (&'static str, &'static str) {
        if self.definition.contains("containerd") {
            ("AKSUbuntu", "38d80f77-467a-481f-a8d4-09b6d4220bd2")
        } else {
            ("AKSAzureLinux", "f7c7cda5-1c9a-4bdc-a222-9614c968580b")
        }
    }

    /// Returns the id in the gallery that only AKS's own subscriptions can read.
    pub(crate) fn gallery_id(&self) -> String {
        let Self { definition, version } = self;
        let (gallery, _) = self.gallery();
        let group = gallery.replace("AKS", "AKS-");
        format!(
            "/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}/providers/Microsoft.Compute/galleries/{gallery}/images/{definition}/versions/{version}"
        )
    }

    fn community_id(&self) -> String {
        let Self { definition, version } = self;
        let (gallery, suffix) = self.gallery();
        format!("/CommunityGalleries/{gallery}-{suffix}/images/{definition}/versions/{version}")
    }

    /// Returns the AKS name: `AKSUbuntu-2204gen2containerd-202601.13.0`.
    fn machine_name(&self) -> String {
        format!("{}-{}-{}", self.gallery().0, self.definition, self.version)
    }

    pub(crate) fn reference(&self, mode: ProvisionMode) -> Value {
        match mode {
            ProvisionMode::Scriptless => json!({"communityGalleryImageId": self.community_id()}),
            ProvisionMode::Vm | ProvisionMode::Machine => json!({"id": self.gallery_id()}),
        }
    }

    /// Returns the image in the form of a `NodeClaim`'s status.
    pub(crate) fn claimed(&self, mode: ProvisionMode) -> String {
        match mode {
            ProvisionMode::Scriptless => self.community_id(),
            ProvisionMode::Vm => self.gallery_id(),
            ProvisionMode::Machine => self.machine_name(),
        }
    }
}

/// Returns the id of the node image in a VM's body.
pub(crate) fn image_of(machine: &Value) -> &str {
    let reference = machine.pointer("/properties/storageProfile/imageReference");
    let id = |name| reference.and_then(|reference| reference.get(name)).and_then(Value::as_str);
    id("id").or_else(|| id("communityGalleryImageId")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mode_names_the_same_image_in_its_own_way() {
        let image = NodeImage::parse("2204gen2containerd/202601.13.0");
        assert_eq!(
            [ProvisionMode::Scriptless, ProvisionMode::Vm, ProvisionMode::Machine]
                .map(|mode| image.claimed(mode)),
            [
                "/CommunityGalleries/AKSUbuntu-38d80f77-467a-481f-a8d4-09b6d4220bd2/images/2204gen2containerd/versions/202601.13.0",
                "/subscriptions/109a5e88-712a-48ae-9078-9ca8b3c81345/resourceGroups/AKS-Ubuntu/providers/Microsoft.Compute/galleries/AKSUbuntu/images/2204gen2containerd/versions/202601.13.0",
                "AKSUbuntu-2204gen2containerd-202601.13.0",
            ]
        );
        assert_eq!(
            NodeImage::parse("202601.13.0").machine_name(),
            "AKSAzureLinux-V3gen2-202601.13.0"
        );
    }

    #[test]
    fn the_default_mode_is_that_of_a_karpenter_without_settings() {
        assert_eq!(ProvisionMode::default(), ProvisionMode::Scriptless);
        let mode = |name: &str| serde_json::from_value::<ProvisionMode>(json!(name)).unwrap();
        assert_eq!(
            (mode("bootstrappingclient"), mode("aksmachineapi")),
            (ProvisionMode::Vm, ProvisionMode::Machine)
        );
    }
}

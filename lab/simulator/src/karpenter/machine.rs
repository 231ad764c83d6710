//! Creation of a NodeClaim's VM, by mode.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::claim::objects::MACHINE;
use super::state::Karpenter;
use crate::azure::{Azure, Cse, NewVm, NodeImage, ProvisionMode};
use crate::kubernetes::store::objects::text;

/// Pool of the Machines that AKS creates for Karpenter.
const POOL: &str = "aksmanagedap";
/// Annotation of a NodeClaim that requests a node image; the default is Karpenter's usual one.
const IMAGE: &str = "karpenter.azure.com/simulated-image-version";

pub(super) struct Launched {
    pub(super) id: String,
    /// Image in the form of the NodeClaim.
    pub(super) image: String,
    /// Annotations of the NodeClaim about the creation of its VM.
    pub(super) annotations: Option<Value>,
    /// Created by this launch; a VM that existed before has no poller.
    pub(super) is_new: bool,
}

impl Karpenter {
    pub(super) fn launch_machine(
        &mut self,
        claim: &Value,
        azure: &mut Azure,
        now: Timestamp,
    ) -> Launched {
        let name = text(claim, &["metadata", "name"]);
        let vm_name = match self.options.mode {
            ProvisionMode::Machine => format!("aks-{POOL}-{name}-12345678-vm"),
            ProvisionMode::Vm | ProvisionMode::Scriptless => format!("aks-{name}"),
        };
        let id = format!("{}/{vm_name}", azure.options().compute("virtualMachines"));
        let image_version = match text(claim, &["metadata", "annotations", IMAGE]) {
            "" => self.options.image_version.clone(),
            image => image.to_owned(),
        };
        let image = NodeImage::parse(&image_version).claimed(self.options.mode);
        if azure.resource(&id).is_some() {
            return Launched { id, image, annotations: None, is_new: false };
        }
        let cse = self.fate_of(name, &image_version);
        let zone = text(claim, &["metadata", "labels", "topology.kubernetes.io/zone"]);
        let id = azure.create_vm(&NewVm {
            claim: Some(name.to_owned()),
            node_pool: text(claim, &["metadata", "labels", "karpenter.sh/nodepool"]).to_owned(),
            size: self.options.size.clone(),
            zone: zone.rsplit('-').next().filter(|zone| !zone.is_empty()).unwrap_or("1").to_owned(),
            mode: self.options.mode,
            promised: true,
            ..NewVm::booting(&vm_name, &image_version, cse, now)
        });
        let annotations = (self.options.mode == ProvisionMode::Machine).then(|| {
            let machine = azure.put_machine(POOL, name, &id, now);
            json!({MACHINE: machine})
        });
        Launched { id, image, annotations, is_new: true }
    }

    fn fate_of(&self, claim: &str, image: &str) -> Cse {
        let version = image.rsplit('/').next().unwrap_or_default();
        let by_image = self.options.bootstraps.get(image);
        let by_image = by_image.or_else(|| self.options.bootstraps.get(version));
        let cse = self.cse_by_claim.get(claim).or(by_image);
        cse.cloned().unwrap_or_default()
    }
}

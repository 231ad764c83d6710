//! How a claim gets its machine, by mode.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::objects::MACHINE;
use super::{Karpenter, Mode};
use crate::azure::{Azure, Cse, Image, NewVm};
use crate::kubernetes::store::objects::text;

/// The pool in which AKS keeps the machines that it makes for Karpenter.
const POOL: &str = "aksmanagedap";
/// The annotation by which a claim asks for a node image; without it, the image is Karpenter's usual one.
const IMAGE: &str = "karpenter.azure.com/simulated-image-version";

/// A machine that has been asked for.
pub(super) struct Launched {
    /// Its id in Azure.
    pub(super) id: String,
    /// Its image, as the claim names it.
    pub(super) image: String,
    /// Annotations by which the claim remembers how it was made.
    pub(super) annotations: Option<Value>,
    /// Whether it is new; an older one is nobody's promise.
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
            Mode::Machine => format!("aks-{POOL}-{name}-12345678-vm"),
            Mode::Vm | Mode::Scriptless => format!("aks-{name}"),
        };
        let id = format!("{}/{vm_name}", azure.options().compute("virtualMachines"));
        let image_version = match text(claim, &["metadata", "annotations", IMAGE]) {
            "" => self.options.image_version.clone(),
            image => image.to_owned(),
        };
        let image = Image::parse(&image_version).claimed(self.options.mode);
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
        let annotations = (self.options.mode == Mode::Machine).then(|| {
            let machine = azure.put_machine(POOL, name, &id, now);
            json!({MACHINE: machine})
        });
        Launched { id, image, annotations, is_new: true }
    }

    fn fate_of(&self, claim: &str, image: &str) -> Cse {
        let version = image.rsplit('/').next().unwrap_or_default();
        let by_image = self.options.bootstraps.get(image);
        let by_image = by_image.or_else(|| self.options.bootstraps.get(version));
        let fate = self.fates.get(claim).or(by_image);
        fate.cloned().unwrap_or_default()
    }
}

//! How a claim gets its machine, by mode.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::objects::MACHINE;
use super::{Karpenter, Mode};
use crate::azure::{Azure, Cse, NewVm};
use crate::kubernetes::objects::text;

/// The pool in which AKS keeps the machines that it makes for Karpenter.
const POOL: &str = "aksmachines";
/// The annotation by which a claim asks for a node image; without it, the image is Karpenter's usual one.
const IMAGE: &str = "karpenter.azure.com/simulated-image-version";

/// A machine that has been asked for.
pub(super) struct Launched {
    /// Its id in Azure.
    pub(super) id: String,
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
        if azure.resource(&id).is_some() {
            return Launched { id, annotations: None, is_new: false };
        }
        let image_version = match text(claim, &["metadata", "annotations", IMAGE]) {
            "" => self.options.image_version.clone(),
            image => image.to_owned(),
        };
        let cse = self.fate_of(name, &image_version);
        let zone = text(claim, &["metadata", "labels", "topology.kubernetes.io/zone"]);
        let id = azure.create_vm(&NewVm {
            claim: Some(name.to_owned()),
            node_pool: text(claim, &["metadata", "labels", "karpenter.sh/nodepool"]).to_owned(),
            size: self.options.size.clone(),
            zone: zone.rsplit('-').next().filter(|zone| !zone.is_empty()).unwrap_or("1").to_owned(),
            extension: match self.options.mode {
                Mode::Vm => Some("cse-agent-karpenter"),
                Mode::Machine => Some("vmssCSE"),
                Mode::Scriptless => None,
            },
            ..NewVm::booting(&vm_name, &image_version, cse, now)
        });
        let annotations = (self.options.mode == Mode::Machine).then(|| {
            let machine = azure.put_machine(POOL, name, &id, now);
            json!({MACHINE: machine})
        });
        Launched { id, annotations, is_new: true }
    }

    fn fate_of(&self, claim: &str, image_version: &str) -> Cse {
        let fate = self.fates.get(claim).or_else(|| self.options.bootstraps.get(image_version));
        fate.cloned().unwrap_or_default()
    }
}

/// What AKS says of a bootstrap that failed: code and message, in its own words.
pub(super) fn aks_error(message: &str) -> (&'static str, String) {
    let code = message.split("exit status=").nth(1).unwrap_or_default();
    let code: String = code.chars().take_while(char::is_ascii_digit).collect();
    let text = format!(
        "CSE failed with exit status {code} on the machine's extension. For details see https://aka.ms/aks/node-bootstrap-errors."
    );
    ("VMExtensionProvisioningError", text)
}

/// The machine of AKS behind which a VM stands hears how that went.
pub(super) fn end_machine(azure: &mut Azure, vm: &str, failure: Option<&str>) -> Option<String> {
    let machine = azure.machine_for(POOL, vm)?;
    let error = failure.map(aks_error);
    azure.end_machine(&machine, error.as_ref().map(|(code, text)| (*code, text.as_str())));
    Some(machine)
}

/// The machine of AKS is gone with its VM.
pub(super) fn remove_machine(azure: &mut Azure, vm: &str) {
    if let Some(machine) = azure.machine_for(POOL, vm) {
        azure.remove_machine_of_pool(&machine);
    }
}

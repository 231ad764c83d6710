//! Launches of machines for NodeClaims.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::claim::disruption;
use super::claim::objects::{self, FINALIZER};
use super::client::{self, went_well};
use super::event;
use super::options::LaunchFailure;
use super::state::{ClaimStep, Karpenter};
use super::steps::AGAIN;
use crate::azure::{Azure, lower_group};
use crate::kubernetes::Kubernetes;
use crate::kubernetes::store::objects::finalizers;

/// Seconds until a launch that Azure rejected is retried.
const RETRY: u64 = 30;

impl Karpenter {
    /// Creates the VM of a NodeClaim and writes its status.
    pub(super) fn launch(
        &mut self,
        name: &str,
        object: &Value,
        azure: &mut Azure,
        kubernetes: &mut Kubernetes,
        now: Timestamp,
    ) {
        let path = client::path_of(name);
        if let Some(failure) = self.options.launch_failure {
            return self.fail_launch(name, object, failure, kubernetes, now);
        }
        let launched = self.launch_machine(object, azure, now);
        let provider_id = lower_group(&format!("azure://{}", launched.id));
        let status = objects::status(&provider_id, &json!(launched.image), &self.options.size);
        self.change(name, |claim| {
            claim.machine = Some(launched.id.clone());
            claim.awaited |= launched.is_new;
            claim.conditions.launched(now);
        });
        let mut metadata = json!({});
        if let Some(annotations) = launched.annotations {
            metadata["annotations"] = annotations;
        }
        if !finalizers(object).any(|one| one == FINALIZER) {
            let mut all: Vec<&str> = finalizers(object).collect();
            all.push(FINALIZER);
            metadata["finalizers"] = json!(all);
        }
        let labelled = metadata == json!({})
            || went_well(client::patch(kubernetes, &path, &json!({"metadata": metadata}), now));
        if !labelled || !self.write_status(name, status, kubernetes, now) {
            self.plan(name, ClaimStep::Launch, AGAIN, now);
        }
        self.plan(name, ClaimStep::CheckDisruption, disruption::FIRST, now);
    }

    fn fail_launch(
        &mut self,
        name: &str,
        object: &Value,
        failure: LaunchFailure,
        kubernetes: &mut Kubernetes,
        now: Timestamp,
    ) {
        match failure {
            LaunchFailure::NoCapacity => {
                let report = event::no_capacity(object, now);
                client::create(kubernetes, event::EVENTS, &report, now);
            }
            LaunchFailure::NodeClassNotReady => {}
            LaunchFailure::Refused => {
                let why = "creating instance failed, RequestDisallowedByPolicy: Resource was disallowed by policy.";
                self.change(name, |claim| claim.conditions.launch_failed("LaunchFailed", why, now));
                self.write_status(name, json!({}), kubernetes, now);
                return self.plan(name, ClaimStep::Launch, RETRY, now);
            }
        }
        self.plan(name, ClaimStep::DeleteClaim, 0, now);
    }
}

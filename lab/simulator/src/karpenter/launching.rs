//! Launches of machines for NodeClaims.

use serde_json::{Value, json};

use super::claim::disruption;
use super::claim::objects::{self, FINALIZER};
use super::client::{Client, path_of, went_well};
use super::event;
use super::options::LaunchFailure;
use super::state::{ClaimStep, Karpenter};
use super::steps::AGAIN;
use crate::azure::lower_group;
use crate::kubernetes::store::objects::finalizers;

/// Seconds until a launch that Azure rejected is retried.
const RETRY: u64 = 30;

impl Karpenter {
    /// Creates the VM of a NodeClaim and writes its status.
    pub(super) fn launch(&mut self, name: &str, object: &Value, client: &mut Client<'_>) {
        let now = client.now;
        if let Some(failure) = self.options.launch_failure {
            return self.fail_launch(name, object, failure, client);
        }
        let launched = self.launch_machine(object, client.azure, now);
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
            || went_well(client.patch(&path_of(name), &json!({"metadata": metadata})));
        if !labelled || !self.write_status(name, status, client) {
            self.plan(name, ClaimStep::Launch, AGAIN, now);
        }
        self.plan(name, ClaimStep::CheckDisruption, disruption::FIRST, now);
    }

    fn fail_launch(
        &mut self,
        name: &str,
        object: &Value,
        failure: LaunchFailure,
        client: &mut Client<'_>,
    ) {
        let now = client.now;
        match failure {
            LaunchFailure::NoCapacity => {
                client.create(event::EVENTS, &event::no_capacity(object, now));
            }
            LaunchFailure::NodeClassNotReady => {}
            LaunchFailure::Refused => {
                let why = "creating instance failed, RequestDisallowedByPolicy: Resource was disallowed by policy.";
                self.change(name, |claim| claim.conditions.launch_failed("LaunchFailed", why, now));
                self.write_status(name, json!({}), client);
                return self.plan(name, ClaimStep::Launch, RETRY, now);
            }
        }
        self.plan(name, ClaimStep::DeleteClaim, 0, now);
    }
}

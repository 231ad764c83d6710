//! Eviction: a deletion that PDBs can block.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::exchange::Response;
use crate::kubernetes::api::negotiate::{ResourceRequest, success};
use crate::kubernetes::api::state::{ApiResult, ApiServer, StatusError, WriteContext};
use crate::kubernetes::api::write::delete::DeleteOptions;
use crate::kubernetes::store::fits_label_selector;
use crate::kubernetes::store::objects::{self, number};

const BUDGETS: &str = "poddisruptionbudgets.policy";

impl ApiServer {
    pub(crate) fn evict(&mut self, call: &ResourceRequest<'_>) -> ApiResult<Response> {
        call.check_method(&Method::POST)?;
        let body = call.body()?;
        let pod = self.find(call)?.value.clone();
        let options = DeleteOptions::from_body(&body["deleteOptions"]);
        let mut writer = call.writer("evict");
        writer.dry_run |= options.dry_run;
        writer.subresource = "eviction";
        if !is_beyond_budgets(&pod) {
            self.ask_budgets(&pod, &writer)?;
        }
        self.delete_object(call.resource(), &call.key(), &options, &writer)?;
        Ok(success(StatusCode::CREATED))
    }

    /// Takes one disruption from the pod's PDB, or returns the reason if none is allowed.
    fn ask_budgets(&mut self, pod: &Value, writer: &WriteContext) -> ApiResult<()> {
        let namespace = objects::namespace(pod);
        let budgets: Vec<&Value> = self
            .objects(BUDGETS, Some(namespace))
            .filter(|budget| fits_label_selector(objects::at(budget, &["spec", "selector"]), pod))
            .collect();
        let Some(budget) = budgets.first() else { return Ok(()) };
        if budgets.len() > 1 {
            return Err(StatusError::new(
                500,
                "",
                "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
            ));
        }
        let mut budget = (*budget).clone();
        let name = objects::name(&budget).to_owned();
        let observed = number(&budget, &["status", "observedGeneration"]).unwrap_or(0);
        if observed < number(&budget, &["metadata", "generation"]).unwrap_or(0) {
            let message =
                format!("The disruption budget {name} is still being processed by the server.");
            return Err(refusal(&message, Some(10)));
        }
        let allowed = number(&budget, &["status", "disruptionsAllowed"]).unwrap_or(0);
        if allowed <= 0 {
            let count = |member| number(&budget, &["status", member]).unwrap_or(0);
            let (wanted, healthy) = (count("desiredHealthy"), count("currentHealthy"));
            let message = if healthy <= wanted {
                format!(
                    "The disruption budget {name} needs {wanted} healthy pods and has {healthy} currently"
                )
            } else {
                format!("The disruption budget {name} does not allow evicting pods currently")
            };
            return Err(refusal(&message, None));
        }
        if !writer.dry_run {
            objects::set(&mut budget, &["status", "disruptionsAllowed"], allowed - 1);
            objects::set(
                &mut budget,
                &["status", "disruptedPods", objects::name(pod)],
                objects::time(writer.now),
            );
            self.put(BUDGETS, budget, writer);
        }
        Ok(())
    }
}

/// Pods that have ended or not started disrupt nothing; terminating pods are already counted.
fn is_beyond_budgets(pod: &Value) -> bool {
    objects::is_being_deleted(pod)
        || matches!(objects::text(pod, &["status", "phase"]), "Succeeded" | "Failed" | "Pending")
}

fn refusal(cause: &str, retry_after: Option<u64>) -> StatusError {
    let mut details = json!({"causes": [{"reason": "DisruptionBudget", "message": cause}]});
    if let Some(seconds) = retry_after {
        details["retryAfterSeconds"] = seconds.into();
    }
    StatusError::new(
        429,
        "TooManyRequests",
        "Cannot evict pod as it would violate the pod's disruption budget.",
    )
    .with_details(details)
}

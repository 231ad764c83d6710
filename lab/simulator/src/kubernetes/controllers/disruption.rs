//! `PodDisruptionBudgets`: the number of allowed disruptions.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::Value;

use crate::kubernetes::api::state::{ApiServer, ChangeQueue};
use crate::kubernetes::controllers::workloads::is_ready;
use crate::kubernetes::store::fits_label_selector;
use crate::kubernetes::store::objects::{self, Key, at, number};

const BUDGETS: &str = "poddisruptionbudgets.policy";

/// Recounts PDBs in the namespaces with relevant writes.
pub(crate) fn settle_budgets(api: &mut ApiServer, work: &ChangeQueue, now: Timestamp) {
    let namespaces: BTreeSet<&str> = [BUDGETS, "pods", "replicasets.apps", "statefulsets.apps"]
        .into_iter()
        .flat_map(|table| work.of(table))
        .map(|key| key.namespace.as_str())
        .collect();
    let budgets: Vec<Value> = namespaces
        .into_iter()
        .flat_map(|namespace| api.objects(BUDGETS, Some(namespace)))
        .cloned()
        .collect();
    for budget in budgets {
        let pods: Vec<&Value> = api
            .objects("pods", Some(objects::namespace(&budget)))
            .filter(|pod| fits_label_selector(at(&budget, &["spec", "selector"]), pod))
            .collect();
        let healthy = i64::try_from(pods.iter().filter(|pod| is_ready(pod)).count()).unwrap_or(0);
        let expected = expected_pods(api, &pods);
        let desired = desired_healthy(&budget, expected);
        let counts = [
            ("observedGeneration", number(&budget, &["metadata", "generation"]).unwrap_or(0)),
            ("currentHealthy", healthy),
            ("desiredHealthy", desired),
            ("expectedPods", expected),
            ("disruptionsAllowed", (healthy - desired).max(0)),
        ];
        api.amend(BUDGETS, &budget, now, |value| {
            for (name, count) in counts {
                objects::set(value, &["status", name], count);
            }
            objects::remove(value, &["status", "disruptedPods"]);
        });
    }
}

/// Returns the expected number of pods: by their controllers; pods without one count as one each.
fn expected_pods(api: &ApiServer, pods: &[&Value]) -> i64 {
    let mut controllers = BTreeSet::new();
    let mut alone = 0;
    for pod in pods {
        let owner = objects::list(pod, &["metadata", "ownerReferences"])
            .iter()
            .find(|owner| objects::flag(owner, &["controller"]));
        let scale = owner.and_then(|owner| {
            let table = match objects::text(owner, &["kind"]) {
                "ReplicaSet" => "replicasets.apps",
                "StatefulSet" => "statefulsets.apps",
                _ => return None,
            };
            let key = Key::new(Some(objects::namespace(pod)), objects::text(owner, &["name"]));
            let replicas = number(api.get(table, &key)?, &["spec", "replicas"])?;
            Some((objects::text(owner, &["uid"]), replicas))
        });
        match scale {
            Some(scale) => {
                controllers.insert(scale);
            }
            None => alone += 1,
        }
    }
    alone + controllers.iter().map(|(_, replicas)| replicas).sum::<i64>()
}

fn desired_healthy(budget: &Value, expected: i64) -> i64 {
    if let Some(least) = at(budget, &["spec", "minAvailable"]) {
        return amount(least, expected);
    }
    match at(budget, &["spec", "maxUnavailable"]) {
        Some(most) => (expected - amount(most, expected)).max(0),
        None => expected,
    }
}

/// Returns a number, or a percentage rounded up.
fn amount(value: &Value, of: i64) -> i64 {
    match value
        .as_str()
        .and_then(|text| text.strip_suffix('%'))
        .and_then(|text| text.parse::<i64>().ok())
    {
        Some(percent) => (of * percent + 99) / 100,
        None => value.as_i64().unwrap_or(0),
    }
}

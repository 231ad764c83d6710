//! The check `tolerations`: pods of a System pool can run while its temporary pool has a taint that the pool lacks.

use super::TOLERATIONS;
use super::capacity::Planning;
use crate::observation::{ClusterView, Pod, Pool};
use crate::pool::pool_body::CRITICAL_TAINT;
use mooring_workflow::plural::counted;
use mooring_workflow::{CheckResult, Outcome, Reading};

/// Returns none for pools that have the taint: their pods tolerate the temporary pool.
pub(super) fn tolerations(plan: &Planning<'_>) -> Option<CheckResult> {
    check(plan.view, plan.pool)
}

fn check(view: &ClusterView, pool: &Pool) -> Option<CheckResult> {
    let taints = pool.raw["properties"]["nodeTaints"].as_array();
    if !pool.is_system() || taints.is_some_and(|taints| taints.iter().any(|t| t == CRITICAL_TAINT))
    {
        return None;
    }
    let (outcome, detail) = find_nodes(view, &pool.name);
    Some(CheckResult::new(TOLERATIONS, outcome, detail))
}

fn find_nodes(view: &ClusterView, pool: &str) -> (Outcome, String) {
    let readings =
        (view.nodes.get().and_then(Reading::known), view.pods.get().and_then(Reading::known));
    let (Some(nodes), Some(pods)) = readings else {
        return (Outcome::Unknown, "nodes or pods were not read".to_owned());
    };
    let (own, others): (Vec<_>, Vec<_>) =
        nodes.iter().partition(|node| node.pool.as_deref() == Some(pool));
    let here = |pod: &&Pod| own.iter().any(|node| pod.node.as_deref() == Some(node.name.as_str()));
    let intolerant = |pod: &&Pod| pod.movable() && !pod.tolerates_critical;
    let moved = pods.iter().filter(intolerant).filter(here).count();
    let open = others.iter().filter(|node| node.usable() && !node.tainted).count();
    let outcome = if moved > 0 && open == 0 { Outcome::Fail } else { Outcome::Pass };
    let detail = match moved {
        0 => "every pod of the pool tolerates CriticalAddonsOnly".to_owned(),
        _ => format!(
            "{} of the pool without a toleration for CriticalAddonsOnly, {} without taints in other pools",
            counted(moved, "pod"),
            counted(open, "Ready, schedulable node")
        ),
    };
    (outcome, detail)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::observation::Node;

    fn node(pool: &str, taints: &Value) -> Node {
        Node::read(&json!({
            "metadata": {"name": pool, "labels": {"agentpool": pool}}, "spec": {"taints": taints},
            "status": {"conditions": [{"type": "Ready", "status": "True"}]},
        }))
        .unwrap()
    }

    #[test]
    fn pods_without_the_toleration_need_another_node() {
        let critical =
            json!([{"key": "CriticalAddonsOnly", "value": "true", "effect": "NoSchedule"}]);
        let tolerant = json!([{"key": "CriticalAddonsOnly", "operator": "Exists"}]);
        let everything = json!([{"operator": "Exists"}]);
        let nothing = json!([]);
        for (tolerations, other, outcome) in [
            (&tolerant, Some(&critical), Outcome::Pass),
            (&everything, None, Outcome::Pass),
            (&nothing, Some(&nothing), Outcome::Pass),
            (&nothing, Some(&critical), Outcome::Fail),
            (&nothing, None, Outcome::Fail),
        ] {
            let pod = json!({"metadata": {"namespace": "n", "name": "p"},
                "spec": {"nodeName": "system", "tolerations": tolerations}});
            let mut nodes = vec![node("system", &nothing)];
            nodes.extend(other.map(|taints| node("user", taints)));
            let view = ClusterView {
                nodes: Reading::Known(nodes).into(),
                pods: Reading::Known(vec![Pod::read(&pod).unwrap()]).into(),
                ..ClusterView::default()
            };
            let (found, detail) = find_nodes(&view, "system");
            assert_eq!(found, outcome, "{tolerations} {other:?}");
            let tolerates = *tolerations != nothing;
            assert_eq!(
                detail.starts_with("every pod of the pool tolerates"),
                tolerates,
                "{detail}"
            );
            assert_eq!(detail.starts_with("1 pod of the pool without"), !tolerates, "{detail}");
        }
        assert_eq!(find_nodes(&ClusterView::default(), "system").0, Outcome::Unknown);
    }

    #[test]
    fn system_pool_with_the_taint_is_not_checked() {
        for (properties, checked) in [
            (json!({"mode": "System"}), true),
            (json!({"mode": "System", "nodeTaints": ["a=b:NoSchedule"]}), true),
            (json!({"mode": "System", "nodeTaints": [CRITICAL_TAINT]}), false),
            (json!({"mode": "User"}), false),
        ] {
            let pool = Pool::read(&json!({"name": "p", "properties": properties})).unwrap();
            assert_eq!(check(&ClusterView::default(), &pool).is_some(), checked, "{properties}");
        }
    }
}

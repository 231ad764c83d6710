//! What the Kubernetes API answers and does, in the words of the repair.

use http::Method;
use jiff::SignedDuration;
use serde_json::{Value, json};

use super::kube_api::{Answer, KubeApi, Lost};
use crate::effects::EffectResult;
use crate::observation::{Node, Pdb, Pod, Reading};

impl KubeApi {
    pub(crate) async fn nodes(&self) -> Reading<Vec<Node>> {
        self.list("/api/v1/nodes", Node::read_list).await
    }

    pub(crate) async fn pods(&self) -> Reading<Vec<Pod>> {
        self.list("/api/v1/pods", Pod::read_list).await
    }

    pub(crate) async fn pdbs(&self) -> Reading<Vec<Pdb>> {
        let list = |version: &str| {
            let path = format!("/apis/policy/{version}/poddisruptionbudgets");
            async move { self.list(&path, Pdb::read_list).await }
        };
        match list("v1").await {
            // Older servers have the same list under another name.
            Reading::NotFound => list("v1beta1").await,
            found => found,
        }
    }

    /// Cordons or uncordons. The identity in the patch makes the server refuse it for another node.
    pub(crate) async fn set_unschedulable(
        &self,
        node: &str,
        uid: &str,
        unschedulable: bool,
    ) -> EffectResult {
        let mut patch = json!({"spec": {"unschedulable": unschedulable}});
        if !uid.is_empty() {
            patch["metadata"] = json!({ "uid": uid });
        }
        let path = format!("/api/v1/nodes/{node}");
        judged(self.send(Method::PATCH, &path, Some(&patch)).await)
    }

    /// Asks for a pod to leave. The request is our own: the server must not guess its version.
    pub(crate) async fn evict(&self, namespace: &str, pod: &str, uid: &str) -> EffectResult {
        let path = format!("/api/v1/namespaces/{namespace}/pods/{pod}/eviction");
        let mut answer = None;
        for version in ["policy/v1", "policy/v1beta1"] {
            let body = eviction(version, namespace, pod, uid);
            let sent = self.send(Method::POST, &path, Some(&body)).await;
            let unknown = matches!(&sent, Ok(answer) if is_unknown_version(answer));
            answer = Some(sent);
            if !unknown {
                break;
            }
        }
        let answer = answer.unwrap_or_else(|| Err(Lost(String::new())));
        gone_is_done(judged(answer))
    }

    /// Deletes a pod in spite of its budgets.
    pub(crate) async fn delete_pod(&self, namespace: &str, pod: &str, uid: &str) -> EffectResult {
        let path = format!("/api/v1/namespaces/{namespace}/pods/{pod}");
        let body = json!({
            "apiVersion": "v1", "kind": "DeleteOptions", "preconditions": preconditions(uid),
        });
        gone_is_done(judged(self.send(Method::DELETE, &path, Some(&body)).await))
    }
}

fn eviction(version: &str, namespace: &str, pod: &str, uid: &str) -> Value {
    json!({
        "apiVersion": version, "kind": "Eviction",
        "metadata": {"name": pod, "namespace": namespace},
        "deleteOptions": {"preconditions": preconditions(uid)},
    })
}

/// Only this very pod: one of the same name may be another one by now.
fn preconditions(uid: &str) -> Value {
    if uid.is_empty() { json!(null) } else { json!({ "uid": uid }) }
}

/// True if the server does not know this version of an eviction.
fn is_unknown_version(answer: &Answer) -> bool {
    answer.status == 400 && answer.refusal().1.contains("no kind \"Eviction\" is registered")
}

fn judged(answer: Result<Answer, Lost>) -> EffectResult {
    match answer {
        Ok(answer) if answer.is_success() => EffectResult::Done,
        Ok(answer) => {
            let (code, message) = answer.refusal();
            let retry_after = answer.retry_after.map(SignedDuration::from_secs);
            EffectResult::Refused { status: answer.status, code, message, retry_after }
        }
        Err(Lost(why)) => EffectResult::Unknown { why },
    }
}

/// A pod that is not there has left.
fn gone_is_done(result: EffectResult) -> EffectResult {
    match result {
        EffectResult::Refused { status: 404, .. } => EffectResult::AlreadyDone,
        other => other,
    }
}
